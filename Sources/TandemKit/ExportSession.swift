internal import Dispatch
internal import Engine
public import FoundationEssentials
internal import JobPlan
public import JobRun
public import JobSpec
internal import LibAV
internal import Locking
public import Media
internal import Publishing

/// Exports an asset by a preset into a file (AVFoundation's `AVAssetExportSession`). A session is used once.
///
/// What a job file with `export` does: the source is looked into first, a file that is there is refused before anything is read, and
/// the output is whole or absent. From any thread.
public final class ExportSession: Sendable {
    /// What is exported.
    public let asset: Asset
    /// How.
    public let preset: ExportPreset

    private struct State: Sendable {
        var status = SessionStatus.unknown
        var error: (any Error)?
        var isCancelled = false
        var runner: BatchRunner?
        /// Of those who are told how far it is.
        var pauses: Set<Task<Void, Never>> = []

        mutating func end(_ status: SessionStatus, _ error: (any Error)? = nil) {
            (self.status, self.error, runner) = (status, error, nil)
            for pause in pauses { pause.cancel() }
        }
    }

    private struct Settings: Sendable {
        var timeRange: TimeRange?
        var metadata: [MetadataEntry] = []
        var shouldOptimizeForNetworkUse = false
        var fileLengthLimit: Int64?
    }

    private let state = Guarded(State())
    private let settings = Guarded(Settings())

    /// A session for an asset.
    public init(asset: Asset, preset: ExportPreset) {
        self.asset = asset
        self.preset = preset
    }

    // MARK: Settings, which are set before the export begins

    /// The part that is exported; nil for all.
    public var timeRange: TimeRange? {
        get { settings.withLock { $0.timeRange } }
        set { settings.withLock { $0.timeRange = newValue } }
    }
    /// Tags to set beside the source's.
    public var metadata: [MetadataEntry] {
        get { settings.withLock { $0.metadata } }
        set { settings.withLock { $0.metadata = newValue } }
    }
    /// The index goes to the front of the file.
    public var shouldOptimizeForNetworkUse: Bool {
        get { settings.withLock { $0.shouldOptimizeForNetworkUse } }
        set { settings.withLock { $0.shouldOptimizeForNetworkUse = newValue } }
    }
    /// Bytes that the file has at most: it ends where no more fits.
    public var fileLengthLimit: Int64? {
        get { settings.withLock { $0.fileLengthLimit } }
        set { settings.withLock { $0.fileLengthLimit = newValue } }
    }

    // MARK: What can be asked before

    /// The presets by which an asset can be exported (`exportPresets(compatibleWith:)`): none where it can't be read.
    public static func presets(compatibleWith asset: Asset) async -> [ExportPreset] {
        await ExportPlanner(asset).compatible(asset)
    }

    /// Containers that the preset can be written to, the usual one first (`supportedFileTypes`).
    public var supportedContainers: [ContainerType] {
        preset.containers.compactMap { ContainerType.named($0) }
    }

    /// What the export will make, as far as it can be foretold: how long the output is, and about how many bytes
    /// (`estimatedOutputFileLengthInBytes`); nil where nobody can say.
    public func estimate(as container: ContainerType? = nil) async throws -> (
        duration: MediaTime, fileLength: Int64?
    ) {
        let planner = ExportPlanner(asset)
        guard let container = container ?? supportedContainers.first else {
            throw ExportError("no container")
        }
        let trial = planner.trial(of: asset, preset, container.name)
        let output = try await planner.plan(request(to: trial.destination, as: container)).task.output
        return (output.expectedDuration, output.expectedSize)
    }

    // MARK: The export

    /// Exports to a file, which must not be there; its extension says the container where that isn't named. Where the task is
    /// cancelled, so is the export.
    /// - Throws: `ExportError`, or `CancellationError` after a cancel; then nothing is left.
    @discardableResult
    public func export(to url: URL, as container: ContainerType? = nil) async throws -> OutputResult {
        try begin()
        do {
            let result = try await withTaskCancellationHandler {
                try await carryOut(url, container)
            } onCancel: {
                cancelExport()
            }
            state.withLock { $0.end(.completed) }
            return result
        } catch {
            state.withLock { $0.end(error is CancellationError ? .cancelled : .failed, error) }
            throw error
        }
    }

