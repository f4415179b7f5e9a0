import Diagnostics
import JobSpec
import Testing

@testable import JobPlan

/// The files of a plan's parts.
@Suite struct PlanPartsTests {
    private func skip(_ id: String) -> BatchPlan.Skip {
        BatchPlan.Skip(
            id: id, base: InstanceName(id).base, file: "jobs.yaml", location: .startOfFile("jobs.yaml"),
            reason: "no video")
    }

    private func parts(of plan: BatchPlan, _ layout: ShardLayout) -> [PlanFile] {
        let parts = PlanParts(
            of: PlanFile(files: ["jobs.yaml"], specs: [], variables: ["v": "1"], plan: plan), layout)
        return (0..<parts.count).map(parts.part)
    }

    /// The first part contains what no part executes, and others only the skipped jobs that theirs need, in the plan's order.
    @Test func skippedAndRejectedJobsAreInTheFirstPart() throws {
        let jobs = [
            try JobPlan.planned("a"), try .planned("b", needs: ["z", "m"]), try .planned("c", needs: ["b"]),
        ]
        let refusal = BatchPlan.Refusal(id: "r", file: "jobs.yaml", diagnostics: [])
        let skips = [skip("m[1]"), skip("other"), skip("z"), skip("m[2]")]
        let plan = BatchPlan(jobs: jobs, skips: skips, refusals: [refusal])
        let parts = parts(of: plan, ShardLayout(others: [[0], [1, 2], []]))
        #expect(parts.map { $0.plan.jobs.map(\.id) } == [["a"], ["b", "c"], []])
        #expect(
            parts.map { $0.plan.skips.map(\.id) }
                == [["m[1]", "other", "z", "m[2]"], ["m[1]", "z", "m[2]"], []])
        #expect(parts.map(\.plan.refusals.count) == [1, 0, 0])
        #expect(parts.map(\.shard) == (0..<3).map { PlanFile.Shard(index: $0, count: 3) })
        #expect(parts.allSatisfy { $0.files == ["jobs.yaml"] && $0.variables == ["v": "1"] })
    }

    /// Parts that encode chunks contain the job with them. The job itself is in the part that reads the chunks.
    @Test func chunksAreInTheirPartsAndInThoseThatReadThem() throws {
        let jobs = [try JobPlan.planned("film"), try .planned("other")]
        let chunks = [(0, 5), (5, nil)].map { (first: Int, end: Int?) in
            ChunkPart(
                file: "jobs.yaml", id: "film", output: 0, track: 0, name: "\(first)",
                chunks: ChunksPlan(first: first, end: end))
        }
        let parts = parts(
            of: BatchPlan(jobs: jobs, refusals: []),
            ShardLayout(chunks: chunks, joining: [[0]], others: [[1]]))
        #expect(parts.map { $0.plan.jobs.map(\.id) } == [["film"], ["film"], ["film"], ["other"]])
        #expect(parts.map(\.shard?.chunks) == [chunks[0], chunks[1], nil, nil])
        #expect(parts.map(\.shard?.readChunks) == [nil, nil, chunks, nil])
    }
}
