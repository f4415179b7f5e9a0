/// The parts (shards) of a plan as files, each of which a machine executes without the others.
package struct PlanParts: Sendable {
    private let whole: PlanFile
    private let layout: ShardLayout
    /// Indices of jobs in the plan, by part after those that encode chunks.
    private let jobsOfParts: [[Int]]
    private let chunks: [JobKey: [ChunkPart]]
    /// The jobs with chunks.
    private let distributed: [JobKey: JobPlan]
    /// Indices of the skipped instances by their job.
    private let skips: [WrittenJobKey: [Int]]

    /// Creates the parts that a layout divides a plan into.
    package init(of whole: PlanFile, _ layout: ShardLayout) {
        (self.whole, self.layout) = (whole, layout)
        let plan = whole.plan
        jobsOfParts = layout.joining + layout.others
        let chunks = Dictionary(grouping: layout.chunks, by: \.key)
        self.chunks = chunks
        // A plan may have a million jobs, of which few have chunks.
        distributed = Dictionary(
            (chunks.isEmpty ? [] : plan.jobs).filter { chunks[$0.key] != nil }.map { ($0.key, $0) },
            uniquingKeysWith: { first, _ in first })
        skips = Dictionary(grouping: plan.skips.indices) { plan.skips[$0].writtenKey }
    }

    /// Number of parts.
    package var count: Int { layout.chunks.count + jobsOfParts.count }

    /// Returns a part. Jobs that can't be planned, and skipped jobs, belong to no part: the first part contains them for
    /// `collect`. Other parts contain the skipped jobs that theirs need.
    package func part(_ index: Int) -> PlanFile {
        var part = whole
        part.shard = PlanFile.Shard(index: index, count: count)
        let jobs: [JobPlan]
        if index < layout.chunks.count {
            let encoded = layout.chunks[index]
            jobs = distributed[encoded.key].map { [$0] } ?? []
            part.shard?.chunks = encoded
        } else {
            jobs = jobsOfParts[index - layout.chunks.count].map { whole.plan.jobs[$0] }
            let read = jobs.flatMap { chunks[$0.key] ?? [] }
            part.shard?.readChunks = read.isEmpty ? nil : read
        }
        part.plan = BatchPlan(
            jobs: jobs, skips: index == 0 ? whole.plan.skips : skipped(neededBy: jobs),
            refusals: index == 0 ? whole.plan.refusals : [])
        return part
    }

    /// Returns the skipped jobs that some jobs need, in the plan's order.
    private func skipped(neededBy jobs: [JobPlan]) -> [BatchPlan.Skip] {
        let needed = Set(jobs.flatMap(\.neededKeys))
        return needed.flatMap { skips[$0] ?? [] }.sorted().map { whole.plan.skips[$0] }
    }
}
