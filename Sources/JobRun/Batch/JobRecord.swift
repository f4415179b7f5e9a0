public import JobPlan

/// What became of one job of a batch.
public struct JobRecord: Sendable {
    /// The job's id.
    public var id: String
    /// The job file.
    public var file: String
    /// How it ended.
    public var outcome: JobOutcome
    /// What was carried out; nil where it was not even planned, or settled before.
    public var plan: JobPlan?
    /// Seconds from the run's begin to the job's; nil where it was not started.
    public var begun: Double?
    /// Wall-clock seconds that it took.
    public var seconds: Double = 0
    /// Which of the places that run side by side it had, from 0.
    public var lane = 0
    /// How often it was begun.
    public var attempts = 0
}
