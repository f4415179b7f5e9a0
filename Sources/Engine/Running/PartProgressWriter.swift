internal import Dispatch
internal import JobRun

/// A writer of the progress of a part into the batch's folder, while the part runs.
final class PartProgressWriter {
    private let timer: any DispatchSourceTimer
    private let queue = DispatchQueue(label: "tandem.part-progress")
    private let write: @Sendable () -> Void

    /// Starts writing the progress of a runner, at the start and every two seconds.
    init(_ runner: BatchRunner, of part: Int, to folder: ShardFolder) {
        write = { folder.write(PartProgress(runner), ofShard: part) }
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now(), repeating: Self.interval, leeway: .milliseconds(200))
        timer.setEventHandler(handler: DispatchWorkItem(block: write))
        timer.activate()
    }

    private static let interval = DispatchTimeInterval.seconds(2)

    /// Writes the final progress, and ends.
    func end() {
        timer.cancel()
        queue.sync(execute: write)
    }
}
