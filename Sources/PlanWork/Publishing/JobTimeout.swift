internal import Diagnostics
internal import Dispatch
internal import JobPlan
internal import JobSpec
internal import Media

/// The `timeout` of a job: its timer, and whether it has expired.
struct JobTimeout {
    private let duration: MediaTime?
    private let location: SourceRange
    private var timer: (any DispatchSourceTimer)?
    private var hasExpired = false

    /// Creates the timeout of a plan, which may have none.
    init(of plan: JobPlan) { (duration, location) = (plan.scheduling.timeout, plan.location) }

    /// Starts the timer, if the plan has a timeout. `onExpiry` is called on `queue`.
    mutating func start(on queue: DispatchQueue, onExpiry: @escaping @Sendable () -> Void) {
        guard let duration else { return }
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + duration.seconds)
        timer.setEventHandler(handler: onExpiry)
        timer.activate()
        self.timer = timer
    }

    /// Cancels the timer.
    mutating func stop() {
        timer?.cancel()
        timer = nil
    }

    /// Records that the timer has fired.
    mutating func expire() { hasExpired = true }

    /// Failure of a job that exceeded its timeout; nil if it didn't.
    var failure: JobFailure? {
        guard hasExpired, let duration else { return nil }
        return JobFailure(
            "the job exceeded its timeout of \(duration) s", at: location, rule: .jobTimeout)
    }
}
