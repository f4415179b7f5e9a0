public import JobPlan

/// The record of a job that has ended: outcome, plan and times.
public struct JobRecord: Sendable {
    /// The job's id, with the matrix values of an instance.
    public var id: String
    /// Path of the job file.
    public var file: String
    /// Outcome of the job's last attempt.
    public var outcome: JobOutcome
    /// Plan that was executed; nil if the job was refused, or was up to date before planning.
    public var plan: JobPlan? { boxed?.plan }
    private let boxed: Box?
    /// Published outputs of a job that was up to date before planning.
    public var upToDateOutputs: [BatchPlan.Output] = []
    /// Seconds from the start of the run to the start of the job; nil if the job was not started.
    public var begun: Double?
    /// Wall-clock duration of the job in seconds, including retries.
    public var seconds: Double = 0
    /// Slot of the job, from 0: concurrent jobs have different slots.
    package var slot = 0
    /// Number of attempts, including the first; 0 if the job was not started.
    public var attempts = 0
    /// Warnings about the outputs. For outputs that are up to date, the warnings from when they were created.
    public var warnings: [String] = []
    /// Warnings about outputs that were created by earlier runs, by output id; the key is empty for the only output
    /// of a job.
    package var earlierWarnings: [String: [String]] = [:]

    /// The key of the job instance.
    package var key: JobKey { JobKey(file: file, id: id) }

    /// Storage of a plan on the heap: a plan is large, and a run has many records.
    private final class Box: Sendable {
        let plan: JobPlan
        init(_ plan: JobPlan) { self.plan = plan }
    }

    package init(
        id: String, file: String, outcome: JobOutcome, plan: JobPlan? = nil, begun: Double? = nil,
        seconds: Double = 0, slot: Int = 0, attempts: Int = 0
    ) {
        self.id = id
        self.file = file
        self.outcome = outcome
        boxed = plan.map(Box.init)
        self.begun = begun
        self.seconds = seconds
        self.slot = slot
        self.attempts = attempts
        if case .succeeded(let result) = outcome { warnings = result.warnings }
    }
}
