public import LibAV

/// Properties of an existing or predicted track that plans store and compare. `AssetTrack` adds the properties that
/// only readers use.
public struct TrackDescription: Codable, Hashable, Sendable {
    /// Index of the track in the file.
    public var index: Int
    /// Track ID of the container.
    public var id: Int
    /// Media type of the samples.
    public var mediaType: MediaType
    /// Whether the track is cover art rather than video.
    public var isAttachedPicture: Bool
    /// Codec by libavcodec's name.
    public var codec: String
    /// Whether this build has a decoder for the codec.
    public var isDecodable: Bool
    /// Whether compression is lossless.
    public var isLossless: Bool
    /// Range on the asset's time line.
    public var timeRange: TimeRange
    /// Whether `timeRange` was measured, or comes from the container's index.
    public var isExact: Bool
    /// Whether the end of `timeRange` is specific to the track; otherwise it is the end of the file.
    public var hasOwnDuration: Bool
    /// Number of presented samples; nil if unknown.
    public var sampleCount: Int?
    /// Time base of the samples' times.
    public var timeBase: Rational
    /// Width of coded frames in pixels; 0 for audio.
    public var width: Int
    /// Height of coded frames in pixels; 0 for audio.
    public var height: Int
    /// Pixel format; `none` for audio.
    public var pixelFormat: PixelFormat
    /// Sample aspect ratio; nil if unspecified (square).
    public var pixelAspectRatio: Rational?
    /// Primaries, transfer, matrix and range.
    public var color: ColorDescription
    /// Dolby Vision profile; nil for other video.
    public var dolbyVisionProfile: Int?
    /// Whether the video is interlaced; false if unknown.
    public var isInterlaced: Bool
    /// Field order; nil for progressive frames, and if unknown.
    public var fieldOrder: FieldOrder?
    /// Average frame rate in frames per second; nil if unknown.
    public var frameRate: Rational?
    /// Whether all frames have the same duration.
    public var hasConstantFrameRate: Bool
    /// Rotation and reflection of frames for display; nil if the container declares none.
    public var transform: DisplayTransform?
    /// The visible part of the frame (`clap`); nil for the whole frame.
    public var cleanAperture: CleanAperture?
    /// Sample rate in Hz.
    public var sampleRate: Int32
    /// Sample format; `none` for video.
    public var sampleFormat: SampleFormat
    /// Channel layout; nil for video.
    public var channelLayout: ChannelLayout?
    /// Language code of the container; nil if unspecified.
    public var language: String?
    /// Title from the container; nil if there is none.
    public var title: String?
    /// Tags of the track; empty in containers that store the file's tags in a stream (Ogg).
    public var tags: [MetadataEntry]
    /// File name of an attachment; nil for other tracks.
    public var fileName: String?
    /// Whether the track's samples are timecodes.
    public var isTimecode: Bool
    /// Dispositions by libavformat's names.
    public var disposition: [String]
    /// Kinds of global side data, including the states below (`hiddenBeginning`, `hiddenInside`, `unordered`,
    /// `changingHeaders`, `lostTimes`, `lateKeyframe`) and `secondView`.
    public var sideData: [String]
    /// State: the start of the track is decoded but not presented.
    public static let hiddenBeginning = "hidden beginning"
    /// State: presented frames may refer to frames that an edit list hides.
    public static let hiddenInside = "hidden inside"
    /// State: decoding times don't increase, or exceed presentation times.
    public static let unordered = "unordered times"
    /// State: some packets require other headers than the track's, as in concatenated files.
    public static let changingHeaders = "changing headers"
    /// State: frames are reordered, but packets have only decoding times.
    public static let lostTimes = "lost presentation times"
    /// State: the track begins before its first keyframe, so that frames with missing references are dropped.
    public static let lateKeyframe = "late first keyframe"
    /// The second view of MV-HEVC, whose configuration (`lhvC`) libavformat neither reads nor writes; treated
    /// as side data.
    public static let secondView = "second view"
    /// Kinds of side data that can be kept or dropped: all but the states.
    public var carriedKinds: [String] {
        let states = [
            Self.hiddenBeginning, Self.hiddenInside, Self.unordered, Self.changingHeaders, Self.lostTimes,
            Self.lateKeyframe,
        ]
        return sideData.filter { !states.contains($0) }
    }
    /// Number of samples that an edit list hides in the first presented packet; nil if none.
    public var hiddenPartOfPacket: Int?
    /// Bits per second as the container declares it; 0 if unknown.
    public var bitRate: Int64

    /// Whether the time base can represent the position of every audio sample.
    package var countsWholeSamples: Bool {
        timeBase.num == 1 && sampleRate > 0 && timeBase.den.isMultiple(of: sampleRate)
    }

    /// Whether packets have a separate alpha plane (VP8 and VP9 in Matroska).
    public var hasSeparateAlpha: Bool { tags.contains(where: \.isSeparateAlphaTag) }
}

extension TrackDescription {
    /// Creates a description from a stream's headers, with an empty `timeRange`. Out-of-range sizes and rates are
    /// clamped.
    init(_ stream: StreamInfo, _ format: FormatDescription, container: SourceContainer) {
        let parameters = format.parameters
        let tags = stream.metadata
        self.init(
            index: stream.index, id: stream.id, mediaType: parameters.mediaType,
            isAttachedPicture: stream.isAttachedPicture, codec: format.codec,
            isDecodable: parameters.isDecodable, isLossless: parameters.isLossless,
            timeRange: TimeRange(start: .zero, duration: .zero),
            isExact: false, hasOwnDuration: false, timeBase: stream.timeBase,
            width: min(1 << 20, max(0, format.width)), height: min(1 << 20, max(0, format.height)),
            pixelFormat: format.pixelFormat, pixelAspectRatio: format.pixelAspectRatio, color: format.color,
            dolbyVisionProfile: stream.sideData.first { $0.kind == "dovi" }.flatMap {
                // The profile is in the third byte of the configuration record.
                $0.bytes.count > 2 ? Int($0.bytes[2]) : nil
            },
            isInterlaced: format.isInterlaced == true, fieldOrder: format.fieldOrder,
            hasConstantFrameRate: container.hasConstantFrameRate,
            transform: stream.displayMatrix.flatMap { DisplayTransform(matrix: $0) },
            cleanAperture: format.cleanAperture, sampleRate: max(0, format.sampleRate),
            sampleFormat: format.sampleFormat, channelLayout: format.channelLayout,
            language: tags.first { $0.key == "language" && $0.value != "und" }?.value,
            tags: container.hasTagsInStream ? [] : tags,
            fileName: parameters.mediaType == .attachment
                ? tags.first { $0.key == "filename" }?.value : nil,
            isTimecode: parameters.mediaType == .data
                && tags.contains { $0.key.lowercased() == "timecode" },
            disposition: stream.disposition.sorted(),
            sideData: stream.sideData.map(\.kind).filter { $0 != "displaymatrix" }, bitRate: format.bitRate)
    }
}
