import Diagnostics
import FileSystem
import Foundation
import JobSpec
import LibAV
import Locking
import Publishing
import Streaming
import TestSupport
import Testing

@testable import JobPlan
@testable import Media
@testable import PlanWork

/// Records of outputs by value.
final class FakeRecords: OutputRecords {
    let isForced: Bool
    private let owned: Set<String>
    /// Relations of existing outputs, by the task's name; `other` for all others.
    private let relations: [String: (digest: PlanDigest?, relation: PlanDigest.Relation)]
    private let log = Guarded<[String]>([])

    /// Calls that change the records.
    var recorded: [String] { log.withLock { $0 } }

    init(
        isForced: Bool = false, owned: Set<String> = [],
        relations: [String: (digest: PlanDigest?, relation: PlanDigest.Relation)] = [:]
    ) {
        (self.isForced, self.owned, self.relations) = (isForced, owned, relations)
    }

    private func record(_ call: String) { log.withLock { $0.append(call) } }
    func relation(of task: OutputTask) -> (digest: PlanDigest?, relation: PlanDigest.Relation) {
        relations[task.name] ?? (nil, .other)
    }
    func seconds(of task: OutputTask) -> Double? { nil }
    func owns(_ path: String, for file: String) -> Bool { owned.contains(path) }
    func reusableRenditions(of task: OutputTask) -> [String: StreamingRendition] { [:] }
    func adopt(_ task: OutputTask) { record("adopted \(task.name)") }
    func recordIntent(_ task: OutputTask, output: String, digest: PlanDigest?) {
        record("intent \(task.name)")
    }
    func succeeded(_ task: OutputTask, digest: PlanDigest, seconds: Double) {
        record("succeeded \(task.name)" + (digest.value.skippedDamage ? " with damage" : ""))
    }
    func succeeded(whole task: OutputTask) { record("whole \(task.name)") }
    func published(_ renditions: [StreamingRendition], of task: OutputTask, output: String) {
        record("renditions \(renditions.map(\.id))")
    }
    func expectationsMet(_ task: OutputTask, _ digest: PlanDigest) { record("met \(task.name)") }
    func declinedOutput(of plan: JobPlan) -> String? { nil }
    func declined(_ task: OutputTask, digest: PlanDigest, size: Int64) { record("declined \(task.name)") }
    func passed(_ task: OutputTask, digest: PlanDigest, seconds: Double) { record("passed \(task.name)") }
    func failed(check task: OutputTask) { record("failed \(task.name)") }
}

/// The publisher of an output, in a scratch folder.
@Suite struct OutputPublisherTests {
    private let scratch: Scratch
    private let snippet: JobSnippet

    init() throws {
        scratch = try Scratch()
        snippet = try JobSnippet(rule: "{ video: first, copy: true }")
    }

    private func task(
        to name: String, _ ifExists: IfExists = .fail, kind: OutputKind = .media(MediaPlan()),
        id: String? = nil
    ) -> OutputTask {
        var output = OutputPlan.media([.planned(.video())], of: snippet)
        (output.destination, output.ifExists, output.kind) = (scratch.file(name), ifExists, kind)
        output.id = id
        return OutputTask(
            job: "one", file: scratch.file("jobs.yaml"),
            input: InputPlan(job: snippet.job, ResolvedInput(.file, .file(.video())), PlannedExtent()),
            output: output)
    }

