internal import Dispatch

/// An executor that runs an actor on a Dispatch queue, which Linux has none for. Callbacks that are put on the queue
/// and tasks that call the actor run one after the other, in the order in which they were put there.
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
