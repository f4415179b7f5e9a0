package import LibAV

/// Capabilities of a container, its storage of metadata and times, and the processing of packets before the muxer. Each
/// container is defined in a separate file, which sets the properties that differ from the defaults below. Statements
/// about libavformat refer to version 5.1.
package struct ContainerModel: Sendable {
    /// Name of the container in job files.
    package let name: String
    /// Name of the libavformat muxer.
    package let muxer: String
    /// Properties of the container when it is read.
    package var demuxer: DemuxerModel
    /// File name extensions, the preferred one first.
    package let extensions: [String]
    /// Extensions of other containers that are also in use for this one.
    package var commonExtensions: Set<String> = []
    /// Media types of the tracks that the container supports.
    package let mediaTypes: Set<MediaType>
    /// Whether the container holds only one track.
    package var isSingleTrack = false

    // MARK: Codecs

    /// Codecs that a container supports, by libavcodec's names.
    enum Codecs: Sendable {
        /// Only these codecs.
        case only(Set<String>)
        /// Codecs that the muxer reports as supported (`avformat_query_codec`), except those that it rejects
        /// or corrupts when it writes.
        case queried(except: Set<String>)
    }
    /// Supported codecs, by libavcodec's names.
    var codecs = Codecs.queried(except: [])
    /// Codecs of data tracks that the muxer can write: camera telemetry (`gpmd`) and broadcast metadata (`klv`).
    package var dataCodecs: [String] = []
    /// Supported codecs of cover art, by libavcodec's names.
    package var coverCodecs: Set<String> = []
    /// Whether cover art is stored as attachments without tags, rather than as streams with one packet.
    package var attachesCovers = false
    /// Whether a packet of VP8 or VP9 can have a separate alpha plane (Matroska's BlockAdditional).
    package var supportsSeparateAlpha = false
    /// Whether the muxer writes the Dolby Vision configuration record.
    package var storesDolbyVision = false
    /// Whether the container marks Dolby Vision profile 5, whose colors are wrong in players without Dolby
    /// Vision.
    package var marksDolbyVisionProfile5 = false
    /// Whether the last page has an end flag, so that it must be written by `av_write_trailer` rather than by a flush
    /// (Ogg).
    package var endsWithTrailer = false

    // MARK: Times

    /// Whether the container has edit lists, which describe delays, and cuts within packets, exactly.
    package var hasEditLists = false
    /// Whether the container stores timestamps; without them, samples are contiguous from time 0.
    package var hasTimestamps = true
    /// Time base of audio; nil if it is the sample rate.
    package var audioTimeBase: Rational?
    /// Muxer options for copied audio, which may have gaps.
    var copiedAudioOptions: [(key: String, value: String)] = []
    /// Whether the container can't store negative timestamps, so that all tracks are shifted to start at 0 or later.
    var isMovedToZero = false
    /// Whether samples must be contiguous, because the container stores neither timestamps nor a delay and can't
    /// represent gaps.
    var requiresContiguousSamples = false
    /// Codecs for which the container has a codec delay field. Readers subtract the delay, so it is added to
    /// timestamps before writing.
    var delayFields: Set<String> = []
    /// Codecs whose encoder delay can be stored for a track that starts after time 0.
    var delayedCodecs: Set<String> = []
    /// Codecs whose copied audio can't be marked as not presented at its start, neither by the container nor in the
    /// bitstream; nil if no codec's can.
    var hidesBeginningExcept: Set<String>?
    /// Method by which a container marks samples that are decoded but not presented, other than edit lists.
    package enum DiscardMarking: Sendable {
        /// Samples at the end of any packet, up to the whole packet (Matroska's DiscardPadding).
        case packetEnds
        /// Samples at the start and the end of the track, declared in its first frame (LAME tag).
        case firstFrame
    }
    /// Method by which samples are marked as not presented; nil if the container can't mark them.
    package var discardMarking: DiscardMarking?
    /// Whether readers may start at any position, including between keyframes.
    var canStartAnywhere = false
    /// Whether the index can be moved to the front of the file (`faststart`).
    package var canOptimizeForNetwork = false
    /// Whether the muxer can write fragments, each with an index.
    package var hasFragments = false
    /// Whether a file that isn't finished can be played up to its last complete fragment, cluster or packet.
    package var isPlayableUnfinished = false
    /// Whether the container stores the timecode of the first frame.
    package var hasTimecode = false

    // MARK: Metadata

    /// Whether the container stores the rotation of frames (display matrix).
    package var hasDisplayMatrix = false
    /// Whether the container stores primaries, transfer and matrix, for all codecs.
    package var storesColor = false
    /// Whether colors are stored only if primaries, transfer and matrix are all known; the range is then
    /// stored with them (libavformat's `colr`).
    package var requiresCompleteColor = false
    /// Whether the container stores the range of video levels.
    package var storesColorRange = false
    /// Whether tracks declare a nominal frame rate (Matroska's DefaultDuration), without which readers
    /// estimate it from times in milliseconds.
    var storesFrameRate = false
    /// Whether the container supports chapters.
    package var hasChapters = true
    /// Audio codecs with which the container supports chapters; nil for all.
    var chapterCodecs: Set<String>?
    /// Whether chapters can be written at the end of the file.
    package var canWriteChaptersLate = false
    /// Whether every chapter has a title, which is empty if there is none.
    var titlesAllChapters = false
    /// Whether chapters are stored as tags.
    var keepsChaptersInTags = false
    /// Maximum number of chapters: the format's limit, or the number that Tandem reads from a source.
    package var maxChapters = InputLimits.maxChapters
    /// Minimum duration of a chapter. A shorter one would be rounded to 0, and lost if it is the last.
    package var shortestChapter = MediaTime(value: 1, timescale: 1000)
    /// Maximum number of tags of a file, and of each of its tracks. Muxers search all tags for each tag, in
    /// quadratic time.
    package var maxTags = 10_000
    /// Keys of the supported tags; nil for any.
    package var metadataKeys: Set<String>?
    /// Whether the container supports the loudness tags from which players set the volume (ReplayGain).
    package var supportsLoudnessTags: Bool { metadataKeys == nil && mediaTypes.contains(.audio) }
    /// Whether tags outside `metadataKeys` can be stored under their own keys (libavformat's `use_metadata_tags`).
    var hasMetadataKeyList = false
    /// Key under which libavformat's muxer expects the title of a track.
    package var trackTitleKey = "title"
    /// Whether the title of a track is written as the name of its handler.
    var keepsTrackTitlesInHandlers = false
    /// Keys of tags that share one field of the container.
    package var sharedKeys: Set<String> = []
    /// Keys of tags of files and tracks that the muxer writes itself, or doesn't write.
    package var muxerKeys: Set<String> = []
    /// Keys of tags of tracks, in addition to `muxerKeys`, that the muxer writes itself, or doesn't write.
    package var trackMuxerKeys: Set<String> = []
    /// Whether the creation time is stored as a number, so that libavformat parses the tag's text.
    package var parsesCreationTime = false
    /// Whether a creation time at the start of 1970 denotes an unknown time.
    package var treatsZeroTimeAsUnknown = false

    /// Formats in which containers store languages.
    package enum LanguageFormat: Sendable {
        /// The tag's text, unchanged.
        case any
        /// ISO 639-2 codes of three letters, without a region.
        case threeLetters
        /// QuickTime's language codes.
        case quickTime
    }
    /// Format in which languages are stored.
    package var languageFormat = LanguageFormat.any
    /// Media types of the tracks whose language is stored.
    package var languages: Set<MediaType> = [.video, .audio, .subtitle, .data, .attachment]
    /// Whether the container stores the titles of tracks.
    package var hasTrackTitles = true
    /// Whether tracks can have tags other than language and title.
    package var hasTrackTags = false
    /// Dispositions that the container stores, by libavformat's names, for each media type.
    var dispositions: [MediaType: Set<String>] = [:]

    /// Returns the layout that players assume for audio, if neither the container nor the codec stores more
    /// than the number of channels; nil if the layout is stored.
    var defaultLayout: @Sendable (_ layout: ChannelLayout, _ codec: String) -> ChannelLayout? = { _, _ in nil
    }

    // MARK: Writing

    /// Whether tracks have sample entries, whose four-character codes identify codecs.
    var hasSampleEntries = false
    /// Options of the muxer, in addition to those of the output's settings.
    var muxerOptions: [(key: String, value: String)] = []
    /// Model of the size of framing and index per packet, for size estimates.
    var framing = OutputSizeModel.Family.other
    /// Creates the stages that copied packets of a track pass through before the muxer.
    var packetStages:
        @Sendable (_ parameters: CodecParameters, _ track: TrackReference) throws -> [any PacketStage] =
            {
                _, _ in []
            }

    /// Creates a model with default properties; the muxer has the same name unless specified.
    init(_ name: String, muxer: String? = nil, _ extensions: [String], _ mediaTypes: Set<MediaType>) {
        self.name = name
        self.muxer = muxer ?? name
        demuxer = .named(name)
        self.extensions = extensions
        self.mediaTypes = mediaTypes
    }

    /// Returns whether copied samples of a codec must be contiguous: the container can't represent gaps, or stores PCM
    /// without times of its samples.
    package func requiresContiguousSamples(of codec: BitstreamTraits) -> Bool {
        requiresContiguousSamples || codec.isPCM && hasEditLists
    }

    /// Sets the dispositions for all supported media types.
    mutating func setDispositions(_ names: Set<String>) {
        for type in mediaTypes { dispositions[type] = names }
    }
}

