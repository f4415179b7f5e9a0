import Diagnostics
import Testing

@testable import JobPlan

/// The division of a plan among machines, with given costs of the jobs.
@Suite struct ShardPlannerTests {
    /// Returns the ids of each part's jobs. Jobs cost 1 s each unless `costs` states theirs, in the same order.
    private func parts(_ jobs: [JobPlan], costs: [Double]? = nil, into count: Int) -> [[String]] {
        let work = Dictionary(zip(jobs.map(\.id), costs ?? []), uniquingKeysWith: { first, _ in first })
        let plan = BatchPlan(jobs: jobs, refusals: [])
        return ShardPlanner.layout(plan, into: count) { work[$0.id] ?? 1 }.others.map {
            $0.map { jobs[$0].id }
        }
    }

    private func refusal(_ id: String, in file: String = "jobs.yaml") -> BatchPlan.Refusal {
        BatchPlan.Refusal(
            id: id, file: file,
            diagnostics: [Diagnostic(.error, .noMatch, "cause of \(id)", at: .startOfFile(file))])
    }

    /// Returns each refusal as its id and the messages of its diagnostics.
    private func causes(_ plan: BatchPlan) -> [String] {
        plan.refusals.map { "\($0.id): \($0.diagnostics.map(\.message).joined(separator: ", "))" }
    }

    /// The job with the largest cost is assigned first, to the part with the least work. Ties are resolved by position.
    /// There is at least one part.
    @Test(
        arguments: [
            ([7, 6, 5, 4, 3, 2], 2, [["0", "3", "4"], ["1", "2", "5"]]),
            ([1, 5, 1], 2, [["1"], ["0", "2"]]), ([1, 1, 1, 1], 2, [["0", "2"], ["1", "3"]]),
            ([1, 1], 4, [["0"], ["1"], [], []]), ([], 3, [[], [], []]), ([1, 2], 1, [["0", "1"]]),
            ([1, 2], 0, [["0", "1"]]), ([1, 2], -1, [["0", "1"]]),
        ] as [([Double], Int, [[String]])])
    func parts_areBalancedByCost(_ costs: [Double], _ count: Int, _ expected: [[String]]) throws {
        let jobs = try costs.indices.map { try JobPlan.planned("\($0)") }
        #expect(parts(jobs, costs: costs, into: count) == expected)
    }

    /// A large plan is divided as by a search for the part with the least work, of which the first counts.
    @Test func manyPartsAreBalanced() throws {
        let jobs = try (0..<300).map { try JobPlan.planned("\($0)") }
        let costs = jobs.indices.map { Double($0 * 7919 % 53) }
        var expected = [(ids: [Int], work: Double)](repeating: ([], 0), count: 40)
        for index in costs.indices.sorted(by: { (costs[$0], -$0) > (costs[$1], -$1) }) {
            let least = expected.indices.min { expected[$0].work < expected[$1].work } ?? 0
            expected[least].ids.append(index)
            expected[least].work += costs[index]
        }
        #expect(parts(jobs, costs: costs, into: 40) == expected.map { $0.ids.sorted().map { "\($0)" } })
    }

    /// A group is assigned by the sum of its costs, and keeps the order of the plan.
    @Test func dependentJobs_shareAPart() throws {
        let chain = [
            try JobPlan.planned("a"), try .planned("x"), try .planned("b", reads: ["a"]), try .planned("y"),
            try .planned("c", needs: ["b"]),
        ]
        #expect(parts(chain, into: 2) == [["a", "b", "c"], ["x", "y"]])
        #expect(parts(chain, costs: [1, 4, 1, 1, 1], into: 2) == [["x"], ["a", "b", "y", "c"]])
        let joined = [
            try JobPlan.planned("a"), try .planned("b"), try .planned("c", needs: ["b"], reads: ["a"]),
        ]
        #expect(parts(joined, into: 3) == [["a", "b", "c"], [], []])
    }

