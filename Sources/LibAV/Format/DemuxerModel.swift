/// Properties of a container as libavformat's demuxer reads it: the reading side of a container's model. Each allowed
/// demuxer is an entry of `table`, which sets the properties that differ from the defaults below. Statements about
/// libavformat refer to version 5.1.
package struct DemuxerModel: Sendable {
    /// Names of the demuxer, and the short names of the formats that it reads.
    package let names: [String]
    /// libavformat's name of the demuxer, which may be a list (`mov,mp4,m4a,3gp,3g2,mj2`).
    package let name: String

    /// The structure of a file, which determines who reads what libavformat doesn't report.
    package enum Structure: Sendable {
        /// Boxes of MP4 and QuickTime, with edit lists, and an index with all properties of packets except for their
        /// durations.
        case boxes
        /// Elements of Matroska and WebM.
        case elements
        /// Numbered pages (Ogg). Page positions may count from any origin, streams may be chained, and only the page
        /// numbers reveal a missing page.
        case pages
        /// Text with one cue after the other.
        case cues
        /// An image file, for which libavformat has a demuxer of each format (`png_pipe`).
        case image
        /// Any other structure.
        case other
    }
    /// Structure of a file.
    package var structure = Structure.other

    // MARK: Header

    /// Whether the header contains the codec parameters of all tracks.
    package var describesTracksInHeader = false
    /// Whether the header contains everything about the frames that reading requires, if the codec parameters are
    /// known.
    package var describesFramesInHeader = false
    /// Whether the metadata of a single track applies to the file.
    package var hasTagsInStream = false
    /// Whether the container declares no duration, so that it is estimated from the last timestamps or the bit rate.
    package var estimatesDurations = false

    // MARK: Times

    /// Whether timestamps may start at any value.
    package var hasArbitraryStart = false
    /// Whether a display set of PGS subtitles may be several packets.
    package var splitsDisplaySets = false
    /// Whether times of an elementary stream count from the start of the video that it belongs to.
    private var hasElementaryTimes = false
    /// Media types whose packets all have a presentation time, regardless of the codec.
    package var presentationTimes: Set<MediaType> = []
    /// Whether packets have decoding times but no presentation times.
    package var storesOnlyDecodingTimes = false
    /// Codecs whose times libavformat guesses after a seek; such a track is read from its beginning.
    package var estimatedCodecs: Set<String> = []
    /// Codecs whose packets in a page share one position.
    package var codecsOfSharedPositions: Set<String> = []
    /// Whether a tag contains the encoder delay, and chapter times count from the start of the presented audio.
    package var storesDelayInTags = false
    /// Whether libavformat subtracts the padding of the last packet from its duration.
    package var shortensLastPacket = false
    /// Whether all frames have the same duration, without gaps.
    package var hasConstantFrameRate = false

    // MARK: Reading

    /// Whether the parser completes a frame only when the next one starts, and assigns it the flags of the next frame's
    /// packet.
    package var flagsPrecedeFrame = false
    /// Whether the demuxer skips invalid data and reports the loss only in its log.
    package var reportsLossInLog = false
    /// Whether the fields of an event are assumed to have a specific order, whatever the file declares (ASS).
    var assumesOrderOfFields = false
    /// Whether files may be renditions of a streaming package.
    package var isForPackages = false

    /// Creates a model with default properties.
    private init(_ names: [String]) {
        self.names = names
        name = names.joined(separator: ",")
    }

    /// Whether the container is MP4 or QuickTime.
    package var isMovie: Bool { structure == .boxes }
    /// Whether the container is Matroska or WebM.
    package var isMatroska: Bool { structure == .elements }
    /// Whether data is in numbered pages.
    package var hasPages: Bool { structure == .pages }
    /// Whether the container is an image file.
    package var isImageFile: Bool { structure == .image }
    /// Whether time 0 of the file is time 0 of its tracks.
    package var hasTimeZero: Bool { isMovie || isMatroska || hasElementaryTimes }

    /// Returns the model of a demuxer by libavformat's name, which may be a list; a model with default properties if
    /// the demuxer isn't allowed or unknown.
    package static func named(_ name: String) -> DemuxerModel {
        allowed(name) ?? generated.first { $0.name == name } ?? DemuxerModel(names(in: name))
    }

    /// Returns the model of an allowed demuxer by libavformat's name, which may be a list; nil if it isn't allowed. Lists
    /// differ between versions, so that one common name is sufficient.
    static func allowed(_ name: String) -> DemuxerModel? {
        byName[name] ?? names(in: name).lazy.compactMap { byName[$0] }.first
    }

    /// Returns the names in a list of libavformat.
    package static func names(in list: String) -> [String] { list.split(separator: ",").map(String.init) }

    /// Models of allowed demuxers by list and by each name.
    private static let byName = Dictionary(
        table.flatMap { model in ([model.name] + model.names).map { ($0, model) } },
        uniquingKeysWith: { first, _ in first })

    /// Models of sources that no demuxer reads.
    private static let generated = [pattern, images, composition]
}

extension DemuxerModel: Equatable {
    /// Returns whether both describe the same demuxer. Lists of names differ between versions of libavformat; the first
    /// one stays.
    package static func == (one: DemuxerModel, other: DemuxerModel) -> Bool {
        one.names.first == other.names.first
    }
}

