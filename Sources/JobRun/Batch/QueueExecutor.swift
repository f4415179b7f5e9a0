internal import Dispatch

/// Runs an actor on a Dispatch queue, for which Linux has no executor of its own: what callbacks put on the queue and what tasks
/// ask of the actor come one after the other, in the order in which they were put there.
final class QueueExecutor: SerialExecutor {
    /// What is put here is isolated to the actor (`Actor.assumeIsolated`).
    let queue: DispatchQueue

    init(label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { @Sendable in job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
