package import JobSpec

/// What earlier runs left behind, as far as a plan must know it.
package protocol PlanMemory: Sendable {
    /// What a job published that need not even be planned: it succeeded with this job file, of this source, and its outputs
    /// are untouched. Nil where it must be planned.
    func settled(_ question: SettledQuestion) -> [BatchPlan.Output]?
    /// A file at a destination was published for a job file, though it has no mark of its own.
    func owns(_ path: String, for file: String) -> Bool
    /// What is at an output's destination was made by just such a plan, whoever asked for it.
    func isMade(by task: OutputTask) -> Bool
    /// How an output of a job file is marked; nil where that doesn't matter.
    func owner(ofFile path: String, at destination: String) -> String?
}

/// A job before it is planned.
package struct SettledQuestion: Sendable {
    /// Its file.
    package var file: JobFile
    /// The job.
    package var job: JobSpec
    /// Its source; nil for test signals.
    package var source: String?
    /// Where its outputs go.
    package var outputs: [Output]

    /// One of them.
    package struct Output: Sendable {
        /// Its id; nil for the only one of a job.
        package var id: String?
        /// Where it goes, as the job file has it but for the folder.
        package var destination: String
        /// How many files it has and what they are called its source tells.
        package var hasSeveralFiles: Bool
    }
}

/// Nothing is remembered.
package struct NoMemory: PlanMemory {
    /// Makes one.
    package init() {}
    /// Never.
    package func isMade(by task: OutputTask) -> Bool { false }
    /// Nobody asks.
    package func owner(ofFile path: String, at destination: String) -> String? { nil }
    /// Nothing is.
    package func settled(_ question: SettledQuestion) -> [BatchPlan.Output]? { nil }
    /// Never.
    package func owns(_ path: String, for file: String) -> Bool { false }
}

/// What is remembered for a dry run, which plans every job: a settled one too.
package struct FullPlanMemory: PlanMemory {
    private let base: any PlanMemory

    /// Of what a run would have.
    package init(_ base: any PlanMemory) { self.base = base }

    /// Nothing is.
    package func settled(_ question: SettledQuestion) -> [BatchPlan.Output]? { nil }
    /// As the run's.
    package func owns(_ path: String, for file: String) -> Bool { base.owns(path, for: file) }
    /// As the run's.
    package func isMade(by task: OutputTask) -> Bool { base.isMade(by: task) }
    /// As the run's.
    package func owner(ofFile path: String, at destination: String) -> String? {
        base.owner(ofFile: path, at: destination)
    }
}