extension ContainerModel {
    /// Creates a model of an audio file with one track and contiguous samples.
    static func audio(_ name: String, _ extensions: [String], tags: Set<String>?) -> ContainerModel {
        var model = ContainerModel(name, extensions, [.audio])
        model.isSingleTrack = true
        model.hasTimestamps = false
        model.requiresContiguousSamples = true
        model.metadataKeys = tags
        model.languages = []
        model.hasTrackTitles = false
        // The only track is always the default one.
        model.setDispositions(["default"])
        return model
    }

    /// Creates a model of a file with one subtitle track.
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

    /// Creates a model with the common properties of QuickTime, MP4 and M4A.
    static func movie(_ name: String, muxer: String? = nil, _ extensions: [String], _ types: Set<MediaType>)
        -> ContainerModel
    {
        var model = ContainerModel(name, muxer: muxer, extensions, types)
        model.hasEditLists = true
        model.hasSampleEntries = true
        model.titlesAllChapters = true
        model.trackTitleKey = "handler_name"
        model.hidesBeginningExcept = []
        model.hasDisplayMatrix = true
        model.canOptimizeForNetwork = true
        model.hasFragments = true
        model.isPlayableUnfinished = true
        model.canWriteChaptersLate = true
        model.treatsZeroTimeAsUnknown = true
        model.parsesCreationTime = true
        model.languageFormat = .threeLetters
        model.framing = .movie
        model.packetStages = { parameters, track in
            let stages: [(any PacketStage)?] = [
                HEVCSampleEntry(parameters), ADTSUnwrapping(parameters, track: track),
            ]
            return stages.compactMap(\.self)
        }
        model.metadataKeys = [
            "title", "artist", "album_artist", "composer", "album", "date", "comment", "genre", "copyright",
            "grouping", "lyrics", "description", "synopsis", "show", "episode_id", "network", "keywords",
            "track", "disc", "encoder", MetadataEntry.timecodeKey, "creation_time", "location",
        ]
        return model
    }

