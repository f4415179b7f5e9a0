package import JobSpec

/// The state of earlier runs, as far as planning needs it.
package protocol PlanMemory: Sendable {
    /// Returns the published outputs of a job that needn't be planned: it succeeded with this job file and this
    /// source, and its outputs are unchanged. Nil if it must be planned.
    func settled(_ question: SettledQuestion) -> [BatchPlan.Output]?
    /// Returns whether a file at a destination was published for a job file, although it has no mark of its own.
    func owns(_ path: String, for file: String) -> Bool
    /// Returns whether the file at an output's destination was created by the same plan, by any job.
    func isMade(by task: OutputTask) -> Bool
    /// Returns the owner in the mark of a job file's output; nil if marks aren't compared.
    func owner(ofFile path: String, at destination: String) -> String?
}

/// A job before it is planned.
package struct SettledQuestion: Sendable {
    /// Job file of the job.
    package var file: JobFile
    /// The job as specified in the file.
    package var job: JobSpec
    /// Path of the source; nil for test signals.
    package var source: String?
    /// Outputs with their destinations.
    package var outputs: [Output]

    /// One output of the job.
    package struct Output: Sendable {
        /// The output's id; nil for the only output of a job.
        package var id: String?
        /// Destination as in the job file, with its folder resolved.
        package var destination: String
        /// Whether the number and names of the output's files depend on the source.
        package var hasSeveralFiles: Bool
    }
}

/// A memory without records.
package struct NoMemory: PlanMemory {
    /// Creates the memory.
    package init() {}
    /// Returns false.
    package func isMade(by task: OutputTask) -> Bool { false }
    /// Returns nil: marks aren't compared.
    package func owner(ofFile path: String, at destination: String) -> String? { nil }
    /// Returns nil: every job is planned.
    package func settled(_ question: SettledQuestion) -> [BatchPlan.Output]? { nil }
    /// Returns false.
    package func owns(_ path: String, for file: String) -> Bool { false }
}

/// The memory of a dry run, which plans every job, including those that are up to date.
package struct FullPlanMemory: PlanMemory {
    private let base: any PlanMemory

    /// Creates a memory with the records of a run.
    package init(_ base: any PlanMemory) { self.base = base }

    /// Returns nil: every job is planned.
    package func settled(_ question: SettledQuestion) -> [BatchPlan.Output]? { nil }
    /// Returns the run's answer.
    package func owns(_ path: String, for file: String) -> Bool { base.owns(path, for: file) }
    /// Returns the run's answer.
    package func isMade(by task: OutputTask) -> Bool { base.isMade(by: task) }
    /// Returns the run's answer.
    package func owner(ofFile path: String, at destination: String) -> String? {
        base.owner(ofFile: path, at: destination)
    }
}
