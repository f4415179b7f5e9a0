public import JobSpec

/// What earlier runs left behind, as far as a plan must know it.
public protocol PlanMemory: Sendable {
    /// A job need not even be planned: it succeeded with this job file, of this source, and its output is untouched.
    func isSettled(_ question: SettledQuestion) -> Bool
    /// A file at a destination was published by Tandem, though it has no mark of its own.
    func owns(_ path: String) -> Bool
}

/// A job before it is planned.
public struct SettledQuestion: Sendable {
    /// Its file.
    public var file: JobFile
    /// The job.
    public var job: JobSpec
    /// Its source; nil for test signals.
    public var source: String?
    /// Where its output goes.
    public var destination: String
}

/// Nothing is remembered.
public struct NoMemory: PlanMemory {
    /// Makes one.
    public init() {}
    /// Never.
    public func isSettled(_ question: SettledQuestion) -> Bool { false }
    /// Never.
    public func owns(_ path: String) -> Bool { false }
}
