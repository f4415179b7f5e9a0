internal import Diagnostics
internal import Dispatch
internal import JobPlan
internal import JobSpec
internal import Media

/// The `timeout` of a job: its timer, and whether it has expired.
struct JobTimeout {
    private let plan: JobPlan
    private var timer: (any DispatchSourceTimer)?
    private var hasExpired = false

    /// Creates the timeout of a plan, which may have none.
    init(of plan: JobPlan) { self.plan = plan }

    /// Starts the timer, if the plan has a timeout. `onExpiry` is called on `queue`.
    mutating func start(on queue: DispatchQueue, onExpiry: @escaping @Sendable () -> Void) {
        guard let timeout = plan.scheduling.timeout else { return }
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + timeout.seconds)
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
        guard hasExpired, let timeout = plan.scheduling.timeout else { return nil }
        return JobFailure(
            "the job exceeded its timeout of \(timeout) s", at: plan.location, rule: .jobTimeout)
    }
}
