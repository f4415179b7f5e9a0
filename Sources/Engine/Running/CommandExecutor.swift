internal import Dispatch

/// A task executor that runs a command's code on a Dispatch queue. Loading, probing and planning block, and Swift's
/// cooperative pool has only one thread per processor.
package final class CommandExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "tandem.command")

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { @Sendable in job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
