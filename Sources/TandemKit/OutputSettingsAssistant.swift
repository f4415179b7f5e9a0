internal import Errors
internal import JobPlan
public import JobSpec
public import LibAV
public import Media
internal import PlanWork

/// Reader and writer settings that correspond to a preset for an asset; they can be changed before use (AVFoundation's
/// `AVOutputSettingsAssistant`).
public struct OutputSettingsAssistant: Sendable {
    /// Settings of one track of the output.
    public struct Track: Sendable {
        /// The asset's track from which this one is created.
        public let source: AssetTrack
        /// Kind and conversion of the samples that the reader vends.
        public var reader: ReaderOutputSettings
        /// Encoder configuration, or format of copied packets.
        public var writer: WriterInputSettings
        /// Rotation of the frames; nil for none.
        public var transform: DisplayTransform?
        /// Metadata tags of the track.
        public var metadata: [MetadataEntry]
        /// Dispositions by libavformat's names.
        public var disposition: Set<String>

        /// Creates a reader output with these settings.
        public func makeOutput() -> AssetReaderTrackOutput {
            let output = AssetReaderTrackOutput(track: source, settings: reader)
            // If the time base differs from the source's, it is the duration of a sample.
            if case .passthrough(_, let unit) = writer, unit != source.timeBase {
                output.countsSamples = true
            }
            return output
        }

        /// Creates a writer input with these settings.
        public func makeInput() -> AssetWriterInput {
            let input = AssetWriterInput(mediaType: source.mediaType, settings: writer)
            input.nominalFrameRate = source.nominalFrameRate
            input.transform = transform
            input.metadata = metadata
            input.disposition = disposition
            return input
        }
    }

    /// The preset that determines codecs, rate control and maximum size.
    public let preset: ExportPreset
    /// The container that the settings are for (`outputFileType`).
    public let container: ContainerType
    /// Format of the frames for which `videoSettings()` are determined; nil if there is no video.
    public var sourceVideoFormat: FormatDescription?
    /// Format of the audio for which `audioSettings()` are determined; nil if there is no audio.
    public var sourceAudioFormat: FormatDescription?
    /// Average duration of a source's frames. Default: that of the asset, otherwise 1/30 s.
    public var sourceVideoAverageFrameDuration = MediaTime(value: 1, timescale: 30)
    /// Shortest duration of a source's frames: encoded times are at least as precise. Default: that of the asset if its
    /// frame rate is constant, otherwise 1/30 s.
    public var sourceVideoMinFrameDuration = MediaTime(value: 1, timescale: 30)
    /// The output's tracks in order.
    public var tracks: [Track]
    /// Metadata tags of the output.
    public var metadata: [MetadataEntry]
    /// Chapters of the output.
    public var chapters: [AssetChapter]

    /// Determines the settings of a preset for an asset. `container` defaults to the preset's first one.
    /// - Throws: `ExportError` if the asset can't be exported with the preset.
    public init(preset: ExportPreset, asset: Asset, container: ContainerType? = nil) async throws {
        let type = try Self.container(container, of: preset)
        let task = try await Self.plan(preset, asset, type.name)
        self.container = type
        self.preset = preset
        metadata = task.output.metadata
        chapters = task.output.chapters
        let known = try await asset.load(.tracks)
        tracks = try task.output.tracks.map { planned in
            guard let source = known.first(where: { $0.index == planned.source.index }) else {
                throw ExportError(.noSuchTrack, "track \(planned.source.index) no longer exists")
            }
            let settings = try TrackSettings(planned, of: source, from: task.input, in: type)
            return Track(
                source: source, reader: settings.reader, writer: settings.writer,
                transform: planned.transform, metadata: planned.metadata,
                disposition: Set(planned.disposition))
        }
        let video = known.first { $0.mediaType == .video && !$0.isAttachedPicture }
        sourceVideoFormat = video?.format
        sourceAudioFormat = known.first { $0.mediaType == .audio }?.format
        if let rate = video?.nominalFrameRate, rate.isPositive {
            sourceVideoAverageFrameDuration = MediaTime(ticks: 1, timeBase: rate.inverted)
            if video?.format.constantFrameRate != nil {
                sourceVideoMinFrameDuration = sourceVideoAverageFrameDuration
            }
        }
    }

    /// Creates an assistant without an asset, for frames and audio that a program creates
    /// (`AVOutputSettingsAssistant(preset:)`). Set the source formats, then read `videoSettings()` and
    /// `audioSettings()`. `container` defaults to the preset's first one.
    /// - Throws: `ExportError` if the preset doesn't support the container.
    public init(preset: ExportPreset, container: ContainerType? = nil) throws {
        self.container = try Self.container(container, of: preset)
        self.preset = preset
        (tracks, metadata, chapters) = ([], [], [])
    }

