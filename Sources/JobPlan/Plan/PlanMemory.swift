public import JobSpec

/// What earlier runs left behind, as far as a plan must know it.
public protocol PlanMemory: Sendable {
    /// A job need not even be planned: it succeeded with this job file, of this source, and its outputs are untouched.
    func isSettled(_ question: SettledQuestion) -> Bool
    /// A file at a destination was published for a job file, though it has no mark of its own.
    func owns(_ path: String, for file: String) -> Bool
    /// What is at an output's destination was made by just such a plan, whoever asked for it.
    func isMade(by task: OutputTask) -> Bool
    /// How an output of a job file is marked; nil where that doesn't matter.
    func owner(ofFile path: String, at destination: String) -> String?
}

/// A job before it is planned.
public struct SettledQuestion: Sendable {
    /// Its file.
    public var file: JobFile
    /// The job.
    public var job: JobSpec
    /// Its source; nil for test signals.
    public var source: String?
    /// Where its outputs go.
    public var outputs: [BatchPlan.Output]
}

/// Nothing is remembered.
public struct NoMemory: PlanMemory {
    /// Makes one.
    public init() {}
    /// Never.
    public func isMade(by task: OutputTask) -> Bool { false }
    /// Nobody asks.
    public func owner(ofFile path: String, at destination: String) -> String? { nil }
    /// Never.
    public func isSettled(_ question: SettledQuestion) -> Bool { false }
    /// Never.
    public func owns(_ path: String, for file: String) -> Bool { false }
}

/// What is remembered for a dry run, which plans every job: a settled one too.
public struct FullPlanMemory: PlanMemory {
    private let base: any PlanMemory

    /// Of what a run would have.
    public init(_ base: any PlanMemory) { self.base = base }

    /// Never.
    public func isSettled(_ question: SettledQuestion) -> Bool { false }
    /// As the run's.
    public func owns(_ path: String, for file: String) -> Bool { base.owns(path, for: file) }
    /// As the run's.
    public func isMade(by task: OutputTask) -> Bool { base.isMade(by: task) }
    /// As the run's.
    public func owner(ofFile path: String, at destination: String) -> String? {
        base.owner(ofFile: path, at: destination)
    }
}
