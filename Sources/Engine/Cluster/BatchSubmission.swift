internal import Diagnostics
package import JobPlan
package import JobRun
package import JobStages

/// The submission of a planned batch: determines its parts, writes them, and submits them to an engine.
package struct BatchSubmission: Sendable {
    private let engine: ClusterEngineKind
    private let batch: ClusterBatch
    /// Requested number of parts besides those that encode chunks; nil for parts with at least `ClusterBatch.minWork`.
    private let shards: Int?
    /// Maximum number of parts of the engine.
    private let maxParts: Int

    /// Creates the submission of a new batch.
    /// - Throws: An environment error if the engine can't be reached, or if the folder is outside the root.
    package init(of batch: ClusterBatch, to engine: ClusterEngineKind, shards: Int?) async throws(EngineError)
    {
        try batch.requireInsideRoot()
        (self.batch, self.engine, self.shards) = (batch, engine, shards)
        maxParts = try await engine.maxParts()
    }

    /// The parts of a batch.
    package struct Parts {
        /// Number of parts besides those that encode chunks.
        fileprivate let count: Int
        fileprivate let chunks: [ChunkPart]
        fileprivate let forecast: RunForecast
        /// Messages for the user about tracks that aren't distributed, each in one line.
        package let notes: [String]
    }

    /// Determines the parts of a plan.
    /// - Throws: A usage error for more parts than the engine allows.
    package func parts(of plan: BatchPlan, _ forecast: RunForecast) throws(EngineError) -> Parts {
        let plan = ShardPlanner.withoutWaiting(plan)
        if let shards, shards > maxParts {
            throw EngineError(.usage, "--shards must be at most \(maxParts), the limit of the cluster")
        }
        let minWork =
            shards.map { plan.jobs.reduce(0) { $0 + forecast.work(of: $1) } / Double($0) }
            ?? ClusterBatch.minWork
        // At least half of the parts are left for the jobs.
        let most = engine.ordersParts ? min(maxParts / 2, maxParts - (shards ?? 0)) : 0
        let distribution = ChunkDistribution(
            of: plan, minWork: minWork, maxParts: most, creating: forecast.creates)
        let chunks = distribution.parts
        let count =
            shards
            ?? ShardPlanner.count(
                for: plan, chunks: chunks, minWork: ClusterBatch.minWork, atMost: maxParts - chunks.count,
                by: forecast.work(of:))
        let notes = distribution.obstacles.map { job, reason in
            let reason = engine.ordersParts ? reason : "the parts have no order with this engine"
            return "note: one part encodes all chunks of \(TextRenderer.printable(job)): \(reason)"
        }
        return Parts(count: count, chunks: chunks, forecast: forecast, notes: notes)
    }

    /// Writes the parts, and submits them. If the engine refuses them, the batch is removed.
    /// - Throws: An environment error if the plan can't be written or the engine refuses it.
    package func submit(
        _ planned: Pipeline.Planned, of set: JobFileSet, variables: [String: String], in parts: Parts,
        _ resources: ClusterResources, _ command: PartCommand
    ) async throws(EngineError) -> ClusterBatch.Submitted {
        _ = try SavedPlan.write(
            planned, of: set, variables: variables, to: batch.path, shards: parts.count,
            chunks: parts.chunks, by: parts.forecast.work(of:))
        return try await batch.submitNew(to: engine, resources, command)
    }
}
