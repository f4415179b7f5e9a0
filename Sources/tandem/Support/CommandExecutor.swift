internal import Dispatch

/// Where a command's own code runs: a thread of Dispatch. Commands load, probe and plan, which blocks; a thread of Swift's pool, of which
/// there are as many as processors, is for what doesn't.
final class CommandExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "tandem.command")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { @Sendable in job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
