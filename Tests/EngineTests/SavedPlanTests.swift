import Diagnostics
import Engine
import FileSystem
import Foundation
import JobPlan
import JobRun
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

/// Tests that saved plans are written, and that errors on reading them are reported.
@Suite struct SavedPlanTests {
    private func planned(
        _ scratch: Scratch, duration: String = "0.2"
    ) throws -> (set: JobFileSet, planned: Pipeline.Planned) {
        try ffmpeg("-y", "-f", "lavfi", "-i", "sine=duration=\(duration)", scratch.file("s.wav"))
        let path = try scratch.write(
            """
            version: 1
            vars: { rate: 8000 }
            jobs:
              a: { asset: ./s.wav, tracks: [ { audio: first, encode: { codec: flac, sample_rate: "${rate}" } } ], destination: a.flac }
              b: { asset: ./s.wav, tracks: [ { audio: first, encode: { codec: flac } } ], destination: b.flac }
            """, to: "jobs.yaml")
        let set = JobFileSet(
            files: [path], variables: [:],
            access: SourceAccess(sources: SourceEnvironment(), isUntrusted: false))
        return (set, try set.loaded.checked().opened(by: LocalProber()).planned())
    }

    private func status(_ body: () throws -> Void) -> RunStatus? {
        #expect(throws: EngineError.self, performing: body)?.status
    }

    @Test func savedPlansAreAcceptedUnlessInputsChanged() throws {
        let scratch = try Scratch()
        let (set, plan) = try planned(scratch)
        let path = scratch.file("plan.json")
        #expect(try SavedPlan.write(plan, of: set, variables: [:], to: path, shards: nil).jobs.count == 2)
        let saved = try SavedPlan(reading: path, shard: nil, beneath: .anywhere)
        #expect(saved.folder == nil && saved.file.plan.jobs.map(\.id) == plan.plan.jobs.map(\.id))
        try saved.check(set)
        try saved.check(plan.plan)
        // A changed source changes the plan; a changed job file changes its digest.
        let (_, longer) = try planned(scratch, duration: "0.5")
        #expect(status { try saved.check(longer.plan) } == .invalidSpec)
        try scratch.write("version: 1\n# changed\n", to: "jobs.yaml")
        let changed = JobFileSet(files: set.paths, variables: [:], access: set.access)
        #expect(status { try saved.check(changed) } == .invalidSpec)
    }

    @Test func shardsAreReadByTheirIndex() throws {
        let scratch = try Scratch()
        let (set, plan) = try planned(scratch)
        let path = scratch.file("parts")
        _ = try SavedPlan.write(plan, of: set, variables: [:], to: path, shards: 2)
        let ids = try (0..<2).map { index in
            try SavedPlan(reading: path, shard: index, beneath: .anywhere).file.plan.jobs.map(\.id)
        }
        #expect(ids.flatMap { $0 }.sorted() == ["a", "b"])
        #expect(status { _ = try SavedPlan(reading: path, shard: nil, beneath: .anywhere) } == .usage)
        #expect(status { _ = try SavedPlan(reading: path, shard: 2, beneath: .anywhere) } == .invalidSpec)
        #expect(status { _ = try SavedPlan(reading: path, shard: -1, beneath: .anywhere) } == .usage)
    }

    /// If the manifest of a shared folder changes while a part runs, the part's results are rejected without a trap.
    @Test func resultsOfRemovedShardsAreRejected() throws {
        let scratch = try Scratch()
        let (set, plan) = try planned(scratch)
        for (name, shards) in [("two", 2), ("one", 1)] {
            _ = try SavedPlan.write(
                plan, of: set, variables: [:], to: scratch.file(name), shards: shards)
        }
        let saved = try SavedPlan(reading: scratch.file("two"), shard: 1, beneath: .anywhere)
        let manifest = scratch.file("two/plan.json")
        try FileManager.default.removeItem(atPath: manifest)
        try FileManager.default.copyItem(atPath: scratch.file("one/plan.json"), toPath: manifest)
        let report = RunReport(problems: [], in: [], files: [], begun: 0, seconds: 0, status: .failed)
        let problem = #expect(throws: ShardFolder.Problem.self) {
            try saved.folder?.write(report, previews: [:], ofShard: 1)
        }
        #expect("\(problem!)".contains("has no part 1"))
    }

    @Test func savedPlansDontOverwriteSourcesOutputsOrJobFiles() throws {
        let scratch = try Scratch()
        let (set, plan) = try planned(scratch)
        for name in ["s.wav", "jobs.yaml", "a.flac", "none/plan.json"] {
            let result = status {
                _ = try SavedPlan.write(
                    plan, of: set, variables: [:], to: scratch.file(name), shards: nil)
            }
            #expect(result == .environment, "\(name)")
        }
    }

    @Test(arguments: ["", "{", "null", "{\"kind\": \"tandem-plan\"}"])
    func invalidPlansAreRejected(_ text: String) throws {
        let scratch = try Scratch()
        let path = try scratch.write(text, to: "plan.json")
        #expect(status { _ = try SavedPlan(reading: path, shard: nil, beneath: .anywhere) } == .invalidSpec)
    }
}
