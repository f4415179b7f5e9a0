import Diagnostics
import JobSpec
import TestSupport
import Testing

@testable import JobPlan

/// The order of planning, and what later jobs know of earlier ones.
@Suite struct JobOrderTests {
    /// Returns a job file in which each job reads a file or the output of another job: `b: a` reads the job `a`.
    private func file(_ jobs: [(id: String, reads: String?)]) throws -> JobFile {
        let lines = jobs.map { id, reads in
            "  \(id): { asset: \(reads.map { "{ job: \($0) }" } ?? "x.mp4"), tracks: [ { video: first, copy: true } ], destination: \(id).mp4 }"
        }
        let yaml = (["version: 1", "jobs:"] + lines).joined(separator: "\n") + "\n"
        let (file, sink) = decode(yaml, directory: "/jobs")
        guard let file, !sink.hasErrors else { throw ProgramError(message: rendered(sink, yaml)) }
        return file
    }

    private func ids(_ files: [JobFile]) -> [String] {
        JobOrder(files).entries.map { "\($0.file) \(files[$0.file].jobs[$0.job].id.value)" }
    }

    @Test func jobsFollowThoseThatTheyRead() throws {
        let file = try file([("d", "c"), ("a", nil), ("c", "b"), ("b", "a"), ("e", "a")])
        #expect(ids([file]) == ["0 a", "0 b", "0 c", "0 d", "0 e"])
    }

    /// A file that is listed twice has each of its jobs twice.
    @Test func filesKeepTheirOrder() throws {
        let (first, second) = (try file([("b", "a"), ("a", nil)]), try file([("a", nil)]))
        #expect(ids([first, second, first]) == ["0 a", "0 b", "1 a", "2 a", "2 b"])
        #expect(ids([]) == [])
    }

    /// The walk along dependencies has no limit of depth.
    @Test func longChainsAreOrdered() throws {
        let count = 20_000
        let jobs = (0..<count).map { ("j\($0)", $0 + 1 < count ? "j\($0 + 1)" : nil) }
        let order = JobOrder([try file(jobs)]).entries.map(\.job)
        #expect(order == Array((0..<count).reversed()))
    }

    /// The composition's parts count as well as a single source.
    @Test func compositionsFollowTheirClips() throws {
        let yaml = """
            version: 1
            defaults: { tracks: [ { video: first, encode: { codec: h264 } } ] }
            jobs:
              all: { composition: [ { job: b }, { job: a } ], destination: all.mp4 }
              a: { asset: x.mp4, destination: a.mp4 }
              b: { asset: x.mp4, destination: b.mp4 }

            """
        let (file, sink) = decode(yaml, directory: "/jobs")
        #expect(ids([try #require(file, "\(rendered(sink, yaml))")]) == ["0 b", "0 a", "0 all"])
    }
}

/// The outputs that a job reads, by the fate of the jobs that create them.
@Suite struct PlannedJobsTests {
    private static let yaml = """
        version: 1
        defaults: { tracks: [ { video: first, copy: true } ] }
        jobs:
          planned: { asset: x.mp4, destination: planned.mp4 }
          current: { asset: x.mp4, destination: current.mp4 }
          refused: { asset: x.mp4, destination: refused.mp4 }
          reader: { composition: [ { job: planned }, { job: current }, { job: refused } ], destination: r.mp4 }

        """

    @Test func outputsAreFoundByTheirJobs() throws {
        let snippet = try JobSnippet(rule: "{ video: first, copy: true }")
        let file = try #require(decode(Self.yaml, directory: "/jobs").file)
        let reader = try #require(file.jobs.last)
        var jobs = PlannedJobs()
        var plan = JobPlan(
            id: "planned", base: "planned", needs: [], file: file.path, location: snippet.job.id.range,
            inputs: [], outputs: [], scheduling: snippet.job.scheduling)
        plan.add(
            .media([.planned(.video())], of: snippet),
            from: InputPlan(job: snippet.job, ResolvedInput(.file, .file(.video())), PlannedExtent()))
        jobs.add(plan, at: JobOrder.Entry(file: 0, job: 0))
        let current = BatchPlan.UpToDateJob(
            id: "current", base: "current", file: file.path,
            outputs: [BatchPlan.Output(id: nil, destination: "/jobs/current.mp4")])
        jobs.add(upToDate: current, at: JobOrder.Entry(file: 0, job: 1))
        jobs.add(BatchPlan.Refusal(id: "refused", file: file.path, diagnostics: []))
        let outputs = jobs.outputs(readBy: reader, in: 0)
        guard case .planned(let task)? = outputs["planned", nil] else {
            return #expect(Bool(false), "no plan")
        }
        #expect(task.job == "planned" && task.output.destination == "/o.mp4")
        guard case .published("/jobs/current.mp4")? = outputs["current", nil] else {
            return #expect(Bool(false), "no output")
        }
        #expect(outputs["refused", nil] == nil && outputs["planned", "hd"] == nil)
        // Ids are unique only within a file.
        #expect(jobs.outputs(readBy: reader, in: 1)["planned", nil] == nil)
    }

    /// The first 128 images of each job instance are free.
    @Test func stillImagesHaveABudget() {
        var budget = StillImageBudget()
        let admitted = [128, 128, 500_000 + 128, 128, 129].map { budget.admits($0) }
        #expect(admitted == [true, true, true, true, false])
        var other = StillImageBudget()
        let isAdmitted = other.admits(500_000 + 129)
        #expect(!isAdmitted)
    }
}
