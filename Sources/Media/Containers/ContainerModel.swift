public import LibAV

/// What a container can hold and say, and what its packets go through: everything that is known of it, stated once, in a
/// file of its own. What is not stated is as these defaults say. Where libavformat is meant, it is 5.1, as measured.
public struct ContainerModel: Sendable {
    /// The name in job files.
    public let name: String
    /// The libavformat muxer.
    public let muxer: String
    /// File name extensions that stand for it, the usual one first.
    public let extensions: [String]
    /// Kinds of tracks that it holds.
    public let mediaTypes: Set<MediaType>
    /// It holds one track alone.
    public var isSingleTrack = false

    // MARK: Codecs

    /// Which codecs it holds.
    enum Codecs: Sendable {
        /// These.
        case only(Set<String>)
        /// What its muxer says when it is asked, without these: it says yes to them, and refuses or spoils them when it
        /// writes.
        case asked(except: Set<String>)
    }
    /// Which codecs it holds, by libav's names.
    var codecs = Codecs.asked(except: [])
    /// Kinds of data that libavformat writes into it: a camera's telemetry, and metadata of broadcasts.
    public var dataCodecs: [String] = []
    /// Kinds of cover that it holds beside its tracks, by libav's names.
    public var coverCodecs: Set<String> = []
    /// Covers are files that are attached, no streams with one packet, and have no tags.
    public var attachesCovers = false
    /// It has a place for an alpha plane beside a packet of VP8 or VP9.
    public var holdsAlphaBeside = false
    /// Its muxer writes the configuration of Dolby Vision.
    public var holdsDolbyVision = false
    /// It tells players that frames of profile 5 are none that can be shown without Dolby Vision.
    public var saysDolbyVisionProfile5 = false
    /// Its last page says that it is the last, if the trailer writes it.
    public var endsWithTrailer = false

    // MARK: Times

    /// It has edit lists: delays and cuts inside packets can be said exactly.
    public var hasEditLists = false
    /// It keeps the times of samples; otherwise they follow one another from 0.
    public var hasTimestamps = true
    /// The unit of its times of audio; nil where it counts samples.
    public var soundTimeBase: Rational?
    /// What its muxer is told where audio is copied, which may have holes.
    var copiedAudioOptions: [(key: String, value: String)] = []
    /// Its clock can't be negative: everything is moved until nothing is.
    var isMovedToZero = false
    /// Samples follow one another in it, and it has no word of when they are heard.
    package var keepsNoTimes = false
    /// Codecs whose delay it has a field for, which every reader takes off: it is put on before.
    var delayFields: Set<String> = []
    /// Codecs whose own delay it can say beside a late start.
    var delayedCodecs: Set<String> = []
    /// It can say that the beginning of copied audio is not heard, by itself or because the codec does, of all codecs but
    /// these; nil where it can't.
    var hidesBeginningExcept: Set<String>?
    /// How it says that samples are decoded and not heard, beside edit lists.
    public enum DiscardForm: Sendable {
        /// At the end of any packet, up to the whole of it (Matroska's DiscardPadding).
        case packetEnds
        /// For the whole track, in its first frame (LAME's tag).
        case firstFrame
    }
    /// How it says that samples are decoded and not heard; nil where it can't.
    public var discardForm: DiscardForm?
    /// Who reads it may begin anywhere, between key frames too.
    var isReadFromAnywhere = false
    /// Its index can be moved to the front.
    public var canOptimizeForNetwork = false
    /// It can be written in fragments, each with its own index.
    public var hasFragments = false
    /// It can say at what time of day its frames begin.
    public var hasTimecode = false

    // MARK: What it says

    /// It can say how a frame is to be rotated.
    public var hasDisplayMatrix = false
    /// It says primaries, transfer and matrix of any codec's frames.
    public var saysColor = false
    /// But only where primaries, transfer and matrix are all known, and the range with them (libavformat's `colr`).
    public var saysColorAsAWhole = false
    /// It says their range too.
    public var saysColorRange = false
    /// Its tracks state a nominal frame rate (Matroska's DefaultDuration), without which readers guess one from times in milliseconds.
    var storesFrameRate = false
    /// It can hold chapters.
    public var hasChapters = true
    /// Codecs of audio beside which it can hold them; nil for all.
    var chapterCodecs: Set<String>?
    /// Its chapters can be written at the end.
    public var canTakeChaptersLate = false
    /// Its chapters are tags.
    var keepsChaptersInTags = false
    /// Most chapters that it holds, by its format or as many as Tandem reads of a source.
    public var maxChapters = InputLimits.maxChapters
    /// Length of the shortest chapter that it represents: one that rounds to nothing is lost where it is the last.
    public var shortestChapter = MediaTime(value: 1, timescale: 1000)
    /// Most tags of a file, and of each of its tracks: muxers look every tag up among all others.
    public var maxTags = 10_000
    /// The tags that it can hold; nil for any.
    public var metadataKeys: Set<String>?
    /// It can hold the tags by which players set levels.
    public var holdsLoudnessTags: Bool { metadataKeys == nil && mediaTypes.contains(.audio) }
    /// Tags that have one field in it.
    public var sharedKeys: Set<String> = []
    /// It keeps the creation time as a number, so that libavformat parses it.
    public var parsesCreationTime = false
    /// A creation time of 1970 is none.
    public var takesZeroForNoTime = false

