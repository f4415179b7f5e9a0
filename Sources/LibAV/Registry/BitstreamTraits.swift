/// The properties of a codec's packets that readers, copies and containers need, regardless of the encoder.
/// `BitstreamTraits.table` contains the codecs that differ from these defaults. `EncoderModel` describes
/// encoding.
package struct BitstreamTraits: Sendable {
    /// The method by which the number of samples in a packet is determined.
    package enum Lengths: Sendable {
        /// Neither the codec nor its packets determine the number.
        case unknown
        /// By the codec's fixed number, or by the packet's size in bytes.
        case fixed
        /// By the packet's first bytes (Opus).
        case opus
        /// By the modes of the packet and of the previous one.
        case vorbis
        /// By the frame header (FLAC).
        case flac
        /// By a bit of the packet, and the codec's header.
        case alac
        /// By the number of blocks in the frames (Enhanced AC-3).
        case enhancedAC3
        /// By the header of the core (DTS).
        case dts
        /// By the sample rate.
        case trueHD
    }

    /// The kind of parameter sets, which may be in the header, in packets, or in both.
    package enum ParameterSets: String, Sendable {
        /// SPS and PPS of H.264.
        case avc = "h264"
        /// VPS, SPS and PPS of HEVC.
        case hevc
    }

    /// The older MPEG video codecs, with a reordering delay of one frame.
    package enum OlderVideo: Sendable {
        /// MPEG-1 and MPEG-2.
        case mpeg2
        /// MPEG-4 part 2.
        case mpeg4
    }

    /// The method by which the first frame that decodes without missing references is determined, in a stream
    /// that begins at any packet.
    package enum RandomAccess: Sendable {
        /// The decoder reports which frames follow a recovery point (H.264).
        case recoveryPoint
        /// The first keyframe.
        case keyframe
        /// The decoder doesn't output earlier frames.
        case withheld
    }

    /// The format of bitmap subtitles.
    package enum DisplaySets: Sendable {
        /// Presentation graphics of Blu-ray (PGS).
        case pgs
        /// DVB subtitles.
        case dvb
    }

    /// The attributes of an attachment that contains a single image of the codec.
    package struct Cover: Sendable {
        /// Media type.
        package let mime: String
        /// File name.
        package let name: String
    }

    // MARK: Audio

    /// Method by which the number of samples in a packet is determined.
    package var lengths = Lengths.unknown
    /// Preroll in milliseconds: the duration by which decoding must begin earlier, so that audio is correct.
    package var preroll: Int64 = 25
    /// Whether some packets can't be decoded independently.
    package var hasSyncPackets = false
    /// Whether the codec's header contains the encoder delay, which all decoders apply.
    package var hasDelayInHeader = false
    /// Whether the decoder may double the sample rate of the core (SBR); containers use either rate.
    package var mayDoubleRate = false
    /// Whether the codec has its own loudness tags (RFC 7845, 5.2.1) instead of ReplayGain's.
    package var hasOwnLoudnessTags = false
    /// Whether every packet decodes to a whole frame, including the padding of the last one.
    package var fillsPackets = false
    /// Whether the durations of packets differ.
    package var hasUnevenPackets = false
    /// Whether the header contains the total length and a checksum.
    package var storesLengthInHeader = false
    /// Whether the codec is PCM.
    package var isPCM = false
    /// Whether the audio can be cut at any sample: samples of all channels are interleaved in whole bytes.
    package var isCutAtSamples = false
    /// Minimum number of packets that begin in a second of an elementary stream.
    package var packetsASecond = 3

    // MARK: Video

    /// Color properties that the codec's headers declare.
    package var storedColor: ColorParts = []
    /// Whether the codec can carry closed captions.
    package var carriesCaptions = false
    /// Kind of parameter sets; nil if the codec has none.
    package var parameterSets: ParameterSets?
    /// Whether the fifth bit of a packet determines if its frame is presented; hidden frames serve only as
    /// references.
    package var hidesFrames = false
    /// Older MPEG codec, whose frames contain a code for their reordering; nil for other codecs.
    package var olderVideo: OlderVideo?
    /// Whether only decoded frames reveal whether they are interlaced.
    package var declaresFieldsInFrames = false
    /// Method for finding the start of decoding; nil if every frame is independent, or if it is unknown.
    package var randomAccess: RandomAccess?
    /// Tag that players of mp4 and mov require; nil for the muxer's choice.
    package var movieTag: String?
    /// Whether only the tag declares the profile.
    package var declaresProfileInTag = false
    /// Name for the user of a codec that many players decode only in 8-bit 4:2:0; nil for other codecs.
    package var playsPlainAs: String?
    /// Attributes of an attached image; nil if the codec isn't an image format.
    package var cover: Cover?

    // MARK: Subtitles

    /// Format of bitmap subtitles, whose events depend on earlier ones; nil for other codecs.
    package var displaySets: DisplaySets?
    /// Whether a packet without text ends the previous event.
    package var hasEmptyCues = false
    /// Whether events have styles.
    package var hasStyles = false
    /// Whether events have settings for their position.
    package var hasCuePositions = false

    // MARK: Names

    /// Whether libav's name doesn't identify a format.
    package var isNameless = false
    /// Whether the codec is uncompressed video, with frames that last one tick.
    package var isGenerated = false

    // MARK: Decoding

    /// Whether the codec has checksums: errors of its decoder then mean damage, even if a frame is output.
    package var hasChecksums = false

    /// Names of the codecs whose frames may be covers.
    package static let covers = Set(table.filter { $0.value.cover != nil }.keys)

    /// Returns the traits of a codec by its libav name.
    package static func of(_ codec: String) -> BitstreamTraits {
        table[codec] ?? (codec.hasPrefix("pcm_") ? pcm : BitstreamTraits())
    }
}

extension CodecParameters {
    /// Traits of the packets.
    package var traits: BitstreamTraits { BitstreamTraits.of(codecName) }
}
