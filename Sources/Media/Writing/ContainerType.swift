public import LibAV
internal import Locking

/// A kind of file that can be written (AVFoundation's `AVFileType`), and what it can say.
public final class ContainerType: Hashable, Sendable {
    /// The name in job files.
    public let name: String
    /// The libavformat muxer.
    public let muxer: String
    /// File name extensions that stand for it, the usual one first.
    public let extensions: [String]
    /// Kinds of tracks that it holds.
    public let mediaTypes: Set<MediaType>
    /// It holds one track alone.
    public let isSingleTrack: Bool
    /// It has edit lists: delays and cuts inside packets can be said exactly.
    public let hasEditLists: Bool
    /// Its clock can't be negative: everything is moved until nothing is.
    var isMovedToZero: Bool { name == "ts" }
    /// It keeps the times of samples; otherwise they follow one another from 0.
    public let hasTimestamps: Bool
    /// The unit of its times of sound; nil where it counts samples.
    public var soundTimeBase: Rational? {
        switch name {
        case "mkv", "webm": Rational(1, 1000)
        case "ts": Rational(1, 90_000)
        default: nil
        }
    }
    /// Samples follow one another in it, and it has no word of when they are heard.
    var keepsNoTimes: Bool { ["wav", "flac", "mp3", "adts"].contains(name) }
    /// It can say how a picture is turned.
    public let hasDisplayMatrix: Bool
    /// Its index can be moved to the front.
    public let canOptimizeForNetwork: Bool
    /// It can be written in fragments, each with its own index.
    public var hasFragments: Bool { hasEditLists }
    /// It can hold chapters.
    public var hasChapters: Bool { !["wav", "flac", "adts", "srt", "webvtt", "ass", "ts"].contains(name) }
    /// It can hold them beside sound of a codec: libavformat writes them into Ogg with Opus alone.
    public func hasChapters(withSound codec: String?) -> Bool {
        hasChapters && (name != "ogg" || codec == nil || codec == "opus")
    }
    /// Its chapters can be written at the end.
    public var canTakeChaptersLate: Bool { hasEditLists || ["mkv", "webm"].contains(name) }
    /// The tags that it can hold; nil for any.
    public let metadataKeys: Set<String>?

    private init(
        name: String, muxer: String, extensions: [String], mediaTypes: Set<MediaType>, isSingleTrack: Bool,
        hasEditLists: Bool, hasTimestamps: Bool, hasDisplayMatrix: Bool, canOptimizeForNetwork: Bool,
        metadataKeys: Set<String>?
    ) {
        self.name = name
        self.muxer = muxer
        self.extensions = extensions
        self.mediaTypes = mediaTypes
        self.isSingleTrack = isSingleTrack
        self.hasEditLists = hasEditLists
        self.hasTimestamps = hasTimestamps
        self.hasDisplayMatrix = hasDisplayMatrix
        self.canOptimizeForNetwork = canOptimizeForNetwork
        self.metadataKeys = metadataKeys
    }

    /// There is one of each name.
    public static func == (a: ContainerType, b: ContainerType) -> Bool { a === b }
    /// As `==`.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// What libavformat said, by codec: it looks through all its muxers each time.
    private let known = Guarded<[String: Bool]>([:])

    /// The names of all of them.
    public static let names = all.map(\.name)
    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
    private static let byExtension = Dictionary(
        all.flatMap { type in type.extensions.map { ($0, type) } }, uniquingKeysWith: { first, _ in first })

