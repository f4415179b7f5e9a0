internal import Dispatch
internal import Errors
internal import FileSystem
internal import Foundation
internal import JobPlan
internal import Locking
internal import Media
internal import PlanWork
internal import Publishing

/// The execution of an export's plan: the file is written without a name, verified, and published or discarded.
/// Thread-safe. It corresponds to a job of one output, without state and schedule.
final class ExportExecution: Sendable {
    private let plan: JobPlan
    private let environment: MediaEnvironment

    private struct State: Sendable {
        var work: Task<Void, Never>?
        var monitor: WorkMonitor?
        /// Whether the file is being published, so that a cancellation has no effect.
        var isPublishing = false
    }
    private let state = Guarded(State())
    private let cancellation = CancellationSignal()
    private static let queue = DispatchQueue(label: "tandem.export.files", attributes: .concurrent)

    /// Creates the execution of a plan with one output. Its sources are read in `environment`.
    init(_ plan: JobPlan, in environment: MediaEnvironment) {
        self.plan = plan
        self.environment = environment
    }

    /// Completed fraction, from 0 to 1.
    var progress: Double { state.withLock { $0.monitor }?.progress.fraction ?? 0 }

    /// Ends the export, unless the file is already being published. `run` throws `CancellationError` immediately, also
    /// while an encoder is opened, which can't be interrupted.
    func cancel() {
        let work = state.withLock { state -> Task<Void, Never>? in
            if state.isPublishing { return nil }
            cancellation.raise()
            return state.work
        }
        work?.cancel()
    }

    /// Writes and publishes the file. Called once.
    /// - Throws: `ExportError`, or `CancellationError` after `cancel`. No file remains.
    func run() async throws -> ExportResult {
        do {
            return try await write()
        } catch let error as ExportError {
            throw error
        } catch let failure as JobFailure {
            throw ExportError(failure)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw ExportError(ErrorKind(error), "\(error)")
        }
    }

    private func write() async throws -> ExportResult {
        guard let task = plan.tasks.first, plan.outputs.count == 1, let path = task.output.destination else {
            throw ExportError(.failed, "the export has no output")
        }
        let order = try await Self.queue.result { () throws in try self.order(path) }
        guard let file = order.outputs.first else { throw ExportError(.failed, "the export has no output") }
        do {
            let findings = try await findings(of: order)
            return try await Self.queue.result { () throws in try self.publish(file, task, findings) }
        } catch {
            for file in order.outputs { file.discard() }
            order.scratch?.discard()
            throw error
        }
    }

    /// Creates the temporary files.
    private func order(_ path: String) throws -> WorkOrder {
        let root = environment.sources.root
        guard root.contains(path) else {
            throw ExportError(
                .destinationNotWritable, "the destination is outside of the environment's root: \(path)")
        }
        try SourceCheck(plan).check(when: "since it was planned")
        let url = URL(fileURLWithPath: path)
        _ = TemporaryFile.removeAbandonedParts(
            in: url.deletingLastPathComponent().path, of: [url.lastPathComponent])
        return WorkOrder(
            plan: plan, outputs: [try TemporaryFile(destination: path, in: root)],
            scratch: plan.hasTwoPasses ? try TemporaryFile(destination: path, in: root) : nil)
    }

    /// Executes the work, which verifies the file too.
    private func findings(of order: WorkOrder) async throws -> OutputFindings {
        let outcome = await cancellation.result { completion in
            let work = Task { completion(await LocalPerformer(environment).perform(order)) }
            state.withLock { ($0.work, $0.monitor) = (work, order.monitor) }
            if cancellation.isRaised { work.cancel() }
        }
        switch outcome {
        case nil, .cancelled?: throw CancellationError()
        case .failed(let failure)?: throw failure
        case .finished(let findings)?:
            guard let found = findings.outputs.first, findings.outputs.count == 1 else {
                throw ExportError(.failed, "\(findings.outputs.count) results for one output")
            }
            return found
        }
    }

    /// Gives the verified file its name.
    private func publish(
        _ file: TemporaryFile, _ task: OutputTask, _ findings: OutputFindings
    ) throws -> ExportResult {
        try SourceCheck(plan).check(when: "while it was read")
        try file.synchronize()
        let isCancelled = state.withLock { state in
            state.isPublishing = !cancellation.isRaised
            return !state.isPublishing
        }
        if isCancelled { throw CancellationError() }
        try file.publish(replacing: false)
        guard file.isAt(file.destination) else {
            throw ExportError(
                .destinationNotWritable,
                "the file is not at \(file.destination): its folder was moved or replaced")
        }
        return ExportResult(
            url: URL(fileURLWithPath: file.destination), fileLength: file.size,
            duration: findings.tracks.map(\.end).max() ?? .zero, tracks: findings.tracks,
            warnings: JobWarnings(task: task, findings: findings).lines)
    }
}