    private func publisher(
        to name: String, _ ifExists: IfExists = .fail, kind: OutputKind = .media(MediaPlan()),
        sources: [String] = [], records: FakeRecords? = nil, marksOutputs: Bool = true
    ) throws -> OutputPublisher {
        try #require(
            OutputPublisher(
                task: task(to: name, ifExists, kind: kind),
                sources: Set(
                    sources.compactMap { FileIdentity(path: scratch.file($0)).map { SourceFileKey($0) } }),
                records: records, marksOutputs: marksOutputs))
    }

    /// Returns a temporary file with some bytes.
    private func file(_ bytes: String, for name: String) throws -> TemporaryFile {
        let file = try TemporaryFile(destination: scratch.file(name), in: .anywhere)
        try Array(bytes.utf8).withUnsafeBytes { try file.write($0, at: 0) }
        return file
    }

    private func written(_ task: OutputTask, _ file: TemporaryFile, _ findings: OutputFindings) -> WrittenFile
    {
        WrittenFile(task: task, file: file, findings: findings)
    }

    /// Publishes a file with some bytes. Returns whether it was published, not kept.
    @discardableResult
    private func publish(_ bytes: String, by publisher: OutputPublisher, to name: String) throws -> Bool {
        var publisher = publisher
        let file = try file(bytes, for: name)
        try publisher.prepare(file, [])
        return try publisher.publish(file, keepsReplaced: false)
    }

    private func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: scratch.file(name)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the decision about an existing file: `replaces`, `new`, `skipped`, or the rule and the message, in which
    /// the scratch folder is `/s`.
    private func decision(_ publisher: OutputPublisher) -> String {
        do {
            return try publisher.replacesExisting() ? "replaces" : "new"
        } catch let skipped as SkippedOutput {
            return "skipped: \(skipped.reason)"
        } catch let failure as JobFailure {
            #expect(failure.location == publisher.task.output.destinationLocation)
            return "\(failure.rule?.rawValue ?? "-"): \(failure.message.replacing(scratch.path, with: "/s"))"
        } catch {
            return "\(error)"
        }
    }

    private var package: OutputKind {
        .package(
            PackagePlan(
                formats: [.hls], files: .many, container: .mp4, segment: s(4), variants: [],
                hasKeyframePlaylists: false,
                renditions: [], location: snippet.job.id.range))
    }

    @Test func check_hasNoPublisher() throws {
        var task = task(to: "o.mp4")
        task.output.destination = nil
        #expect(OutputPublisher(task: task, sources: [], records: nil) == nil)
    }

    // MARK: Existing files

    @Test(arguments: [
        (
            IfExists.fail,
            "destination-exists: the destination exists, and Tandem did not publish it: /s/o.mp4"
        ),
        (.replace, "replaces"), (.skip, "skipped: the destination exists"),
    ])
    func file_withoutMark_isReplacedOnRequest(_ ifExists: IfExists, _ expected: String) throws {
        #expect(try decision(publisher(to: "o.mp4", ifExists)) == "new")
        try scratch.write("other", to: "o.mp4")
        #expect(try decision(publisher(to: "o.mp4", ifExists)) == expected)
        // The state contains files on file systems without marks.
        let records = FakeRecords(owned: [scratch.file("o.mp4")])
        #expect(try decision(publisher(to: "o.mp4", ifExists, records: records)) == "replaces")
    }

    @Test(arguments: [IfExists.fail, .replace, .skip])
    func source_isNeverReplaced(_ ifExists: IfExists) throws {
        try scratch.write("source", to: "a.mp4")
        try FileManager.default.linkItem(atPath: scratch.file("a.mp4"), toPath: scratch.file("o.mp4"))
        let records = FakeRecords(owned: [scratch.file("o.mp4")])
        #expect(
            try decision(publisher(to: "o.mp4", ifExists, sources: ["a.mp4"], records: records))
                == "destination-is-source: the destination is also a source, which is never overwritten: /s/o.mp4"
        )
    }

    @Test(arguments: [IfExists.fail, .replace, .skip])
    func otherKind_isNeverReplaced(_ ifExists: IfExists) throws {
        try scratch.write("x", to: "o.mp4/x")
        try scratch.write("x", to: "p")
        #expect(
            try decision(publisher(to: "o.mp4", ifExists))
                == "destination-exists: the destination is not a regular file: /s/o.mp4")
        #expect(
            try decision(publisher(to: "p", ifExists, kind: package))
                == "destination-exists: the destination is not a folder: /s/p")
    }

    @Test func folder_withoutMark_isNeverReplaced() throws {
        try scratch.write("x", to: "p/x")
        try FileManager.default.createDirectory(
            atPath: scratch.file("empty"), withIntermediateDirectories: true)
        #expect(try decision(publisher(to: "empty", kind: package)) == "new")
        #expect(
            try decision(publisher(to: "p", .replace, kind: package))
                == "destination-exists: the folder exists, and Tandem did not publish it: /s/p")
        #expect(try decision(publisher(to: "p", .skip, kind: package)).hasPrefix("skipped"))
    }

    /// A published file is replaced by its own job file only, and only while it is unchanged.
    @Test func publishedFile_isReplacedByItsOwner() throws {
        #expect(try publish("one", by: publisher(to: "o.mp4"), to: "o.mp4"))
        #expect(try decision(publisher(to: "o.mp4")) == "replaces")
        var other = task(to: "o.mp4")
        other.file = scratch.file("x/other.yaml")
        let foreign = try #require(OutputPublisher(task: other, sources: [], records: nil))
        #expect(
            decision(foreign)
                == "destination-exists: the destination was published for another job file: /s/o.mp4")
        // An edit keeps the attribute, but not the fingerprint.
        let handle = try #require(FileHandle(forWritingAtPath: scratch.file("o.mp4")))
        try handle.write(contentsOf: Data("edited".utf8))
        try handle.close()
        #expect(
            try decision(publisher(to: "o.mp4"))
                == "destination-exists: the destination was changed since Tandem published it: /s/o.mp4")
    }

    // MARK: Publishing

    @Test func publish_replacesOnlyWhatItMay() throws {
        #expect(try publish("one", by: publisher(to: "o.mp4"), to: "o.mp4") && text("o.mp4") == "one")
        #expect(try publish("two", by: publisher(to: "o.mp4"), to: "o.mp4") && text("o.mp4") == "two")
        try scratch.write("other", to: "x.mp4")
        #expect(throws: JobFailure.self) { try publish("one", by: publisher(to: "x.mp4"), to: "x.mp4") }
        #expect(throws: SkippedOutput.self) {
            try publish("one", by: publisher(to: "x.mp4", .skip), to: "x.mp4")
        }
        #expect(text("x.mp4") == "other")
        #expect(scratch.contents == ["o.mp4", "x.mp4"])
    }

    /// An output that the same plan has just created is kept, whichever job file created it, unless all outputs count as
    /// out of date.
    @Test func publish_keepsTheSameOutput() throws {
        let digest = try PlanDigest(task(to: "o.mp4"))
        var first = try publisher(to: "o.mp4")
        first.digest = digest
        try publish("one", by: first, to: "o.mp4")
        for (isForced, isPublished) in [(false, false), (true, true)] {
            var other = task(to: "o.mp4")
            other.file = isForced ? other.file : scratch.file("x/other.yaml")
            var second = try #require(
                OutputPublisher(task: other, sources: [], records: FakeRecords(isForced: isForced)))
            second.digest = digest
            #expect(second.isUpToDate != isForced)
            #expect(try publish("two", by: second, to: "o.mp4") == isPublished)
            #expect(text("o.mp4") == (isPublished ? "two" : "one"))
        }
        // Without records, or with another plan, nothing is up to date.
        #expect(!first.isUpToDate)
        var changed = task(to: "o.mp4")
        changed.output.container = "mov"
        var third = try #require(OutputPublisher(task: changed, sources: [], records: FakeRecords()))
        #expect(!third.isUpToDate)
        third.digest = try PlanDigest(changed)
        #expect(!third.isUpToDate)
    }

    /// The mark contains the digest; damage that was skipped is part of it.
    @Test func prepare_marksTheFile() throws {
        var publisher = try publisher(to: "o.mp4")
        publisher.digest = try PlanDigest(task(to: "o.mp4"))
        try publish("one", by: publisher, to: "o.mp4")
        let mark = try #require(DestinationPath.mark(at: scratch.file("o.mp4")))
        #expect(mark.job == "one" && mark.digest == publisher.digest?.value.text)
        #expect(
            mark.owner
                == DestinationPath.Mark.owner(scratch.file("jobs.yaml"), at: scratch.file("o.mp4")))
        let damaged = TrackReport(samples: 1, end: s(1), damage: DamageTally.Count(skipped: 1))
        let file = try file("two", for: "o.mp4")
        var task = publisher.task
        task.input.damagePolicy = .skip
        try publisher.prepare(file, [written(task, file, OutputFindings(tracks: [damaged]))])
        #expect(publisher.digest?.value.skippedDamage == true)
        #expect(try publisher.publish(file, keepsReplaced: false))
        #expect(DestinationPath.mark(at: scratch.file("o.mp4"))?.digest?.contains("~") == true)
        try publish("three", by: self.publisher(to: "plain.mp4", marksOutputs: false), to: "plain.mp4")
        #expect(DestinationPath.mark(at: scratch.file("plain.mp4")) == nil)
    }

    @Test func success_isRecordedWithItsDigest() throws {
        let records = FakeRecords()
        var publisher = try publisher(to: "o.mp4", records: records)
        let file = try file("one", for: "o.mp4")
        publisher.recordSuccess(file, seconds: 1)
        #expect(records.recorded == [])
        publisher.digest = try PlanDigest(task(to: "o.mp4")).afterDamage
        publisher.recordSuccess(file, seconds: 1)
        #expect(records.recorded == ["succeeded one with damage"])
    }

    // MARK: Failed outputs

    /// Only the failed output of the same job is replaced.
    @Test func keep_replacesOnlyItsOwnFailure() throws {
        let publisher = try publisher(to: "o.mp4")
        func kept(_ bytes: String) throws -> String {
            publisher.keep(try file(bytes, for: "o.mp4")).replacing(scratch.path, with: "/s")
        }
        #expect(try kept("one") == "; kept as /s/o.failed.mp4" && text("o.failed.mp4") == "one")
        #expect(try kept("two") == "; kept as /s/o.failed.mp4" && text("o.failed.mp4") == "two")
        try FileManager.default.removeItem(atPath: scratch.file("o.failed.mp4"))
        try scratch.write("other", to: "o.failed.mp4")
        #expect(try kept("three") == "; not kept, since /s/o.failed.mp4 is another file")
        #expect(text("o.failed.mp4") == "other" && text("o.mp4") == nil)
        let folder = try self.publisher(to: "p", kind: package)
        var written = folder.task
        (written.output.id, written.output.container) = ("hd", "mp4")
        let name = "p.hd.failed.mp4"
        let rendition = folder.keep(try file("x", for: "p"), of: written)
        #expect(rendition.replacing(scratch.path, with: "/s") == "; kept as /s/\(name)")
        #expect(scratch.contents == ["o.failed.mp4", name] && text(name) == "x")
    }

    /// A failed output that another job reads isn't replaced.
    @Test func keep_doesNotReplaceASource() throws {
        let first = try publisher(to: "o.mp4")
        _ = first.keep(try file("one", for: "o.mp4"))
        let second = try publisher(to: "o.mp4", sources: ["o.failed.mp4"])
        #expect(second.keep(try file("two", for: "o.mp4")).hasSuffix("is another file"))
        #expect(text("o.failed.mp4") == "one")
    }

    // MARK: Folders and files

    @Test func makeFolder_createsMissingFolders() throws {
        var task = task(to: "a/b/o.mp4")
        #expect(throws: JobFailure.self) {
            try #require(OutputPublisher(task: task, sources: [], records: nil)).makeFolder()
        }
        #expect(scratch.contents == [])
        task.output.makesDirectories = true
        try #require(OutputPublisher(task: task, sources: [], records: nil)).makeFolder()
        #expect(scratch.contents == ["a", "a/b"])
        task.output.makesDirectories = false
        try #require(OutputPublisher(task: task, sources: [], records: nil)).makeFolder()
        try scratch.write("x", to: "f")
        task.output.destination = scratch.file("f/g/o.mp4")
        task.output.makesDirectories = true
        #expect(throws: SystemError.self) {
            try #require(OutputPublisher(task: task, sources: [], records: nil)).makeFolder()
        }
    }

    private func stills(_ names: String...) -> OutputKind {
        .images(
            ImagesPlan(
                stills: names.map { .init(time: s(1), sourceTime: s(2), destination: scratch.file($0)) },
                tolerance: ImageTolerance(before: s(1), after: s(1)), duration: s(10),
                location: snippet.job.id.range))
    }

    /// A file is divided into parts that follow one another; a part may repeat the one before.
    @Test(
        arguments: [
            ([(0, 2), (2, 4)], ["ab", "cdef"]), ([(0, 2), (0, 2)], ["ab", "ab"]), ([(0, 2), (3, 3)], nil),
            ([(2, 2), (0, 2)], nil), ([(0, 6)], nil), ([(0, 2), (2, 5)], nil), ([], nil),
            ([(0, 2), (2, 2), (4, 2)], nil), ([(0, 2), (1, 2)], nil),
        ] as [([(Int64, Int64)], [String]?)])
    func parts_mustFollowOneAnother(_ parts: [(Int64, Int64)], _ expected: [String]?) throws {
        let publisher = try publisher(to: "1.png", kind: stills("1.png", "2.png"))
        #expect(publisher.parts.map(\.destination) == ["1.png", "2.png"].map(scratch.file))
        let file = try file("abcdef", for: "1.png")
        let findings = OutputFindings(parts: parts.map { TemporaryFile.Part(offset: $0, length: $1) })
        let items = try? publisher.items(
            of: [written(publisher.task, file, findings)], reusing: [:], in: .anywhere
        ).items
        let texts = try items?.map { publisher, item in
            let part = try #require(item as? TemporaryFile)
            #expect(part.destination == publisher.destination)
            return String(
                decoding: try part.bytes(of: TemporaryFile.Part(offset: 0, length: part.size)),
                as: UTF8.self)
        }
        #expect(texts == expected)
        // The space of the whole file is released once it is divided.
        #expect(file.size == (expected == nil ? 6 : 0))
    }

    @Test func items_requireAFile() throws {
        let publisher = try publisher(to: "o.mp4")
        #expect(throws: (any Error).self) { try publisher.items(of: [], reusing: [:], in: .anywhere) }
        let file = try file("a", for: "o.mp4")
        let items = try publisher.items(
            of: [written(publisher.task, file, OutputFindings())], reusing: [:], in: .anywhere
        ).items
        #expect(items.count == 1 && items[0].item === file)
    }

    /// Times of images are relative to the source; the longest track determines the duration.
    @Test func result_combinesTheFindings() throws {
        let publisher = try publisher(to: "1.png", kind: stills("1.png", "2.png"))
        let file = try file("abc", for: "1.png")
        let reports = [9.0, 8].map { TrackReport(samples: 1, end: s($0), damage: DamageTally.Count()) }
        let findings = OutputFindings(tracks: reports, imageTimes: [s(1.04)], losses: ["a loss"])
        let files = [written(task(to: "1.png", id: "hd"), file, findings)]
        let images = try #require(publisher.output.images).results(of: files)
        let result = publisher.result([file, file], files, .images(images), reusing: [])
        #expect(result.size == 6 && result.duration == s(9) && result.destination == scratch.file("1.png"))
        #expect(result.warnings == ["hd: a loss"])
        #expect(result.images.map(\.requested) == [s(1)] && result.images.map(\.actual) == [s(1.04)])
        #expect(publisher.result([], [], .plain, reusing: []).duration == .zero)
    }
}
