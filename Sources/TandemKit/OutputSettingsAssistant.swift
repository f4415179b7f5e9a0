internal import JobPlan
internal import JobRun
public import JobSpec
public import LibAV
public import Media

/// Settings of reader and writer that correspond to a preset for an asset; they can be changed before use
/// (AVFoundation's `AVOutputSettingsAssistant`).
public struct OutputSettingsAssistant: Sendable {
    /// One track of the output.
    public struct Track: Sendable {
        /// The asset's track that this one is created from.
        public let source: AssetTrack
        /// Settings for reading the track.
        public var reader: ReaderOutputSettings
        /// Settings for writing the track.
        public var writer: WriterInputSettings
        /// The display matrix; nil for none.
        public var transform: DisplayTransform?
        /// Metadata tags of the track.
        public var metadata: [MetadataEntry]
        /// Dispositions by libav's names.
        public var disposition: Set<String>

        /// Returns an output with these settings, for a reader.
        public func makeOutput() -> AssetReaderTrackOutput {
            let output = AssetReaderTrackOutput(track: source, settings: reader)
            // A time base that differs from the source's is that of samples.
            if case .passthrough(_, let unit) = writer, unit != source.timeBase {
                output.countsSamples = true
            }
            return output
        }

        /// Returns an input with these settings, for a writer.
        public func makeInput() -> AssetWriterInput {
            let input = AssetWriterInput(mediaType: source.mediaType, settings: writer)
            input.nominalFrameRate = source.nominalFrameRate
            input.transform = transform
            input.metadata = metadata
            input.disposition = disposition
            return input
        }
    }

    /// The container that the settings are for.
    public let container: ContainerType
    /// The output's tracks in order.
    public var tracks: [Track]
    /// Metadata tags of the output.
    public var metadata: [MetadataEntry]
    /// Chapters of the output.
    public var chapters: [AssetChapter]

    /// Determines the settings of a preset for an asset. `container` defaults to the preset's first one.
    /// - Throws: `ExportError` if the asset can't be exported with the preset.
    public init(preset: ExportPreset, asset: Asset, container: ContainerType? = nil) async throws {
        let name = container?.name ?? preset.containers.first ?? "mp4"
        guard preset.containers.contains(name), let type = ContainerType.named(name) else {
            throw ExportError("\(preset.name) doesn't support \(name)")
        }
        let task = try await Self.plan(preset, asset, name)
        self.container = type
        metadata = task.output.metadata
        chapters = task.output.chapters
        let known = try await asset.load(.tracks)
        tracks = try task.output.tracks.map { planned in
            guard let source = known.first(where: { $0.index == planned.source.index }) else {
                throw ExportError("track \(planned.source.index) no longer exists")
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
        return try await planner.plan(planner.draftRequest(of: asset, preset, container)).task
    }

    /// Returns a preset's encoder settings for frames that a program generates. `timeBase` is the unit of their
    /// timestamps; nil for the frame duration.
    /// - Throws: `ExportError` if the preset encodes no video, or doesn't support the size.
    public static func videoSettings(
        preset: ExportPreset, size: PixelSize, frameRate: Rational, timeBase: Rational? = nil
    ) async throws -> WriterInputSettings {
        guard (1...16_384).contains(size.width), (1...16_384).contains(size.height), frameRate.isPositive
        else {
            throw ExportError("frames of \(size) at \(frameRate) frames/s are not supported")
        }
        let pattern = TestPattern(
            name: "black", width: size.width, height: size.height, frameRate: frameRate,
            duration: MediaTime(value: 10, timescale: 1), toneFrequency: nil)
        let asset = Asset(.pattern(pattern), environment: MediaEnvironment())
        let task = try await plan(preset, asset, preset.containers.first ?? "mp4")
        for track in task.output.tracks where track.source.mediaType == .video {
            guard case .encode(var encoding) = track.action else { continue }
            let encoded = PixelSize(width: encoding.encoder.width, height: encoding.encoder.height)
            guard encoded == size else {
                throw ExportError(
                    "\(preset.name) encodes frames of \(size) as \(encoded); expected frames of that size, or another preset"
                )
            }
            if let timeBase { encoding.encoder.timeBase = timeBase }
            return .encode(encoding.encoder)
        }
        throw ExportError("\(preset.name) doesn't encode video")
    }
}