    /// All of them.
    public static let all: [ContainerType] = [
        movie("mp4", muxer: "mp4", ["mp4", "m4v"], [.video, .audio, .subtitle, .data]),
        movie("mov", muxer: "mov", ["mov", "qt"], [.video, .audio, .subtitle, .data]),
        movie("m4a", muxer: "ipod", ["m4a"], [.audio]),
        ContainerType(
            name: "mkv", muxer: "matroska", extensions: ["mkv", "mka"],
            mediaTypes: [.video, .audio, .subtitle, .attachment],
            isSingleTrack: false, hasEditLists: false, hasTimestamps: true, hasDisplayMatrix: false,
            canOptimizeForNetwork: false, metadataKeys: nil),
        ContainerType(
            name: "webm", muxer: "webm", extensions: ["webm"], mediaTypes: [.video, .audio, .subtitle],
            isSingleTrack: false, hasEditLists: false, hasTimestamps: true, hasDisplayMatrix: false,
            canOptimizeForNetwork: false, metadataKeys: nil),
        ContainerType(
            name: "ts", muxer: "mpegts", extensions: ["ts", "m2ts", "mts"],
            mediaTypes: [.video, .audio, .subtitle, .data],
            isSingleTrack: false, hasEditLists: false, hasTimestamps: true, hasDisplayMatrix: false,
            canOptimizeForNetwork: false, metadataKeys: []),
        sound(
            "wav", muxer: "wav", ["wav"],
            keys: [
                "artist", "comment", "copyright", "date", "genre", "language", "title", "album", "track",
                "encoder",
            ]),
        sound("flac", muxer: "flac", ["flac"], keys: nil),
        sound("ogg", muxer: "ogg", ["ogg", "oga", "opus"], keys: nil),
        sound("mp3", muxer: "mp3", ["mp3"], keys: nil),
        sound("adts", muxer: "adts", ["aac", "adts"], keys: []),
        text("srt", ["srt"]),
        text("webvtt", ["vtt", "webvtt"]),
        text("ass", ["ass", "ssa"]),
    ]

    /// What libavformat writes of tags into QuickTime's own atoms.
    private static let quickTimeKeys: Set<String> = [
        "title", "artist", "album", "date", "comment", "genre", "copyright", "encoder", "timecode",
        "creation_time", "location",
    ]

    private static func movie(
        _ name: String, muxer: String, _ extensions: [String], _ types: Set<MediaType>
    ) -> ContainerType {
        ContainerType(
            name: name, muxer: muxer, extensions: extensions, mediaTypes: types, isSingleTrack: false,
            hasEditLists: true, hasTimestamps: true, hasDisplayMatrix: true, canOptimizeForNetwork: true,
            metadataKeys: muxer == "mov"
                ? quickTimeKeys
                : [
                    "title", "artist", "album_artist", "composer", "album", "date", "comment", "genre",
                    "copyright", "grouping",
                    "lyrics", "description", "synopsis", "show", "episode_id", "network", "keywords", "track",
                    "disc",
                    "encoder", "timecode", "creation_time", "location",
                ])
    }

    private static func sound(_ name: String, muxer: String, _ extensions: [String], keys: Set<String>?)
        -> ContainerType
    {
        ContainerType(
            name: name, muxer: muxer, extensions: extensions, mediaTypes: [.audio], isSingleTrack: true,
            hasEditLists: false, hasTimestamps: false, hasDisplayMatrix: false, canOptimizeForNetwork: false,
            metadataKeys: keys)
    }

    private static func text(_ name: String, _ extensions: [String]) -> ContainerType {
        ContainerType(
            name: name, muxer: name, extensions: extensions, mediaTypes: [.subtitle], isSingleTrack: true,
            hasEditLists: false, hasTimestamps: true, hasDisplayMatrix: false, canOptimizeForNetwork: false,
            metadataKeys: [])
    }

    /// The container of that name.
    public static func named(_ name: String) -> ContainerType? { byName[name] }

    /// The container that a file name's extension stands for.
    public static func forExtension(_ name: String) -> ContainerType? {
        byExtension[name] ?? byExtension[name.lowercased()]
    }

    /// It can hold that codec, named as libav does.
    public func canHold(codec: String) -> Bool {
        // Muxers for one codec don't answer when asked.
        switch name {
        case "mp3", "flac": codec == name
        case "adts": codec == "aac"
        case "srt": codec == "subrip"
        case "ts":
            [
                "h264", "hevc", "mpeg1video", "mpeg2video", "mpeg4", "aac", "mp1", "mp2", "mp3", "ac3",
                "eac3", "dts",
                "truehd", "opus", "dvb_subtitle", "dvb_teletext",
            ].contains(codec)
        case "webvtt": codec == name
        // The muxer says yes when asked, and refuses them when it writes: they have boxes in MP4 alone.
        case "mov" where ["flac", "opus", "truehd", "vp8", "vp9", "av1"].contains(codec): false
        case "ass": codec == "ass" || codec == "ssa"
        case "ogg": ["opus", "vorbis", "flac", "speex"].contains(codec)
        // The muxer takes these too, without what their decoders need.
        case "wav" where ["aac", "vorbis", "opus", "flac", "alac"].contains(codec): false
        default:
            known.withLock { known in
                if let answer = known[codec] { return answer }
                let answer = MuxerInfo(named: muxer)?.canHold(codec: codec) ?? false
                if known.count < 1000 { known[codec] = answer }
                return answer
            }
        }
    }