extension DemuxerModel {
    /// All allowed demuxers. Those of formats that refer to other files (playlists, scripts, image sequences) aren't
    /// allowed.
    static let table: [DemuxerModel] =
        [.movie, .matroska, .transportStream, .avi, .ogg, .mp3]
        + ["mpeg", "mpegvideo", "aac", "ac3", "eac3", "dts", "h264", "hevc"].map(estimated)
        + [cues("srt"), .webVTT, .ass, .presentationGraphics]
        + ["png_pipe", "jpeg_pipe", "webp_pipe", "bmp_pipe", "tiff_pipe"].map(image)
        + [
            "wav", "w64", "rf64", "aiff", "flac", "dtshd", "truehd", "mlp", "mxf", "flv", "live_flv", "asf",
            "m4v", "av1", "obu", "ivf", "ape", "wv", "tta", "tak", "caf", "au", "amr", "amrnb", "amrwb",
            "gif", "apng", "nut", "yuv4mpegpipe", "dv", "loas", "mpc", "mpc8", "oma", "gsm", "rm", "vc1",
            "dirac", "mjpeg",
        ].map { DemuxerModel([$0]) }

    /// MP4 and QuickTime (ISO/IEC 14496-12).
    package static let movie: DemuxerModel = {
        var model = DemuxerModel(["mov", "mp4", "m4a", "3gp", "3g2", "mj2"])
        model.structure = .boxes
        model.describesTracksInHeader = true
        model.describesFramesInHeader = true
        model.presentationTimes = [.video, .audio, .subtitle, .data, .attachment]
        model.isForPackages = true
        return model
    }()

    /// Matroska and WebM (RFC 9559).
    package static let matroska: DemuxerModel = {
        var model = DemuxerModel(["matroska", "webm"])
        model.structure = .elements
        model.describesTracksInHeader = true
        model.presentationTimes = [.video, .audio, .subtitle, .attachment]
        model.reportsLossInLog = true
        model.isForPackages = true
        return model
    }()

    /// MPEG-2 transport streams (ISO/IEC 13818-1), in which packets of data may have no time.
    package static let transportStream: DemuxerModel = {
        var model = DemuxerModel(["mpegts"])
        model.hasArbitraryStart = true
        model.estimatesDurations = true
        model.presentationTimes = [.video, .audio, .subtitle, .attachment]
        model.flagsPrecedeFrame = true
        model.isForPackages = true
        model.splitsDisplaySets = true
        return model
    }()

    /// Streams of PGS subtitles (`.sup`), whose events last until the next one.
    private static let presentationGraphics: DemuxerModel = {
        var model = DemuxerModel(["sup"])
        model.presentationTimes = [.subtitle]
        model.hasElementaryTimes = true
        model.splitsDisplaySets = true
        return model
    }()

    /// Ogg (RFC 3533).
    package static let ogg: DemuxerModel = {
        var model = DemuxerModel(["ogg"])
        model.structure = .pages
        model.hasTagsInStream = true
        model.estimatedCodecs = ["flac"]
        model.codecsOfSharedPositions = ["vorbis"]
        model.shortensLastPacket = true
        return model
    }()

    /// AVI files, whose index has decoding times.
    private static let avi: DemuxerModel = {
        var model = DemuxerModel(["avi"])
        model.storesOnlyDecodingTimes = true
        return model
    }()

    /// MP3, with the encoder delay in the LAME tag.
    package static let mp3: DemuxerModel = {
        var model = estimated("mp3")
        model.storesDelayInTags = true
        return model
    }()

    /// Returns the model of an elementary or program stream.
    private static func estimated(_ name: String) -> DemuxerModel {
        var model = DemuxerModel([name])
        model.estimatesDurations = true
        return model
    }

    /// Returns the model of a subtitle file.
    private static func cues(_ name: String) -> DemuxerModel {
        var model = DemuxerModel([name])
        model.structure = .cues
        return model
    }

    private static let webVTT: DemuxerModel = {
        var model = cues("webvtt")
        model.isForPackages = true
        return model
    }()

    private static let ass: DemuxerModel = {
        var model = cues("ass")
        model.assumesOrderOfFields = true
        return model
    }()

    /// Returns the model of an image file.
    private static func image(_ name: String) -> DemuxerModel {
        var model = DemuxerModel([name])
        model.structure = .image
        return model
    }

    /// A test pattern, which has no packets.
    package static let pattern = generated("pattern")
    /// A sequence of image files.
    package static let images = generated("images")
    /// A composition; the packets come from its sources.
    package static let composition = generated("composition")
    /// A container of unknown format.
    package static let unknown = DemuxerModel([])

    private static func generated(_ name: String) -> DemuxerModel {
        var model = DemuxerModel([name])
        model.hasConstantFrameRate = true
        return model
    }

    /// Names of all allowed demuxers and of the formats that they read, by which job files refer to sources.
    package static let sourceNames = table.flatMap(\.names)
    /// The allowed demuxers, for libavformat's option `format_whitelist`.
    static let whitelist = sourceNames.joined(separator: ",")

    /// Names of formats that refer to other files, which are reported as such.
    static let formatsReferencingFiles: Set<String> = [
        "hls", "dash", "concat", "image2", "image2pipe", "imf", "sdp", "rtsp", "smoothstreaming",
        "tedcaptions",
        "webm_dash_manifest", "alias_pix", "lavfi",
    ]
}