    /// Creates a model with the common properties of Matroska and WebM.
    static func matroska(
        _ name: String, muxer: String? = nil, _ extensions: [String], _ types: Set<MediaType>
    )
        -> ContainerModel
    {
        var model = ContainerModel(name, muxer: muxer, extensions, types)
        model.audioTimeBase = Rational(1, 1000)
        model.parsesCreationTime = true
        // libavformat writes the field for Opus only.
        model.delayFields = ["opus"]
        model.storesFrameRate = true
        // Matroska counts nanoseconds, but `OutputHeader` passes microseconds.
        model.shortestChapter = MediaTime(value: 1, timescale: 1_000_000)
        model.delayedCodecs = ["opus"]
        // DiscardPadding can hide whole packets; Opus and MP3 also store the delay in the bitstream.
        model.hidesBeginningExcept = []
        model.canWriteChaptersLate = true
        model.isPlayableUnfinished = true
        model.discardMarking = .packetEnds
        model.hasTrackTags = true
        model.muxerKeys = ["duration", "encoding_tool", "stereo_mode"]
        model.trackMuxerKeys = ["creation_time"]
        model.supportsSeparateAlpha = true
        model.storesColor = true
        model.storesColorRange = true
        model.framing = .matroska
        model.defaultLayout = { layout, codec in
            codec.hasPrefix("pcm_") ? ChannelLayout(defaultFor: layout.channels) : nil
        }
        return model
    }

    /// Returns the layout that players assume for FLAC if only the number of channels is stored.
    static func defaultFLACLayout(_ layout: ChannelLayout, _ codec: String) -> ChannelLayout? {
        let names = ["mono", "stereo", "3.0", "quad", "5.0", "5.1", "6.1", "7.1"]
        guard codec == "flac", names.indices.contains(layout.channels - 1) else { return nil }
        return ChannelLayout(named: names[layout.channels - 1])
    }
}