    private static func container(
        _ container: ContainerType?, of preset: ExportPreset
    ) throws -> ContainerType {
        let name = container?.name ?? preset.containers.first ?? ""
        guard preset.containers.contains(name), let type = ContainerType.named(name) else {
            throw ExportError(
                .unsupportedFormat,
                "\(preset.name) doesn't support \(name); expected \(preset.containers.joined(separator: ", "))"
            )
        }
        return type
    }

    // MARK: Settings for generated media

    /// Returns the settings with which the preset encodes video of the source's format; the size may be smaller than
    /// that of the source. Nil without a source format, and if the preset has no video or copies it.
    /// - Throws: `ExportError` if the preset doesn't support the format, `CancellationError` if the task is cancelled.
    public func videoSettings() async throws -> WriterInputSettings? {
        guard let sourceVideoFormat else { return nil }
        let shortest = sourceVideoMinFrameDuration
        guard shortest > .zero, sourceVideoAverageFrameDuration >= shortest,
            sourceVideoAverageFrameDuration <= MediaTime(value: 100, timescale: 1)
        else {
            throw ExportError(
                .invalidSettings,
                "frame durations are \(shortest) s and on average \(sourceVideoAverageFrameDuration) s; expected more than 0 s, and an average from the minimum to 100 s"
            )
        }
        let prober = FormatProber(
            video: sourceVideoFormat, frameDuration: sourceVideoAverageFrameDuration)
        guard var configuration = try await encoding(of: .video, prober) else { return nil }
        configuration.timeBase = VideoSettings.timeBase(ofFrames: shortest)
        return .encode(configuration)
    }

    /// Returns the settings with which the preset encodes audio of the source's format; the sample rate and the
    /// layout are changed to supported ones. Nil without a source format, and if the preset has no audio or copies it.
    /// - Throws: `ExportError` if the preset doesn't support the format, `CancellationError` if the task is cancelled.
    public func audioSettings() async throws -> WriterInputSettings? {
        guard let sourceAudioFormat else { return nil }
        return try await encoding(of: .audio, FormatProber(audio: sourceAudioFormat)).map { .encode($0) }
    }

    private func encoding(of type: MediaType, _ prober: FormatProber) async throws -> EncoderConfiguration? {
        guard preset.encodes(type) else { return nil }
        let asset = Asset(.file(FormatProber.location), environment: MediaEnvironment())
        let planner = ExportPlanner(asset, prober: prober)
        let task = try await planner.plan(planner.draftRequest(preset, container.name)).task
        for track in task.output.tracks where track.source.mediaType == type {
            if case .encode(let encoding) = track.action { return encoding.encoder }
        }
        return nil
    }

    private static func plan(
        _ preset: ExportPreset, _ asset: Asset, _ container: String
    ) async throws -> OutputTask {
        let planner = ExportPlanner(asset)
        return try await planner.plan(planner.draftRequest(preset, container)).task
    }

    /// Returns a preset's encoder settings for frames generated by the caller. `timeBase` is the time base of their
    /// timestamps; nil for the frame duration.
    public static func videoSettings(
        preset: ExportPreset, size: PixelSize, frameRate: Rational, timeBase: Rational? = nil
    ) async throws -> WriterInputSettings {
        guard (1...16_384).contains(size.width), (1...16_384).contains(size.height), frameRate.isPositive
        else {
            throw ExportError(
                .invalidSettings, "frames of \(size) at \(frameRate) frames/s are not supported")
        }
        var assistant = try OutputSettingsAssistant(preset: preset)
        assistant.sourceVideoFormat = try .frames(size: size)
        let frame = MediaTime(ticks: 1, timeBase: frameRate.inverted)
        (assistant.sourceVideoAverageFrameDuration, assistant.sourceVideoMinFrameDuration) = (frame, frame)
        guard case .encode(var configuration) = try await assistant.videoSettings() else {
            throw ExportError(.unsupportedFormat, "\(preset.name) doesn't encode video")
        }
        let encoded = PixelSize(width: configuration.width, height: configuration.height)
        guard encoded == size else {
            throw ExportError(
                .invalidSettings,
                "\(preset.name) encodes frames of \(size) as \(encoded); expected frames of that size, or another preset"
            )
        }
        configuration.timeBase = timeBase ?? frameRate.inverted
        return .encode(configuration)
    }
}
