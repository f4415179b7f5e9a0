internal import Dispatch
internal import ExactStrings
internal import Foundation
internal import JobPlan
internal import JobStages
internal import Locking
internal import FileSystem
internal import Media
internal import PlanWork
internal import Publishing

/// The execution of an export's plan: a `JobExecutor` of one output, without records and marks. Thread-safe.
final class ExportExecution: Sendable {
    private let executor: JobExecutor
    private let plan: JobPlan
    private let root: PathRoot

    private struct State: Sendable {
        var work: Task<Void, Never>?
        /// Whether the file is being published, so that a cancellation has no effect.
        var isPublishing = false
    }
    private let state = Guarded(State())
    private let cancellation = CancellationSignal()
    private static let queue = DispatchQueue(label: "tandem.export.files", attributes: .concurrent)

    /// Creates the execution of a job with one output. Its sources are read in `environment`.
    init(_ job: Pipeline.RunnableJob, in environment: MediaEnvironment) {
        plan = job.plan
        root = environment.sources.root
        executor = JobExecutor(
            plan: plan, records: nil, marksOutputs: false, performer: LocalPerformer(environment), root: root)
    }

    /// Completed fraction, from 0 to 1.
    var progress: Double { executor.progress.fraction }

    /// Ends the export, unless the file is already being published. `run` throws `CancellationError` immediately, also
    /// while an encoder is opened, which can't be interrupted.
    func cancel() {
        let work = state.withLock { state -> Task<Void, Never>? in
            if state.isPublishing { return nil }
            cancellation.raise()
            return state.work
        }
        guard let work else { return }
        work.cancel()
        executor.abandon()
    }

    /// Writes and publishes the file. Called once.
    /// - Throws: `ExportError`, or `CancellationError` after `cancel`. No file remains.
    func run() async throws -> ExportResult {
        try await Self.queue.result { () throws in try self.prepareFolder() }
        let outcome = await cancellation.result { completion in
            let work = Task { completion(await executor.run(onPublish: { try self.beginPublishing() })) }
            state.withLock { $0.work = work }
            if cancellation.isRaised {
                work.cancel()
                executor.abandon()
            }
        }
        switch outcome {
        case .succeeded(let result)?:
            guard let output = result.outputs.first, let path = output.destination else { break }
            return ExportResult(
                url: URL(fileURLWithPath: path), fileLength: output.size, duration: output.duration,
                tracks: output.tracks, warnings: output.warnings)
        case .failed(let failure)?: throw ExportError(failure)
        case nil, .cancelled?: throw CancellationError()
        case .upToDate?, .skipped?, .declined?, .notRun?: break
        }
        throw ExportError(.failed, "the export has no output")
    }

    /// Checks the free space, and removes files of killed processes from the destination's folder.
    private func prepareFolder() throws {
        guard let path = plan.outputs.first?.destination else { return }
        guard root.contains(path) else {
            throw ExportError(
                .destinationNotWritable, "the destination is outside of the environment's root: \(path)")
        }
        let url = URL(fileURLWithPath: path)
        try checkSpace(in: url.deletingLastPathComponent().path)
        _ = TemporaryFile.removeAbandonedParts(
            in: url.deletingLastPathComponent().path, of: [url.lastPathComponent.exact])
    }

    /// Throws if the predicted size of the file exceeds the free space of its folder's file system.
    private func checkSpace(in folder: String) throws(ExportError) {
        guard let output = plan.outputs.first, let size = output.expectedSize,
            let free = SystemDisk().freeSpace(in: folder), size > free
        else { return }
        throw ExportError(
            .diskFull,
            "the estimated size of the output is \(PlanText.bytes(size)) for \(PlanText.time(output.expectedDuration)), but only \(PlanText.bytes(free)) are free in \(folder); `fileLengthLimit` overrides the estimate"
        )
    }

    private func beginPublishing() throws {
        let isCancelled = state.withLock { state in
            state.isPublishing = !cancellation.isRaised
            return !state.isPublishing
        }
        if isCancelled { throw CancellationError() }
    }
}
