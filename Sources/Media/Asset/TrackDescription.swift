public import LibAV

/// Everything that a plan must know of a track: found in a file, or foretold of one that a job makes. It is a value that can be kept and
/// compared; an `AssetTrack` is this and what only a reader needs.
public struct TrackDescription: Codable, Hashable, Sendable {
    /// Its index in the file.
    public var index: Int
    /// The container's own number of it.
    public var id: Int
    /// Its kind.
    public var mediaType: MediaType
    /// A cover, not moving frames.
    public var isAttachedPicture: Bool
    /// The codec's libav name.
    public var codec: String
    /// This build can decode it.
    public var isDecodable: Bool
    /// Compressed without loss.
    public var isLossless: Bool
    /// Where it lies on the asset's time line.
    public var timeRange: TimeRange
    /// `timeRange` stands in an index or was measured.
    public var isExact: Bool
    /// Its end is its own, not the file's.
    public var hasOwnDuration: Bool
    /// Samples that are shown, where known.
    public var sampleCount: Int?
    /// The unit of its times.
    public var timeBase: Rational
    /// Coded width.
    public var width: Int
    /// Coded height.
    public var height: Int
    /// Pixel format.
    public var pixelFormat: PixelFormat
    /// Shape of a pixel.
    public var pixelAspectRatio: Rational?
    /// What the numbers of the frame mean.
    public var color: ColorDescription
    /// The profile of its Dolby Vision.
    public var dolbyVisionProfile: Int?
    /// Coded as fields.
    public var isInterlaced: Bool
    /// Which of two fields comes first.
    public var fieldOrder: FieldOrder?
    /// Average frames a second.
    public var frameRate: Rational?
    /// Every frame lasts exactly as long as every other.
    public var hasConstantFrameRate: Bool
    /// How to rotate its frames.
    public var transform: DisplayTransform?
    /// The part that is meant to be seen.
    public var cleanAperture: CleanAperture?
    /// Samples a second.
    public var sampleRate: Int32
    /// Sample format.
    public var sampleFormat: SampleFormat
    /// Channels and their places.
    public var channelLayout: ChannelLayout?
    /// Language as the container says.
    public var language: String?
    /// The track's name.
    public var title: String?
    /// Its tags; empty where the container's own are those of its one track (Ogg).
    public var tags: [MetadataEntry]
    /// The name of the file that an attachment is.
    public var fileName: String?
    /// Its samples count frames: a track of timecode.
    public var isTimecode: Bool
    /// Dispositions by libav's names.
    public var disposition: [String]
    /// Kinds of global side data, `hiddenBeginning`, `hiddenInside`, `unordered`, `changingHeaders`, `lostTimes`,
    /// `lateKeyframe` and `secondView` among them.
    public var sideData: [String]
    /// Something is decoded of its beginning that is not heard or shown.
    public static let hiddenBeginning = "hidden beginning"
    /// What is shown needs frames that an edit list hides.
    public static let hiddenInside = "hidden inside"
    /// Decoding times don't increase.
    public static let unordered = "unordered times"
    /// Files were joined: some packets stand under other headers.
    public static let changingHeaders = "changing headers"
    /// Frames are reordered, and packets have decoding times alone.
    public static let lostTimes = "lost presentation times"
    /// The track begins before its first keyframe: frames that refer to what is missing are dropped.
    public static let lateKeyframe = "late first keyframe"
    /// The second view of MV-HEVC, whose configuration (`lhvC`) libavformat neither reads nor writes. It counts as side data.
    public static let secondView = "second view"
    /// Kinds of side data that can go along or be left.
    public var carriedKinds: [String] {
        let states = [
            Self.hiddenBeginning, Self.hiddenInside, Self.unordered, Self.changingHeaders, Self.lostTimes,
            Self.lateKeyframe,
        ]
        return sideData.filter { !states.contains($0) }
    }
    /// Samples of the packet that is heard first which an edit list hides.
    public var hiddenPartOfPacket: Int?
    /// Bits a second as the container says, 0 where unknown.
    public var bitRate: Int64

    /// Each sample of its audio begins at one of its times.
    package var countsWholeSamples: Bool {
        timeBase.num == 1 && sampleRate > 0 && timeBase.den.isMultiple(of: sampleRate)
    }

    /// Its alpha plane is a stream of its own beside its packets (VP8 and VP9 in Matroska).
    public var hasAlphaBeside: Bool { tags.contains(where: \.saysAlphaBeside) }
}

extension TrackDescription {
    /// What a stream's own headers say. Numbers that can't be are brought to their bounds.
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
                // The third byte of its configuration record.
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
