internal import Dispatch

/// A serial executor that runs an actor on a Dispatch queue; Dispatch on Linux doesn't provide one. Callbacks on the
/// queue and tasks that call the actor run in order.
final class QueueExecutor: SerialExecutor {
    /// The queue. Work on it is isolated to the actor (`Actor.assumeIsolated`).
    let queue: DispatchQueue

    init(label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { @Sendable in job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
