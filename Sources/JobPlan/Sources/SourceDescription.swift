public import LibAV
public import Media

/// What a plan knows of a source: probed, or foretold from the plan of the job that makes it.
public struct SourceDescription: Codable, Hashable, Sendable {
    /// One of its tracks.
    public struct Track: Codable, Hashable, Sendable {
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
        /// Kinds of global side data, `hiddenBeginning`, `hiddenInside`, `unordered` and `changingHeaders` among them.
        public var sideData: [String]
        /// Something is decoded of its beginning that is not heard or shown.
        static let hiddenBeginning = "hidden beginning"
        /// What is shown needs frames that an edit list hides.
        static let hiddenInside = "hidden inside"
        /// Decoding times don't increase.
        static let unordered = "unordered times"
        /// Files were joined: some packets stand under other headers.
        static let changingHeaders = "changing headers"
        /// Kinds of side data that can go along or be left.
        var carriedKinds: [String] {
            let states = [Self.hiddenBeginning, Self.hiddenInside, Self.unordered, Self.changingHeaders]
            return sideData.filter { !states.contains($0) }
        }
        /// Samples of the packet that is heard first which an edit list hides.
        public var hiddenPartOfPacket: Int?
        /// Bits a second as the container says, 0 where unknown.
        public var bitRate: Int64

        /// Its alpha plane is a stream of its own beside its packets (VP8 and VP9 in Matroska).
        var hasAlphaBeside: Bool { tags.contains(where: \.saysAlphaBeside) }
    }

    /// libavformat's name of the container.
    public var container: String
    /// Bytes of the file; 0 where none is there yet.
    public var fileSize: Int64
    /// From time zero to the end of the last track.
    public var duration: MediaTime
    /// `duration` is exact.
    public var isDurationExact: Bool
    /// Bytes that the file says it has and hasn't: of a truncated one.
    public var missingBytes: Int64
    /// Time zero on the file's own clock.
    public var timeZero: MediaTime
    /// Its tracks in file order.
    public var tracks: [Track]
    /// Its tags.
    public var metadata: [MetadataEntry]
    /// The time of day of its first frame: `01:00:00:00`.
    public var timecode: String?
    /// Its chapters.
    public var chapters: [AssetChapter]

    /// No time that a source says is believed to be longer: three thousand years.
    public static let longest = MediaTime(value: 100_000_000_000, timescale: 1)

    private static func bounded(_ time: MediaTime) -> MediaTime {
        min(longest, max(.zero - longest, time))
    }

    private static func bounded(_ range: TimeRange) -> TimeRange {
        TimeRange(start: bounded(range.start), duration: bounded(range.duration))
    }

    /// What an asset was found to be. Numbers that can't be are brought to their bounds.
    public init(_ contents: AssetContents) {
        let container = SourceContainer(contents.container)
        self.container = container.name
        fileSize = contents.fileSize
        duration = max(.zero, Self.bounded(contents.duration))
        isDurationExact = contents.isDurationExact && contents.missingBytes == 0
        missingBytes = contents.missingBytes
        timeZero = Self.bounded(contents.timeZero)
        metadata = contents.metadata
        timecode = contents.timecode
        chapters = contents.chapters.map {
            AssetChapter(timeRange: Self.bounded($0.timeRange), title: $0.title)
        }
        tracks = contents.tracks.map { track in
            let format = track.format
            return Track(
                index: track.index, id: track.trackID, mediaType: track.mediaType,
                isAttachedPicture: track.isAttachedPicture,
                codec: format.codec, isDecodable: format.parameters.isDecodable,
                isLossless: format.parameters.isLossless,
                timeRange: Self.bounded(track.timeRange), isExact: track.isTimeRangeExact,
                hasOwnDuration: track.hasOwnDuration, sampleCount: track.sampleCount,
                timeBase: track.timeBase, width: min(1 << 20, max(0, format.width)),
                height: min(1 << 20, max(0, format.height)),
                pixelFormat: format.pixelFormat,
                pixelAspectRatio: format.pixelAspectRatio, color: format.color,
                dolbyVisionProfile: track.dolbyVisionProfile, isInterlaced: format.isInterlaced == true,
                fieldOrder: format.fieldOrder,
                frameRate: track.nominalFrameRate, hasConstantFrameRate: container.hasConstantFrameRate,
                transform: track.preferredTransform, cleanAperture: format.cleanAperture,
                sampleRate: max(0, format.sampleRate),
                sampleFormat: format.sampleFormat, channelLayout: format.channelLayout,
                language: track.languageCode,
                title: track.title, tags: container.hasTagsInStream ? [] : track.metadata,
                fileName: track.mediaType == .attachment
                    ? track.metadata.first { $0.key == "filename" }?.value : nil,
                isTimecode: track.mediaType == .data
                    && track.metadata.contains { $0.key.lowercased() == "timecode" },
                disposition: track.disposition.sorted(),
                sideData: track.sideData.map(\.kind).filter { $0 != "displaymatrix" }
                    + (track.hidesBeginning ? [Track.hiddenBeginning] : [])
                    + (track.mediaType == .video && track.hidesInnerPackets ? [Track.hiddenInside] : [])
                    + (track.isUnordered ? [Track.unordered] : [])
                    + (track.changesHeaders ? [Track.changingHeaders] : []),
                hiddenPartOfPacket: track.hiddenPartOfPacket > 0 ? track.hiddenPartOfPacket : nil,
                bitRate: format.bitRate)
        }
    }

