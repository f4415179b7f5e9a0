internal import Dispatch
public import FoundationEssentials
internal import JobPlan
public import JobSpec
internal import LibAV
internal import Locking
public import Media
internal import Publishing

/// An export of an asset to a file with a preset (AVFoundation's `AVAssetExportSession`). A session can be used once.
///
/// The export is equivalent to a job file with `export`: the source is probed first, an existing destination is an
/// error before the source is read, and the output is complete or absent. Sessions are thread-safe.
public final class ExportSession: Sendable {
    /// The asset to export.
    public let asset: Asset
    /// The preset, which determines codecs and sizes.
    public let preset: ExportPreset

    private struct State: Sendable {
        var status = SessionStatus.unknown
        var error: (any Error)?
        var isCancelled = false
        var planner: ExportPlanner?
        var execution: ExportExecution?
        /// Tasks that delay the next element of `states`.
        var pauses: Set<Task<Void, Never>> = []

        mutating func end(_ status: SessionStatus, _ error: (any Error)? = nil) {
            (self.status, self.error, execution, planner) = (status, error, nil, nil)
            for pause in pauses { pause.cancel() }
        }
    }

    private struct Settings: Sendable {
        var timeRange: TimeRange?
        var videoComposition: VideoComposition?
        var audioMix: AudioMix?
        var metadata: [MetadataEntry] = []
        var shouldOptimizeForNetworkUse = false
        var fileLengthLimit: Int64?
    }

    private let state = Guarded(State())
    private let settings = Guarded(Settings())

    /// Creates a session; settings can be changed until the export begins.
    public init(asset: Asset, preset: ExportPreset) {
        self.asset = asset
        self.preset = preset
    }

    // MARK: Settings (set before the export begins)

    /// Range of the asset to export; nil for the whole asset.
    public var timeRange: TimeRange? {
        get { settings.withLock { $0.timeRange } }
        set { settings.withLock { $0.timeRange = newValue } }
    }
    /// Composition of the asset's video tracks, which the preset then encodes; nil for the preset's selection. A preset
    /// that limits the size may scale the composed frames.
    public var videoComposition: VideoComposition? {
        get { settings.withLock { $0.videoComposition } }
        set { settings.withLock { $0.videoComposition = newValue } }
    }
    /// Mix of the asset's audio tracks into one, which the preset then encodes; nil for the preset's selection. Times of
    /// volumes count from the start of `timeRange`.
    public var audioMix: AudioMix? {
        get { settings.withLock { $0.audioMix } }
        set { settings.withLock { $0.audioMix = newValue } }
    }
    /// Tags to write in addition to the source's.
    public var metadata: [MetadataEntry] {
        get { settings.withLock { $0.metadata } }
        set { settings.withLock { $0.metadata = newValue } }
    }
    /// Whether the index is moved to the front of the file. Default: false.
    public var shouldOptimizeForNetworkUse: Bool {
        get { settings.withLock { $0.shouldOptimizeForNetworkUse } }
        set { settings.withLock { $0.shouldOptimizeForNetworkUse = newValue } }
    }
    /// Maximum size of the file in bytes; all tracks end when it is reached. Nil for no limit.
    public var fileLengthLimit: Int64? {
        get { settings.withLock { $0.fileLengthLimit } }
        set { settings.withLock { $0.fileLengthLimit = newValue } }
    }

    // MARK: Queries before the export

    /// Returns the presets with which an asset can be exported (`exportPresets(compatibleWith:)`); none if it can't
    /// be read, or if the task is cancelled.
    public static func presets(compatibleWith asset: Asset) async -> [ExportPreset] {
        await ExportPlanner(asset).compatiblePresets()
    }

    /// Containers that the preset supports, its default first (`supportedFileTypes`).
    public var supportedContainers: [ContainerType] {
        preset.containers.compactMap { ContainerType.named($0) }
    }

    /// Returns the predicted duration and approximate size of the output (`estimatedOutputFileLengthInBytes`); the
    /// size is nil if it can't be predicted.
    /// - Throws: `ExportError`, or `CancellationError` if the task is cancelled.
    public func estimate(as container: ContainerType? = nil) async throws -> (
        duration: MediaTime, fileLength: Int64?
    ) {
        let planner = ExportPlanner(asset)
        guard let container = container ?? supportedContainers.first else {
            throw ExportError(.unsupportedFormat, "no container supports the preset")
        }
        let request = try request(
            to: planner.draftRequest(preset, container.name).destination, as: container)
        try await checkCombinations(planner)
        let output = try await planner.plan(request).task.output
        return (output.expectedDuration, output.expectedSize)
    }

    // MARK: Export