    /// Cancels the export, before or while it is under way; from any thread. While the source is looked into, that is heard when it was.
    public func cancelExport() {
        state.withLock { state in
            state.isCancelled = true
            if state.status == .unknown { state.end(.cancelled) }
            return state.runner
        }?.cancel()
    }

    /// Where it stands.
    public var status: SessionStatus { state.withLock { $0.status } }
    /// What made it fail.
    public var error: (any Error)? { state.withLock { $0.error } }
    /// How far it has come, from 0 to 1.
    public var progress: Double {
        let (status, runner) = state.withLock { ($0.status, $0.runner) }
        if status == .completed { return 1 }
        return runner?.snapshot().running.first?.fraction ?? 0
    }

    /// Status and progress from now to the end (`states(updateInterval:)`), which is told at once.
    public func states(updateInterval: Duration = .milliseconds(200)) -> AsyncStream<
        (
            status: SessionStatus, progress: Double
        )
    > {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task {
                while !Task.isCancelled {
                    let status = self.status
                    continuation.yield((status, self.progress))
                    if status != .unknown, status != .working { break }
                    await self.pause(updateInterval)
                }
                continuation.finish()
            }
            continuation.onTermination = { @Sendable _ in task.cancel() }
        }
    }

    /// Waits so long, or until the export has ended or the task is cancelled.
    private func pause(_ length: Duration) async {
        let pause = Task { () -> Void in try? await Task.sleep(for: length) }
        let isOver = state.withLock { state in
            state.pauses.insert(pause)
            return state.status != .unknown && state.status != .working
        }
        if isOver { pause.cancel() }
        await withTaskCancellationHandler {
            await pause.value
        } onCancel: {
            pause.cancel()
        }
        state.withLock { _ = $0.pauses.remove(pause) }
    }

    private func begin() throws {
        try state.withLock { state in
            if state.isCancelled { throw CancellationError() }
            guard state.status == .unknown else { throw MediaError.misuse("an export session is used once") }
            state.status = .working
        }
    }

    private func request(to path: String, as container: ContainerType?) throws -> ExportRequest {
        guard let container else {
            throw ExportError("the file's name has no extension that says a container")
        }
        guard preset.containers.contains(container.name) else {
            throw ExportError(
                "\(preset.name) is exported to \(preset.containers.joined(separator: ", ")), not to \(container.name)"
            )
        }
        var request = ExportRequest(
            source: asset.source, preset: preset, container: container.name, destination: path)
        let settings = settings.withLock { $0 }
        request.timing = asset.timing
        request.range = settings.timeRange
        request.metadata = settings.metadata.map { ($0.key, $0.value) }
        request.optimizesForNetwork = settings.shouldOptimizeForNetworkUse
        request.sizeLimit = settings.fileLengthLimit
        return request
    }

    private func carryOut(_ url: URL, _ container: ContainerType?) async throws -> OutputResult {
        guard url.isFileURL else { throw MediaError.misuse("only file URLs can be written") }
        if TemporaryFile.fingerprint(path: url.path) != nil {
            throw ExportError("the destination exists: \(url.path)")
        }
        var request = try request(
            to: url.path, as: container ?? ContainerType.forExtension(url.pathExtension))
        // What another session published is no output of this one.
        request.file = "\(ExportRequest.name) \(UUID().uuidString)"
        let planned = try await ExportPlanner(asset).plan(request)
        if state.withLock({ $0.isCancelled }) { throw CancellationError() }
        let runner = planned.runnable.runner(
            state: nil, performer: LocalPerformer(asset.environment), observer: NoObserver())
        let isCancelled = state.withLock { state in
            state.runner = runner
            return state.isCancelled
        }
        if isCancelled { runner.cancel() }
        switch await runner.run().first?.outcome {
        case .succeeded(let result)?:
            if let output = result.outputs.first { return output }
            throw ExportError(result.skipped.values.first ?? "nothing was made")
        case .failed(let failure)?: throw ExportError(failure)
        case .skipped(let why)?, .notRun(let why)?:
            if state.withLock({ $0.isCancelled }) { throw CancellationError() }
            throw ExportError(why)
        case .upToDate?: throw ExportError("the file is there already")
        case .cancelled?, nil: throw CancellationError()
        }
    }
}

/// Nobody who wants to hear of jobs.
struct NoObserver: RunObserver {
    func jobStarted(_ plan: JobPlan) {}
    func jobFinished(_ record: JobRecord) {}
}
