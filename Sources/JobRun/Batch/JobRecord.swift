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
    public var plan: JobPlan? { boxed?.plan }
    private let boxed: Box?
    /// What a job that was settled before published.
    public var settled: [BatchPlan.Output] = []
    /// Seconds from the run's begin to the job's; nil where it was not started.
    public var begun: Double?
    /// Wall-clock seconds that it took.
    public var seconds: Double = 0
    /// Which of the places that run side by side it had, from 0.
    package var lane = 0
    /// How often it was begun.
    public var attempts = 0
    /// What a person should know of the outputs; of those that are up to date, what was said when they were made.
    public var warnings: [String] = []
    /// Of those, what was said of outputs when they were made before, by their ids; empty for the only one.
    package var kept: [String: [String]] = [:]

    /// A plan is large, and records are many.
    private final class Box: Sendable {
        let plan: JobPlan
        init(_ plan: JobPlan) { self.plan = plan }
    }

    init(
        id: String, file: String, outcome: JobOutcome, plan: JobPlan? = nil, begun: Double? = nil,
        seconds: Double = 0, lane: Int = 0, attempts: Int = 0
    ) {
        self.id = id
        self.file = file
        self.outcome = outcome
        boxed = plan.map(Box.init)
        self.begun = begun
        self.seconds = seconds
        self.lane = lane
        self.attempts = attempts
        if case .succeeded(let result) = outcome { warnings = result.warnings }
    }
}
