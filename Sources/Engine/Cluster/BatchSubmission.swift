internal import Diagnostics
package import JobPlan
internal import JobRun
package import JobStages

/// The submission of a planned batch: determines its parts, writes them, and submits them to an engine.
package struct BatchSubmission: Sendable {
    private let engine: ClusterEngineKind
    private let batch: ClusterBatch
    /// Requested number of parts; nil for the default.
    private let shards: Int?
    /// Maximum number of parts of the engine.
    private let maxParts: Int

    /// Creates the submission of a new batch. `shards`: number of parts besides those that read chunks; nil for parts with at
    /// least `ClusterBatch.minWork`.
    /// - Throws: An environment error if the engine can't be reached, or if the folder is outside the root.
    package init(of batch: ClusterBatch, to engine: ClusterEngineKind, shards: Int?) async throws(EngineError)
    {
        try batch.requireInsideRoot()
        (self.batch, self.engine, self.shards) = (batch, engine, shards)
        maxParts = try await engine.maxParts()
    }

    /// The parts of a batch.
    package struct Parts {
        fileprivate let count: Int
        fileprivate let distribution: ChunkDistribution?
        /// Messages for the user about tracks that aren't distributed, each in one line.
        package let notes: [String]
    }

    /// Determines the parts of a plan. `estimate`: processor time of a job in seconds.
    /// - Throws: A usage error for more parts than the engine allows.
    package func parts(
        of plan: BatchPlan, by estimate: ShardPlanner.Estimate
    ) throws(EngineError) -> Parts {
        let plan = ShardPlanner.withoutWaiting(plan)
        let minWork =
            shards.map { plan.jobs.reduce(0) { $0 + estimate($1) } / Double($0) } ?? ClusterBatch.minWork
        let distribution =
            engine.ordersParts ? ChunkDistribution(minWork: minWork, maxParts: maxParts / 2) : nil
        let chunks = distribution?.parts(of: plan) ?? []
        let most = maxParts - chunks.count
        let count =
            shards
            ?? ShardPlanner.count(
                for: plan, chunks: chunks, minWork: ClusterBatch.minWork, atMost: most, by: estimate)
        guard count <= most else {
            throw EngineError(.usage, "--shards must be at most \(most), the limit of the cluster")
        }
        return Parts(count: count, distribution: distribution, notes: notes(on: plan, chunks))
    }

    /// Returns the notes about tracks with `parallel: cluster` whose chunks no parts encode.
    private func notes(on plan: BatchPlan, _ chunks: [ChunkPart]) -> [String] {
        let distributed = Set(chunks.map(\.key))
        return plan.jobs.filter { $0.distributesChunks && !distributed.contains($0.key) }.map { job in
            let reason =
                engine.ordersParts
                ? job.distributionObstacle ?? "its estimated work is that of one part"
                : "the parts have no order with this engine"
            return "note: one part encodes all chunks of \(TextRenderer.printable(job.id)): \(reason)"
        }
    }

    /// Writes the parts, and submits them. If the engine refuses them, the batch is removed.
    /// - Throws: An environment error if the plan can't be written or the engine refuses it.
    package func submit(
        _ planned: Pipeline.Planned, of set: JobFileSet, variables: [String: String], in parts: Parts,
        by estimate: ShardPlanner.Estimate, _ resources: ClusterResources, _ command: PartCommand
    ) async throws(EngineError) -> ClusterBatch.Submitted {
        _ = try SavedPlan.write(
            planned, of: set, variables: variables, to: batch.path, shards: parts.count,
            distribution: parts.distribution, by: estimate)
        return try await batch.submitNew(to: engine, resources, command)
    }
}