    /// What an output will be.
    init(foretoldBy task: OutputTask) {
        let plan = task.output
        container = plan.container
        fileSize = 0
        duration = plan.expectedDuration
        isDurationExact = plan.tracks.allSatisfy(\.expected.isExact)
        missingBytes = 0
        timeZero = .zero
        metadata = plan.metadata
        timecode = plan.timecode
        chapters = plan.chapters
        tracks =
            plan.tracks.enumerated().map { index, track in
                var result = track.source
                result.index = index
                result.id = index + 1
                result.transform = track.transform
                result.disposition = track.disposition
                result.language = track.metadata.first { $0.key == "language" }?.value
                result.title =
                    track.metadata.first { $0.key == "title" || $0.key == "handler_name" }?.value
                result.tags = track.metadata
                result.timeRange = track.expected.timeRange
                result.isExact = track.expected.isExact
                result.sampleCount = track.expected.frames
                result.sideData = track.sideData
                if !track.sideData.contains("dovi") { result.dolbyVisionProfile = nil }
                result.cleanAperture = nil
                if case .subtitle(let codec) = track.action {
                    result.codec = codec.libavName
                    result.timeBase = Rational(1, 1000)
                }
                guard case .encode(let encoding) = track.action else { return result }
                let encoder = encoding.encoder
                result.codec = encoding.codec
                result.isDecodable = true
                result.isLossless = false
                result.timeBase = encoder.timeBase
                result.width = encoder.width
                result.height = encoder.height
                result.pixelFormat = encoder.pixelFormat
                result.pixelAspectRatio = encoder.sampleAspectRatio
                result.frameRate = encoder.frameRate
                result.hasConstantFrameRate =
                    encoding.video?.frameRate != nil
                    || track.source.hasConstantFrameRate && track.expected.isExact
                result.sampleRate = encoder.sampleRate
                result.sampleFormat = encoder.sampleFormat
                result.channelLayout = encoder.channelLayout
                return result
            } + Self.attachments(of: task)
    }

    /// Attachments come after the tracks.
    private static func attachments(of task: OutputTask) -> [Track] {
        task.output.attachments.enumerated().compactMap { position, index in
            guard var track = task.input.sourceDescription.tracks.first(where: { $0.index == index }) else {
                return nil
            }
            track.index = task.output.tracks.count + position
            track.id = track.index + 1
            return track
        }
    }

    /// Tracks of a kind; covers are no video tracks, and data are neither timecode nor mp4's chapters, which go along in
    /// their own ways.
    public func tracks(of type: MediaType) -> [Track] {
        tracks.filter {
            $0.mediaType == type && !$0.isAttachedPicture && !$0.isTimecode
                && (type != .data || $0.codec != "text")
        }
    }
}