    /// How it writes languages.
    public enum LanguageForm: Sendable {
        /// As they come.
        case any
        /// Three letters, and no room for a region.
        case threeLetters
        /// The numbers of QuickTime.
        case quickTime
    }
    /// How it writes languages.
    public var languageForm = LanguageForm.any
    /// Kinds of tracks whose language it says.
    public var languages: Set<MediaType> = [.video, .audio, .subtitle, .data, .attachment]
    /// It says the name of a track.
    public var hasTrackTitles = true
    /// Its tracks can have tags beside their language and their name.
    public var hasTrackTags = false
    /// What of a track it can say that it is for, by libav's names, of each kind of track.
    var dispositions: [MediaType: Set<String>] = [:]

    /// What players take audio of a layout for, where neither the container nor the codec in it says more than a number of
    /// channels; nil where it is said.
    var usualLayout: @Sendable (_ layout: ChannelLayout, _ codec: String) -> ChannelLayout? = { _, _ in nil }

    // MARK: Writing

    /// What the muxer is told, beside what a file's own form asks for.
    var muxerOptions: [(key: String, value: String)] = []
    /// How its framing and its index grow with each packet.
    var framing = OutputSizeModel.Family.other
    /// What copied packets of a track go through on their way to the muxer.
    var packetStages: @Sendable (_ parameters: CodecParameters, _ track: String) throws -> [any PacketStage] =
        {
            _, _ in []
        }

    /// A container of which nothing but that is known.
    init(_ name: String, muxer: String? = nil, _ extensions: [String], _ mediaTypes: Set<MediaType>) {
        self.name = name
        self.muxer = muxer ?? name
        self.extensions = extensions
        self.mediaTypes = mediaTypes
    }

    /// A container that says these of every kind of track.
    mutating func setDispositions(_ names: Set<String>) {
        for type in mediaTypes { dispositions[type] = names }
    }
}

extension ContainerModel {
    /// A file of audio alone, of one track whose samples follow one another.
    static func audio(_ name: String, _ extensions: [String], tags: Set<String>?) -> ContainerModel {
        var model = ContainerModel(name, extensions, [.audio])
        model.isSingleTrack = true
        model.hasTimestamps = false
        model.keepsNoTimes = true
        model.metadataKeys = tags
        model.languages = []
        model.hasTrackTitles = false
        // The only track is the one that is played.
        model.setDispositions(["default"])
        return model
    }

    /// A file of cues alone.
    static func cues(_ name: String, _ extensions: [String], codecs: Set<String>) -> ContainerModel {
        var model = ContainerModel(name, extensions, [.subtitle])
        model.isSingleTrack = true
        model.codecs = .only(codecs)
        model.metadataKeys = []
        model.hasChapters = false
        model.languages = []
        model.hasTrackTitles = false
        model.setDispositions(["default"])
        return model
    }

    /// What QuickTime, MP4 and M4A have in common.
    static func movie(_ name: String, muxer: String? = nil, _ extensions: [String], _ types: Set<MediaType>)
        -> ContainerModel
    {
        var model = ContainerModel(name, muxer: muxer, extensions, types)
        model.hasEditLists = true
        model.hidesBeginningExcept = []
        model.hasDisplayMatrix = true
        model.canOptimizeForNetwork = true
        model.hasFragments = true
        model.canTakeChaptersLate = true
        model.takesZeroForNoTime = true
        model.parsesCreationTime = true
        model.languageForm = .threeLetters
        model.framing = .movie
        model.packetStages = { parameters, _ in HEVCSampleEntry(parameters).map { [$0] } ?? [] }
        model.metadataKeys = [
            "title", "artist", "album_artist", "composer", "album", "date", "comment", "genre", "copyright",
            "grouping", "lyrics", "description", "synopsis", "show", "episode_id", "network", "keywords",
            "track", "disc", "encoder", "timecode", "creation_time", "location",
        ]
        return model
    }

    /// What Matroska and WebM have in common.
    static func matroska(
        _ name: String, muxer: String? = nil, _ extensions: [String], _ types: Set<MediaType>
    )
        -> ContainerModel
    {
        var model = ContainerModel(name, muxer: muxer, extensions, types)
        model.soundTimeBase = Rational(1, 1000)
        model.parsesCreationTime = true
        // libavformat writes it for Opus alone.
        model.delayFields = ["opus"]
        model.storesFrameRate = true
        // Nanoseconds; `OutputHeader` counts microseconds.
        model.shortestChapter = MediaTime(value: 1, timescale: 1_000_000)
        model.delayedCodecs = ["opus"]
        // Of whole packets; Opus and MP3 say it themselves.
        model.hidesBeginningExcept = []
        model.canTakeChaptersLate = true
        model.discardForm = .packetEnds
        model.hasTrackTags = true
        model.holdsAlphaBeside = true
        model.saysColor = true
        model.saysColorRange = true
        model.framing = .matroska
        model.usualLayout = { layout, codec in
            codec.hasPrefix("pcm_") ? ChannelLayout(defaultFor: layout.channels) : nil
        }
        return model
    }

    /// What players take FLAC's channels for where nothing says more than their number.
    static func usualFLACLayout(_ layout: ChannelLayout, _ codec: String) -> ChannelLayout? {
        let names = ["mono", "stereo", "3.0", "quad", "5.0", "5.1", "6.1", "7.1"]
        guard codec == "flac", names.indices.contains(layout.channels - 1) else { return nil }
        return ChannelLayout(named: names[layout.channels - 1])
    }
}
