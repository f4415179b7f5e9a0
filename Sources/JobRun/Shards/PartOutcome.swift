package import JobPlan

/// The outcome of a part.
package struct PartOutcome: Sendable {
    /// Entries of the planned outputs, in the plan's order; empty for a part that encodes chunks.
    package let jobs: [RunReport.Job]
    /// The planned jobs with an output that isn't done.
    package let openJobs: Set<JobKey>
    /// The chunks that the part encodes; nil for other parts.
    package let chunks: ChunkPart?
    /// Whether the file of the chunks exists.
    package let hasChunks: Bool
    /// The reason why the latest attempt to encode the chunks failed; nil if it didn't.
    package let chunkFailure: String?
    /// Entries of jobs that no part contains, because they can't be planned or are skipped; only in the first part.
    package let others: [RunReport.Job]
}
