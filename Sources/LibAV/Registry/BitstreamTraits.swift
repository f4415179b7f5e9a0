/// What is particular to the packets of a codec, whoever wrote them: what a reader, a copy and a container must know of them. What each
/// codec has stands once, in `BitstreamTraits.table`; everything else is as these defaults say. How codecs are *encoded* is the
/// business of `EncoderModel`.
package struct BitstreamTraits: Sendable {
    /// How a packet says how many samples it decodes to.
    package enum Lengths: Sendable {
        /// It doesn't, and nobody else knows.
        case unknown
        /// The codec's own number, or by the size in bytes.
        case usual
        /// Its first bytes say it, as Opus has them.
        case opus
        /// Its mode says it, beside the mode of the packet before.
        case vorbis
        /// Its frame's header says it, as FLAC has it.
        case flac
        /// A bit of it, and the codec's header.
        case alac
        /// The blocks of its frames, as Enhanced AC-3 has them.
        case enhancedAC3
        /// The header of its core, as DTS has it.
        case dts
        /// The codec's rate.
        case trueHD
    }

    /// Parameter sets that stand in headers, in packets, or in both.
    package enum ParameterSets: String, Sendable {
        /// H.264's.
        case avc = "h264"
        /// HEVC's.
        case hevc
    }

    /// The older video codecs of MPEG, whose reordering is one frame deep.
    package enum OlderVideo: Sendable {
        /// MPEG-1 and MPEG-2.
        case mpeg2
        /// MPEG-4 part 2.
        case mpeg4
    }

    /// How the first frame that decodes without missing references is recognized in a stream that begins anywhere.
    package enum RandomAccess: Sendable {
        /// The decoder reports which frames follow a recovery point (H.264).
        case recoveryPoint
        /// The first keyframe.
        case keyframe
        /// The decoder withholds earlier frames.
        case withheld
    }

    /// What subtitles show as frames.
    package enum DisplaySets: Sendable {
        /// Presentation graphics of Blu-ray.
        case pgs
        /// DVB's.
        case dvb
    }

    /// What a file of its one frame is called as an attachment.
    package struct Cover: Sendable {
        /// Its media type.
        package let mime: String
        /// Its name.
        package let name: String
    }

    // MARK: Audio

    /// How a packet says how many samples it decodes to.
    package var lengths = Lengths.unknown
    /// How many milliseconds before a time decoding must begin for its audio to be right there.
    package var preroll: Int64 = 25
    /// Not every packet of it can be decoded by itself.
    package var hasSyncPackets = false
    /// Its own header says the encoder's delay, which every decoder takes off.
    package var hasDelayInHeader = false
    /// Its decoder may double the sample rate of its core (SBR), and containers count in either.
    package var mayDoubleRate = false
    /// Its loudness tags are its own (RFC 7845, 5.2.1), not ReplayGain's.
    package var hasOwnLoudnessTags = false
    /// Every packet decodes to a whole frame, what fills the last one included.
    package var fillsPackets = false
    /// Packets differ in length.
    package var hasUnevenPackets = false
    /// Its header says how long all of it is, and its checksum.
    package var saysLengthAtStart = false
    /// Samples as they are.
    package var isPCM = false
    /// Samples of all channels stand beside each other in whole bytes: any of them may be a packet's first or last.
    package var isCutAtSamples = false
    /// Packets that begin in a second of an elementary stream, at least.
    package var packetsASecond = 3

    // MARK: Video

    /// What of primaries, transfer, matrix and range its headers say.
    package var saidColor: ColorParts = []
    /// It has a place for closed captions.
    package var carriesCaptions = false
    /// The parameter sets that it has.
    package var parameterSets: ParameterSets?
    /// The fifth bit of a packet says whether its frame is shown: some are for other frames' sake alone.
    package var hidesFrames = false
    /// Its frames say by a code of their own whether they are reordered.
    package var olderVideo: OlderVideo?
    /// Only decoded frames say whether they are interlaced.
    package var saysFieldsInFrames = false
    /// Where decoding can begin; nil where every frame is independent, or nothing is known.
    package var randomAccess: RandomAccess?
    /// The tag under which players of movies take it; nil where the muxer's is.
    package var movieTag: String?
    /// Its tag alone says its profile.
    package var saysProfileInTag = false
    /// What people call it, where many players show it with 8 bits and 4:2:0 alone.
    package var playsPlainAs: String?
    /// What a file of its one frame is called; nil where it is no format of images.
    package var cover: Cover?

    // MARK: Subtitles

    /// What builds on what came before.
    package var displaySets: DisplaySets?
    /// A packet without text ends a cue.
    package var hasEmptyCues = false
    /// Cues say how they look by styles.
    package var hasStyles = false
    /// Cues say where they stand by settings.
    package var hasCuePlaces = false

    // MARK: Names

    /// libav's name says nothing of it.
    package var isNameless = false
    /// Frames as they are, of which each is as long as the unit of its times.
    package var isGenerated = false

    // MARK: Decoding

    /// Checksums of its own: what its decoder says of them is damage, even where a frame comes out.
    package var hasChecksums = false

    /// Codecs whose frames are images that other files can have as covers.
    package static let covers = Set(table.filter { $0.value.cover != nil }.keys)

    /// Of a codec by libav's name.
    package static func of(_ codec: String) -> BitstreamTraits {
        table[codec] ?? (codec.hasPrefix("pcm_") ? pcm : BitstreamTraits())
    }
}

extension CodecParameters {
    /// What is particular to its packets.
    package var traits: BitstreamTraits { BitstreamTraits.of(codecName) }
}