    /// `needs` contains ids of the job file, and the jobs that are read are instances.
    @Test func needs_coverAllInstances_readsOnlyOne() throws {
        let instances = [try JobPlan.planned("m[1]"), try .planned("m[2]"), try .planned("other")]
        let needing = instances + [try .planned("all", needs: ["m"])]
        #expect(parts(needing, into: 2) == [["m[1]", "m[2]", "all"], ["other"]])
        let reading = instances + [try .planned("r", reads: ["m[2]"])]
        #expect(parts(reading, into: 3) == [["m[2]", "r"], ["m[1]"], ["other"]])
    }

    @Test func idsOfOtherFiles_areNoDependencies() throws {
        let jobs = [
            try JobPlan.planned("a", in: "one.yaml"),
            try .planned("r", needs: ["a"], reads: ["a"], in: "two.yaml"),
        ]
        #expect(parts(jobs, into: 2) == [["a"], ["r"]])
    }

    /// The number is limited by the work, by `atMost` and by the number of jobs, and is at least 1.
    @Test(
        arguments: [
            ([], 60, 8, 1), ([59], 60, 8, 1), ([60, 59], 60, 8, 1), ([60, 60], 60, 8, 2),
            ([500, 1], 60, 8, 2), ([100, 100, 100], 60, 2, 2), ([100, 100], 60, 0, 1),
            ([.infinity, 1], 60, 8, 2), ([1, 1], 0, 8, 2),
        ] as [([Double], Double, Int, Int)])
    func count_isLimited(_ costs: [Double], _ minWork: Double, _ atMost: Int, _ expected: Int) throws {
        let jobs = try costs.indices.map { try JobPlan.planned("\($0)") }
        let work = Dictionary(uniqueKeysWithValues: zip(jobs.map(\.id), costs))
        let count = ShardPlanner.count(
            for: BatchPlan(jobs: jobs, refusals: []), minWork: minWork, atMost: atMost
        ) { work[$0.id] ?? 0 }
        #expect(count == expected)
    }

    /// Jobs are rejected wherever they are in the plan, with the diagnostics of the first cause.
    @Test func jobsAfterRejectedOnes_areRejected() throws {
        let jobs = [
            try JobPlan.planned("c", needs: ["b"]), try .planned("b", reads: ["a"]), try .planned("d"),
        ]
        let plan = ShardPlanner.withoutWaiting(BatchPlan(jobs: jobs, refusals: [refusal("a")]))
        #expect(plan.jobs.map(\.id) == ["d"])
        #expect(causes(plan) == ["a: cause of a", "b: cause of a", "c: cause of a"])
    }

    @Test func rejectedInstance_rejectsThoseThatNeedItsJob() throws {
        let jobs = [
            try JobPlan.planned("m[2]"), try .planned("all", needs: ["m"]),
            try .planned("first", reads: ["m[1]"]), try .planned("second", reads: ["m[2]"]),
            try .planned("elsewhere", needs: ["m"], reads: ["m[1]"], in: "two.yaml"),
        ]
        let plan = ShardPlanner.withoutWaiting(BatchPlan(jobs: jobs, refusals: [refusal("m[1]")]))
        #expect(plan.jobs.map(\.id) == ["m[2]", "second", "elsewhere"])
        #expect(causes(plan) == ["m[1]: cause of m[1]", "all: cause of m[1]", "first: cause of m[1]"])
    }

    @Test func jobsWithoutWork_areKept() throws {
        let current = BatchPlan.UpToDateJob(id: "u", base: "u", file: "jobs.yaml", outputs: [])
        let skip = BatchPlan.Skip(
            id: "s", base: "s", file: "jobs.yaml", location: .startOfFile("jobs.yaml"), reason: "no video")
        let jobs = [try JobPlan.planned("b", needs: ["u"]), try .planned("c", needs: ["s"])]
        for refusals in [[], [refusal("a")]] {
            let plan = ShardPlanner.withoutWaiting(
                BatchPlan(jobs: jobs, upToDateJobs: [current], skips: [skip], refusals: refusals))
            #expect(plan.jobs == jobs && plan.upToDateJobs.map(\.id) == ["u"] && plan.skips == [skip])
            #expect(plan.refusals.count == refusals.count)
        }
    }
}
