package import Dispatch

/// A serial executor that runs an actor on a Dispatch queue; Dispatch on Linux doesn't provide one. Callbacks on the
/// queue and tasks that call the actor run in order. The actor may block its queue, but not Swift's cooperative pool,
/// which has one thread per processor.
package final class QueueExecutor: SerialExecutor {
    /// The queue. Work on it is isolated to the actor (`Actor.assumeIsolated`).
    package let queue: DispatchQueue

    package init(label: String) { queue = DispatchQueue(label: label) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { @Sendable in job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    package func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