    /// Kinds of data that libavformat writes into it: a camera's telemetry, and metadata of broadcasts.
    public var dataCodecs: [String] {
        switch name {
        case "mp4", "mov": ["gpmd"]
        // Of ID3 tags libavformat 5.1 loses the first five bytes when it reads them.
        case "ts": ["klv"]
        default: []
        }
    }

    /// The same of all containers.
    public static let dataCodecs = Set(all.flatMap(\.dataCodecs)).sorted()

    /// It says the language of some track.
    public var hasTrackLanguages: Bool { !isSingleTrack || name == "ogg" }

    /// It says the language of a track of a kind: transport streams have no descriptor of it for video.
    public func hasLanguage(of type: MediaType) -> Bool {
        hasTrackLanguages && (name != "ts" || type == .audio || type == .subtitle)
    }

    /// What of a track it can say that it is for, by libav's names (measured with libavformat 5.1).
    public func dispositions(of type: MediaType) -> Set<String> {
        switch name {
        case "mkv":
            ["default", "dub", "original", "comment", "forced", "hearing_impaired", "visual_impaired"]
        case "webm": ["default", "forced"]
        case "mp4":
            [
                "default", "dub", "comment", "forced", "hearing_impaired", "visual_impaired", "captions",
                "descriptions",
            ]
        case "mov", "m4a": ["default"]
        case "ts" where type == .audio: ["hearing_impaired", "visual_impaired", "clean_effects"]
        case "ts" where type == .subtitle: ["hearing_impaired"]
        // The only track is the one that is played.
        default: isSingleTrack ? ["default"] : []
        }
    }

    /// It says the name of a track.
    public var hasTrackTitles: Bool { hasTrackLanguages && name != "ts" }

    /// Its tracks can have tags beside their language and their name.
    public var hasTrackTags: Bool { ["mkv", "webm", "ogg"].contains(name) }

    /// It has a place for an alpha plane beside a packet of VP8 or VP9.
    public var holdsAlphaBeside: Bool { ["mkv", "webm"].contains(name) }

    /// What players take sound of such a layout for, where neither the container nor the codec in it says more than a
    /// number of channels; nil where it is said, or comes to the same.
    public func otherLayout(of layout: ChannelLayout, codec: String) -> ChannelLayout? {
        let usual: ChannelLayout?
        switch (name, codec) {
        case ("mkv", _) where codec.hasPrefix("pcm_"), ("webm", _) where codec.hasPrefix("pcm_"):
            usual = ChannelLayout(defaultFor: layout.channels)
        case ("mp4", "flac"), ("m4a", "flac"), ("ogg", "flac"):
            let names = ["mono", "stereo", "3.0", "quad", "5.0", "5.1", "6.1", "7.1"]
            usual =
                names.indices.contains(layout.channels - 1)
                ? ChannelLayout(named: names[layout.channels - 1]) : nil
        default: usual = nil
        }
        return usual.flatMap { $0.holds(layout) ? nil : $0 }
    }

    /// It says primaries, transfer and matrix of any codec's pictures.
    public var saysColor: Bool { ["mp4", "mov", "mkv", "webm"].contains(name) }

    /// It says their range too: QuickTime's `nclc` has no place for it, and libavformat writes no other.
    public var saysColorRange: Bool { saysColor && name != "mov" }

    /// Its muxer writes the configuration of Dolby Vision.
    public var holdsDolbyVision: Bool { ["mp4", "mkv"].contains(name) }

    /// It can say at what time of day its pictures begin.
    public var hasTimecode: Bool { ["mp4", "mov", "mkv"].contains(name) }

    /// It can say that the beginning of copied sound is not heard. Matroska can of whole packets, Opus and MP3 say it
    /// themselves.
    public func hidesBeginning(ofCodec codec: String) -> Bool {
        hasEditLists || ["mkv", "webm"].contains(name) || name == "mp3" || name == "ogg" && codec != "flac"
    }

    /// Delays at the start of sound can be said, given the encoder's own delay and the codec.
    func canDelayAudio(by samples: Int64, padding: Int64, codec: String) -> Bool {
        // The muxer writes the two edits needed only where something is left of the delay.
        if hasEditLists { return samples > padding }
        guard hasTimestamps else { return false }
        // Matroska has a field for a codec's delay, which libavformat writes for Opus alone.
        return padding == 0 || codec == "opus"
    }
}
