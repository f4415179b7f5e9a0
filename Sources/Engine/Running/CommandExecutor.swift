internal import Dispatch

/// An executor that runs a command's code on a Dispatch thread. Loading, probing and planning block, and
/// Swift's cooperative pool has only as many threads as processors.
package final class CommandExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "tandem.command")

    /// Creates the executor with its queue.
    package init() {}

    /// Runs a job on the queue.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { @Sendable in job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
