public import LibAV

/// Settings of an encoded audio track (AVFoundation's `AVFormatIDKey`, `AVSampleRateKey`, `AVEncoderBitRateKey` and
/// others).
public struct AudioSettings: Hashable, Sendable {
    /// An audio codec.
    public enum Codec: Hashable, Sendable {
        /// AAC-LC.
        case aac
        /// Opus (RFC 6716).
        case opus
        /// MPEG-1 and MPEG-2 layer III.
        case mp3
        /// FLAC, lossless.
        case flac
        /// Apple Lossless.
        case alac
        /// Uncompressed samples.
        case pcm(PCMFormat)
    }

    /// Representation of uncompressed samples, in little-endian order.
    public enum PCMFormat: String, Hashable, Sendable, CaseIterable {
        /// 16-bit integers.
        case int16
        /// 24-bit integers.
        case int24
        /// 32-bit integers.
        case int32
        /// 32-bit floating point, which keeps values beyond full scale.
        case float32
    }

    /// The codec, with the sample format of uncompressed audio.
    public let codec: Codec
    /// Samples per second.
    public var sampleRate: Int32
    /// Channel layout.
    public var layout: ChannelLayout
    /// Average bit rate in bits per second; nil for the default of the codec, and for lossless codecs.
    public var bitRate: Int64?
    /// Bits per sample of FLAC and Apple Lossless, 16 or 24; nil for other codecs.
    public var bitDepth: Int?

    private init(
        _ codec: Codec, _ sampleRate: Int32, _ layout: ChannelLayout, bitRate: Int64? = nil,
        bitDepth: Int? = nil
    ) {
        self.codec = codec
        self.sampleRate = sampleRate
        self.layout = layout
        self.bitRate = bitRate
        self.bitDepth = bitDepth
    }
}

extension AudioSettings {
    /// Returns settings for AAC. `bitRate` is in bits per second; nil for 64,000 per channel (mono: 96,000).
    public static func aac(
        bitRate: Int64? = nil, sampleRate: Int32 = 48_000, layout: ChannelLayout = .stereo
    ) -> AudioSettings {
        AudioSettings(.aac, sampleRate, layout, bitRate: bitRate)
    }

    /// Returns settings for Opus. `bitRate` is in bits per second; nil for 48,000 per channel.
    public static func opus(
        bitRate: Int64? = nil, sampleRate: Int32 = 48_000, layout: ChannelLayout = .stereo
    ) -> AudioSettings {
        AudioSettings(.opus, sampleRate, layout, bitRate: bitRate)
    }

    /// Returns settings for MP3. `bitRate` is in bits per second; nil for 128,000.
    public static func mp3(
        bitRate: Int64? = nil, sampleRate: Int32 = 48_000, layout: ChannelLayout = .stereo
    ) -> AudioSettings {
        AudioSettings(.mp3, sampleRate, layout, bitRate: bitRate)
    }

    /// Returns settings for FLAC with 16 or 24 bits per sample.
    public static func flac(
        bitDepth: Int = 16, sampleRate: Int32 = 48_000, layout: ChannelLayout = .stereo
    ) -> AudioSettings {
        AudioSettings(.flac, sampleRate, layout, bitDepth: bitDepth)
    }

    /// Returns settings for Apple Lossless with 16 or 24 bits per sample.
    public static func alac(
        bitDepth: Int = 16, sampleRate: Int32 = 48_000, layout: ChannelLayout = .stereo
    ) -> AudioSettings {
        AudioSettings(.alac, sampleRate, layout, bitDepth: bitDepth)
    }

    /// Returns settings for uncompressed audio.
    public static func pcm(
        _ format: PCMFormat = .int16, sampleRate: Int32 = 48_000, layout: ChannelLayout = .stereo
    ) -> AudioSettings {
        AudioSettings(.pcm(format), sampleRate, layout)
    }
}
