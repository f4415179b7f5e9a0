internal import JobPlan
internal import JobRun
public import JobSpec
public import LibAV
public import Media

/// What a preset means for an asset: settings of a reader and a writer, to be changed and used (AVFoundation's
/// `AVOutputSettingsAssistant`).
public struct OutputSettingsAssistant: Sendable {
    /// One track of the output.
    public struct Track: Sendable {
        /// The asset's track that it is made of.
        public let source: AssetTrack
        /// In what form the track is read.
        public var reader: ReaderOutputSettings
        /// How it is written.
        public var writer: WriterInputSettings
        /// How frames are to be rotated for display.
        public var transform: DisplayTransform?
        /// Tags of the track.
        public var metadata: [MetadataEntry]
        /// Dispositions by libav's names.
        public var disposition: Set<String>

        /// An output with these settings, for a reader.
        public func makeOutput() -> AssetReaderTrackOutput {
            let output = AssetReaderTrackOutput(track: source, settings: reader)
            // What is counted finer than the source's clock is counted in samples.
            if case .passthrough(_, let unit) = writer, unit != source.timeBase {
                output.countsSamples = true
            }
            return output
        }

        /// An input with these settings, for a writer.
        public func makeInput() -> AssetWriterInput {
            let input = AssetWriterInput(mediaType: source.mediaType, settings: writer)
            input.nominalFrameRate = source.nominalFrameRate
            input.transform = transform
            input.metadata = metadata
            input.disposition = disposition
            return input
        }
    }

    /// The container.
    public let container: ContainerType
    /// The output's tracks in order.
    public var tracks: [Track]
    /// The output's tags.
    public var metadata: [MetadataEntry]
    /// The output's chapters.
    public var chapters: [AssetChapter]

    /// Finds out what a preset means for an asset; `container` is the preset's usual one where it is nil.
    /// - Throws: `ExportError` where the asset can't be exported so.
    public init(preset: ExportPreset, asset: Asset, container: ContainerType? = nil) async throws {
        let name = container?.name ?? preset.containers.first ?? "mp4"
        guard preset.containers.contains(name), let type = ContainerType.named(name) else {
            throw ExportError("\(preset.name) is not exported to \(name)")
        }
        let task = try await Self.plan(preset, asset, name)
        self.container = type
        metadata = task.output.metadata
        chapters = task.output.chapters
        let known = try await asset.load(.tracks)
        tracks = try task.output.tracks.map { planned in
            guard let source = known.first(where: { $0.index == planned.source.index }) else {
                throw ExportError("track \(planned.source.index) is gone")
            }
            let settings = try TrackSettings(planned, of: source, from: task.input, in: type)
            return Track(
                source: source, reader: settings.reader, writer: settings.writer,
                transform: planned.transform, metadata: planned.metadata,
                disposition: Set(planned.disposition))
        }
    }

    private static func plan(
        _ preset: ExportPreset, _ asset: Asset, _ container: String
    ) async throws -> OutputTask {
        let planner = ExportPlanner(asset)
        return try await planner.plan(planner.trial(of: asset, preset, container)).task
    }

    /// How frames that a program makes are encoded by a preset. Times are counted in `timeBase`, in frames where it is nil.
    /// - Throws: `ExportError` where the preset encodes no video, or not in this size.
    public static func videoSettings(
        preset: ExportPreset, size: PixelSize, frameRate: Rational, timeBase: Rational? = nil
    ) async throws -> WriterInputSettings {
        guard (1...16_384).contains(size.width), (1...16_384).contains(size.height), frameRate.isPositive
        else {
            throw ExportError("there are no frames of \(size), \(frameRate) a second")
        }
        let pattern = TestPattern(
            name: "black", width: size.width, height: size.height, frameRate: frameRate,
            duration: MediaTime(value: 10, timescale: 1), toneFrequency: nil)
        let asset = Asset(.pattern(pattern), environment: MediaEnvironment())
        let task = try await plan(preset, asset, preset.containers.first ?? "mp4")
        for track in task.output.tracks where track.source.mediaType == .video {
            guard case .encode(var encoding) = track.action else { continue }
            if let timeBase { encoding.encoder.timeBase = timeBase }
            return .encode(encoding.encoder)
        }
        throw ExportError("\(preset.name) encodes no video")
    }
}
