/// The properties of a codec's packets that readers, stream copies and containers depend on, regardless of the
/// encoder. `BitstreamTraits.table` contains the codecs that differ from these defaults. `EncoderModel` describes
/// encoders.
package struct BitstreamTraits: Sendable {
    /// The method by which the number of samples in a packet is determined.
    package enum Lengths: Sendable {
        /// The number isn't determined by the codec or the packet.
        case unknown
        /// A fixed number per packet, or a number that follows from the packet's size.
        case fixed
        /// The first bytes of the packet (Opus TOC).
        case opus
        /// The block sizes of the packet and of the previous one (Vorbis).
        case vorbis
        /// The frame header (FLAC).
        case flac
        /// A flag in the packet and the codec's header (ALAC).
        case alac
        /// The number of blocks in the packet's frames (Enhanced AC-3).
        case enhancedAC3
        /// The header of the core frame (DTS).
        case dts
        /// The sample rate (TrueHD, MLP).
        case trueHD
    }

    /// The kind of parameter sets, which may be in the codec headers, in packets, or in both.
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

    /// The method for finding the first frame that is decoded without missing references, in a stream that begins at
    /// any packet.
    package enum RandomAccess: Sendable {
        /// The decoder marks frames that precede a recovery point (H.264).
        case recoveryPoint
        /// The frame is the first keyframe.
        case keyframe
        /// The decoder outputs no earlier frames.
        case withheld
    }

    /// The syntax of the codec's string in manifests and media types (RFC 6381), for tracks in mp4.
    package enum ManifestString: Sendable {
        /// Profile and level of `avcC`.
        case avc
        /// Profile, tier, level and constraints of `hvcC`.
        case hevc
        /// Profile, level and color of `av1C`.
        case av1
        /// Profile, level and color of `vpcC`.
        case vp9
        /// The object type of MPEG-4 audio.
        case mpeg4Audio
        /// The object type of MPEG-1 or MPEG-2 audio, depending on the sample rate.
        case mpegAudio
        /// The same string for all tracks.
        case fixed(String)
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
        /// Media type (MIME) of the image.
        package let mime: String
        /// File name of the attachment.
        package let name: String
    }

    // MARK: Audio

    /// Method by which the number of samples in a packet is determined.
    package var lengths = Lengths.unknown
    /// Preroll in milliseconds: decoding must begin this long before the first audio that is required to be correct.
    package var preroll: Int64 = 25
    /// Whether only some packets are sync samples, from which decoding can begin.
    package var hasSyncPackets = false
    /// Whether the codec's header contains the encoder delay, so that all decoders drop it.
    package var hasDelayInHeader = false
    /// Whether the decoder may output twice the sample rate of the core (SBR). Containers declare either rate.
    package var mayDoubleRate = false
    /// libavcodec's filter that converts packets with headers of their own to packets of a stream with codec headers; nil
    /// for codecs without such packets.
    package var unwrappingFilter: String?
    /// Whether the codec has its own loudness tags (RFC 7845, 5.2.1) instead of ReplayGain's.
    package var hasOwnLoudnessTags = false
    /// Whether every packet decodes to a full frame, so that the last one ends with padding.
    package var fillsPackets = false
    /// Whether the durations of packets differ.
    package var hasUnevenPackets = false
    /// Whether the header contains the total length and a checksum.
    package var storesLengthInHeader = false
    package var isPCM = false
    /// Whether the audio can be cut at any sample, since samples are interleaved and consist of whole bytes.
    package var isCutAtSamples = false
    /// Minimum number of audio PES packets per second in MPEG-TS, for the estimate of its overhead.
    package var packetsASecond = 3

    // MARK: Video

    /// Color properties that the codec's headers declare.
    package var storedColor: ColorParts = []
    /// Whether the codec can carry closed captions.
    package var carriesCaptions = false
    /// Kind of parameter sets; nil if the codec has none.
    package var parameterSets: ParameterSets?
    /// Whether packets can contain hidden frames, which serve only as references: bit 4 of the first byte (`show_frame`
    /// of VP8) is then 0.
    package var hidesFrames = false
    /// Older MPEG codec, whose frame headers determine the reordering; nil for other codecs.
    package var olderVideo: OlderVideo?
    /// Whether interlacing is declared only in the frames, so that it is unknown before they are decoded.
    package var declaresFieldsInFrames = false
    /// Method for finding the first correct frame; nil if every frame is independent, or if no method is known.
    package var randomAccess: RandomAccess?
    /// Codec tag that players of mp4 and mov require; nil for the muxer's choice.
    package var movieTag: String?
    /// Whether the profile is declared only by the codec tag.
    package var declaresProfileInTag = false
    /// Display name of a codec that many players decode only in 8-bit 4:2:0; nil for other codecs.
    package var playsPlainAs: String?
    /// Attributes of a cover image; nil if the codec isn't an image format.
    package var cover: Cover?

    // MARK: Subtitles

    /// Format of bitmap subtitles, whose events depend on earlier ones; nil for other codecs.
    package var displaySets: DisplaySets?
    /// Whether an empty packet ends the previous event.
    package var hasEmptyCues = false
    /// Whether subtitle events have styles.
    package var hasStyles = false
    /// Whether subtitle events have settings for their position.
    package var hasCuePositions = false

    // MARK: Names

    /// Whether FFmpeg's name of the codec doesn't identify a format (`bin_data`, `none`).
    package var isNameless = false
    /// Whether the codec is uncompressed video, with frames that last one tick.
    package var isGenerated = false

    /// Syntax of the codec's string in manifests; nil if it has none in mp4.
    package var manifestString: ManifestString?

    // MARK: Decoding

    /// Whether the bitstream contains checksums: decoding errors then indicate damage, even if a frame is output.
    package var hasChecksums = false

    /// Names of the codecs that are supported for cover images.
    package static let covers = Set(table.filter { $0.value.cover != nil }.keys)

    /// Returns the traits of a codec by its FFmpeg name.
    package static func of(_ codec: String) -> BitstreamTraits {
        table[codec] ?? (codec.hasPrefix("pcm_") ? pcm : BitstreamTraits())
    }
}

extension CodecParameters {
    /// Traits of the codec.
    package var traits: BitstreamTraits { BitstreamTraits.of(codecName) }
}
