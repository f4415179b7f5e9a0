import Diagnostics
import FileSystem
import Foundation
import JobSpec
import LibAV
import TestSupport
import Testing

@testable import JobPlan
@testable import Media
@testable import PlanWork

/// The check that sources are unchanged since planning, on files in a scratch folder.
@Suite struct SourceCheckTests {
    private func plan(_ sources: [InputPlan.Source]) throws -> JobPlan {
        let snippet = try JobSnippet(rule: "{ video: first, copy: true }")
        let inputs = sources.map {
            InputPlan(job: snippet.job, ResolvedInput($0, .file(.video())), PlannedExtent())
        }
        return JobPlan(
            id: "one", base: "one", needs: [], file: "jobs.yaml", location: snippet.job.id.range,
            inputs: inputs, outputs: [], scheduling: snippet.job.scheduling)
    }

    /// Returns the error's message; nil if the sources are unchanged.
    private func problem(_ sources: InputPlan.Source...) throws -> String? {
        let plan = try plan(sources)
        do {
            try SourceCheck(plan).check(when: "while the job ran")
            return nil
        } catch let failure as JobFailure {
            #expect(failure.rule == .sourceUnreadable && failure.location == plan.location)
            return failure.message
        }
    }

    @Test func file_mustKeepItsIdentity() throws {
        let scratch = try Scratch()
        let path = try scratch.write("one", to: "a.mp4")
        let identity = try #require(FileIdentity(path: path))
        #expect(try problem(.file(path: path, identity: identity)) == nil)
        var changed = identity
        changed.modifiedNanoseconds += 1
        #expect(
            try problem(.file(path: path, identity: identity), .file(path: path, identity: changed))
                == "the source changed while the job ran: \(path)")
        try FileManager.default.removeItem(atPath: path)
        #expect(
            try problem(.file(path: path, identity: identity)) == "the source no longer exists: \(path)")
    }

    /// The worker that reads a remote file checks it. Test signals and outputs of other jobs have no identity.
    @Test func otherSources_areNotChecked() throws {
        #expect(
            try problem(
                .file(path: "https://example.com/a.mp4", identity: FileIdentity(remoteSize: 1)),
                .job(id: "x", path: "/missing.mp4")) == nil)
    }

    /// Every image of a sequence counts.
    @Test func images_mustKeepTheirIdentities() throws {
        let scratch = try Scratch()
        let path = try scratch.write("one", to: "a.png")
        let sequence = ImageSequence(still: path, duration: s(1), frameRate: Rational(25, 1))
        let identity = try #require(sequence.filesIdentity)
        #expect(try problem(.images(sequence, identity: identity)) == nil)
        #expect(
            try problem(.images(sequence, identity: "other"))
                == "an image of the source changed while the job ran: \(path)")
        try FileManager.default.removeItem(atPath: path)
        #expect(
            try problem(.images(sequence, identity: identity))
                == "an image of the source no longer exists: \(path)")
    }

    @Test func composition_mustKeepItsSources() throws {
        let scratch = try Scratch()
        let path = try scratch.write("one", to: "a.mp4")
        var composition = Composition()
        composition.sources = [.file(path)]
        let identities = composition.sources.compactMap(\.identity)
        #expect(identities.count == 1)
        #expect(try problem(.composition(composition, identities: identities)) == nil)
        #expect(
            try problem(.composition(composition, identities: ["other"])).map {
                $0.hasPrefix("a source of the composition changed while the job ran: ")
            } == true)
        try FileManager.default.removeItem(atPath: path)
        #expect(
            try problem(.composition(composition, identities: identities)).map {
                $0.hasPrefix("a source of the composition no longer exists: ")
            } == true)
    }

    @Test func sourceFileKey_ignoresTheContents() throws {
        var identity = FileIdentity(device: 1, inode: 2, size: 3, modified: 4)
        let key = SourceFileKey(identity)
        identity.size = 9
        #expect(SourceFileKey(identity) == key)
        identity.device = 2
        #expect(SourceFileKey(identity) != key)
    }
}
