import Diagnostics
@testable import JobPlan
import TestSupport
import Testing

@testable import JobRun
@testable import PlanWork
@testable import Publishing

/// The files of a run, with which a job that is planned again is compared.
@Suite struct RunDestinationsTests {
    private func plan(_ destinations: [String: String]) throws -> BatchPlan {
        let jobs = destinations.sorted { $0.key < $1.key }.map { id, path in
            "  \(id): { asset: { pattern: smpte, duration: 1s, tone: 1kHz }, tracks: [ { audio: first, encode: { codec: flac } } ], destination: \(path) }"
        }
        let (file, sink) = decode(
            "version: 1\njobs:\n" + jobs.joined(separator: "\n"), directory: "/nowhere")
        return BatchPlanner.plan([try #require(file, "\(sink.diagnostics)")]).plan
    }

    @Test func aNewFileMustNotBeThatOfAnotherJob() throws {
        let plan = try plan(["one": "one.flac", "two": "two.flac"])
        let destinations = RunDestinations(plan)
        let (one, two) = (plan.jobs[0], plan.jobs[1])
        #expect(destinations.conflict(of: one, predicted: one) == nil)
        #expect(destinations.conflict(of: two, predicted: one) == "/nowhere/two.flac")
        let other = try self.plan(["one": "other.flac"]).jobs[0]
        #expect(destinations.conflict(of: other, predicted: one) == nil)
    }

    @Test func filesOfUpToDateJobsAreKnown() throws {
        var plan = try plan(["one": "/one.flac", "two": "two.flac"])
        let one = plan.jobs.removeFirst()
        plan.upToDateJobs = [
            BatchPlan.UpToDateJob(
                id: one.id, base: one.base, file: one.file, outputs: one.outputs.map { BatchPlan.Output($0) })
        ]
        #expect(RunDestinations(plan).conflict(of: one, predicted: plan.jobs[0]) == "/one.flac")
    }

    /// Temporary files of killed runs are removed before a file is written to their folder, but only those of this run's outputs.
    @Test func abandonedFilesOfTheRunAreRemoved() throws {
        let scratch = try Scratch()
        var destinations = RunDestinations(try plan(["one": scratch.path + "/one.flac"]))
        let (own, foreign) = (
            ".one.flac.a1" + TemporaryFile.partSuffix, ".two.flac.a1" + TemporaryFile.partSuffix
        )
        for name in [own, foreign] { _ = try scratch.write("part", to: name) }
        destinations.removeAbandonedFiles(inFolderOf: nil)
        #expect(scratch.contents == [own, foreign])
        destinations.removeAbandonedFiles(inFolderOf: scratch.file("one.flac"))
        #expect(scratch.contents == [foreign])
        // Once per folder: files that appear later are those of running jobs, or of other runs.
        _ = try scratch.write("part", to: own)
        destinations.removeAbandonedFiles(inFolderOf: scratch.file("one.flac"))
        #expect(scratch.contents == [own, foreign])
    }
}
