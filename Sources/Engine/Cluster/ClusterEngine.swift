/// The engine that starts the parts of a batch.
package enum ClusterEngineKind: String, Codable, CaseIterable, Sendable {
    /// Tasks of a job array of Slurm.
    case slurm
    /// Processes on this machine.
    case local
}

/// The state of a part in its engine.
package enum PartState: Hashable, Sendable {
    /// Waits for the engine, with the reason that the engine states; empty if it states none.
    case waiting(reason: String)
    case running
}

/// A program that starts the parts of a batch as processes, on this machine or on others that share the batch's folder. It
/// states which parts wait or run. Only the results of a part (`ShardFolder`) state what it has done.
package protocol ClusterEngine: Sendable {
    /// Returns the maximum number of parts of a submission.
    /// - Throws: An environment error if the engine can't be reached.
    func maxParts() async throws(EngineError) -> Int

    /// Starts the parts of a submission whose files are written, and returns a description for the user, in one line.
    /// - Throws: An environment error if the engine refuses the submission, of which no part is started then.
    func start(_ submission: Submission, in folder: SubmissionFolder) async throws(EngineError) -> String

    /// Returns the states of parts that wait or run; parts that have ended are absent.
    /// - Throws: An environment error if the engine can't be reached.
    func states(of submission: Submission, in folder: SubmissionFolder) async throws(EngineError) -> [Int:
        PartState]

    /// Cancels all parts that wait or run. Their jobs publish nothing.
    /// - Throws: An environment error if the engine can't be reached.
    func cancel(_ submission: Submission, in folder: SubmissionFolder) async throws(EngineError)
}

extension ClusterEngineKind {
    /// The engine of this kind.
    package var engine: any ClusterEngine {
        switch self {
        case .slurm: SlurmEngine()
        case .local: LocalEngine()
        }
    }
}