    /// Exports to a file, which must not exist. If `container` is nil, the extension determines it. Cancelling the task
    /// cancels the export. If the predicted size exceeds the free space, the export fails before the source is read.
    /// - Throws: `ExportError`, or `CancellationError` after a cancellation. No output remains.
    @discardableResult
    public func export(to url: URL, as container: ContainerType? = nil) async throws -> ExportResult {
        try begin()
        do {
            let result = try await withTaskCancellationHandler {
                try await perform(url, container)
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

    /// Cancels the export, before or while it runs. Thread-safe.
    public func cancelExport() {
        let (planner, execution) = state.withLock { state in
            state.isCancelled = true
            if state.status == .unknown { state.end(.cancelled) }
            return (state.planner, state.execution)
        }
        planner?.cancel()
        execution?.cancel()
    }

    /// State of the export; `unknown` until it begins.
    public var status: SessionStatus { state.withLock { $0.status } }
    /// The error of a failed export, or `CancellationError` if the export was cancelled while it ran; nil otherwise.
    public var error: (any Error)? { state.withLock { $0.error } }
    /// Fraction of the export that is complete, from 0 to 1.
    public var progress: Double {
        let (status, execution) = state.withLock { ($0.status, $0.execution) }
        if status == .completed { return 1 }
        return execution?.progress ?? 0
    }

    /// Returns a stream of status and progress (`states(updateInterval:)`). The end of the export is reported
    /// immediately.
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

    /// Waits for a duration, or until the export has ended or the task is cancelled.
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
            guard state.status == .unknown else {
                throw MediaError.misuse("an export session can only be used once")
            }
            state.status = .working
        }
    }

    private func request(to path: String, as container: ContainerType?) throws -> ExportRequest {
        guard let container else {
            throw ExportError(.unsupportedFormat, "the file name has no extension of a known container")
        }
        guard preset.containers.contains(container.name) else {
            throw ExportError(
                .unsupportedFormat,
                "\(preset.name) doesn't support \(container.name); expected \(preset.containers.joined(separator: ", "))"
            )
        }
        var request = ExportRequest(
            source: asset.source, preset: preset, container: container.name, destination: path)
        let settings = settings.withLock { $0 }
        request.timing = asset.timing
        request.range = settings.timeRange
        request.videoComposition = settings.videoComposition
        request.audioMix = settings.audioMix
        request.hidesFramesOfCuts = true
        request.metadata = settings.metadata.map { ($0.key, $0.value) }
        request.optimizesForNetwork = settings.shouldOptimizeForNetworkUse
        request.sizeLimit = settings.fileLengthLimit
        return request
    }

    /// Throws if the composition or the mix don't fit the asset or the preset.
    private func checkCombinations(_ planner: ExportPlanner) async throws {
        let settings = settings.withLock { $0 }
        guard settings.videoComposition != nil || settings.audioMix != nil else { return }
        let tracks = try await planner.tracks()
        func check(_ property: String, _ type: MediaType) throws {
            guard preset.encodes(type) else {
                throw ExportError(
                    .invalidSettings,
                    "\(preset.name) doesn't encode \(type.rawValue), which `\(property)` requires")
            }
        }
        if let composition = settings.videoComposition {
            try check("videoComposition", .video)
            if case .composition = asset.source {
                throw MediaError.invalidArgument(
                    "`videoComposition` doesn't apply to an asset that is a composition")
            }
            _ = try AssetReaderVideoCompositionOutput(tracks: tracks, videoComposition: composition)
        }
        if let mix = settings.audioMix {
            try check("audioMix", .audio)
            guard (1...768_000).contains(mix.sampleRate) else {
                throw ExportError(
                    .invalidSettings,
                    "the sample rate of `audioMix` is \(mix.sampleRate); expected 1 to 768000 Hz")
            }
            guard Set(mix.inputs.map(\.track)).count == mix.inputs.count else {
                throw ExportError(.invalidSettings, "a track occurs twice in `audioMix`; expected it once")
            }
            _ = try AssetReaderAudioMixOutput(
                tracks: tracks, audioMix: mix, settings: AudioOutputSettings())
        }
    }

    private func perform(_ url: URL, _ container: ContainerType?) async throws -> ExportResult {
        guard url.isFileURL else { throw MediaError.invalidArgument("the URL must be a file URL") }
        if TemporaryFile.fingerprint(path: url.path) != nil {
            throw ExportError(.destinationExists, "the destination exists: \(url.path)")
        }
        let folder = url.deletingLastPathComponent().path
        guard FileManager.default.fileExists(atPath: folder + "/") else {
            throw ExportError(.destinationNotWritable, "the folder \(folder) doesn't exist")
        }
        var request = try request(
            to: url.path, as: container ?? ContainerType.forExtension(url.pathExtension))
        // With a unique name, outputs of other sessions aren't mistaken for this session's.
        request.file = "\(ExportRequest.name) \(UUID().uuidString)"
        let planner = ExportPlanner(asset)
        let wasCancelled = state.withLock { state in
            state.planner = planner
            return state.isCancelled
        }
        if wasCancelled { throw CancellationError() }
        try await checkCombinations(planner)
        let planned = try await planner.plan(request)
        if state.withLock({ $0.isCancelled }) { throw CancellationError() }
        let execution = ExportExecution(planned.job, in: asset.environment)
        let isCancelled = state.withLock { state in
            state.execution = execution
            return state.isCancelled
        }
        if isCancelled { execution.cancel() }
        return try await execution.run()
    }
}
