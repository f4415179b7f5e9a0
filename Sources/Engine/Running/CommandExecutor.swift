internal import Dispatch

/// Runs a command's own code on a Dispatch thread. Commands load, probe and plan, which blocks; Swift's cooperative
/// pool has only as many threads as processors.
package final class CommandExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "tandem.command")

    /// Creates the queue.
    package init() {}

    /// Runs a job on the queue.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { @Sendable in job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
