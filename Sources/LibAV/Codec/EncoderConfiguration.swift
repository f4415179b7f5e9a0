/// The configuration of an encoder, as a value that a plan can contain.
public struct EncoderConfiguration: Hashable, Codable, Sendable {
    /// Name of the encoder in FFmpeg (`libx264`).
    public var encoder: String
    /// Media type of the encoder: video or audio.
    public var mediaType: MediaType
    /// Time base of the frames' and packets' timestamps.
    public var timeBase: Rational

    /// Width in pixels.
    public var width = 0
    /// Height in pixels.
    public var height = 0
    /// Pixel format of the frames.
    public var pixelFormat: PixelFormat = .none
    /// Nominal frame rate, a hint for rate control; timestamps take precedence.
    public var frameRate: Rational?
    /// Pixel aspect ratio (`AVVideoPixelAspectRatioKey`); nil for square pixels without a declaration.
    public var sampleAspectRatio: Rational?
    /// Visible rectangle of the frames (`AVVideoCleanApertureKey`), which mp4 and mov store; nil for whole frames. Must be
    /// inside the frame.
    public var cleanAperture: CleanAperture?
    /// Color properties of the frames.
    public var color = ColorDescription()
    /// Maximum number of frames between keyframes; nil for the encoder's default.
    public var keyframeInterval: Int?
    /// Whether frames are coded as interlaced (`AV_CODEC_FLAG_INTERLACED_DCT`, `AV_CODEC_FLAG_INTERLACED_ME`).
    public var isInterlaced = false
    /// Field order, for the container; nil for progressive frames.
    public var fieldOrder: FieldOrder?

    /// Samples per second.
    public var sampleRate: Int32 = 0
    /// Sample format of the frames.
    public var sampleFormat: SampleFormat = .none
    /// Channel layout of audio; nil for video.
    public var channelLayout: ChannelLayout?

    /// Average bit rate in bits per second.
    public var bitRate: Int64?
    /// Maximum bit rate in bits per second, measured over `bufferSize` (`rc_max_rate`).
    public var maxBitRate: Int64?
    /// Size of the rate-control buffer (VBV) in bits.
    public var bufferSize: Int64?
    /// Fixed quantizer (`AV_CODEC_FLAG_QSCALE`, `ffmpeg -q`); nil for other rate control.
    public var fixedQuantizer: Int?
    /// Quality of a variable bit rate, in thousandths of the encoder's scale (`global_quality`).
    public var quality: Int?
    /// Number of significant bits per sample (`bits_per_raw_sample`); nil for all bits of the sample format.
    public var bitsPerSample: Int?
    /// Level in the codec's numbering (41 for H.264's 4.1); nil for the encoder's choice.
    public var level: Int?
    /// Options of the encoder and of `AVCodecContext`, in the order in which they are set. An option that the encoder
    /// doesn't support is an error.
    public var options: [MetadataEntry] = []
    /// Parameters of options whose value is a list (`x264-params`), in the order in which they are set.
    public var parameters: [EncoderParameters] = []
    /// Number of threads; 0 for the encoder's choice.
    public var threads = 0
    /// Length in frames of the chunks that are encoded independently of each other; nil if the track is encoded as a
    /// whole.
    package var chunk: Int?
    /// Pass of two-pass encoding; nil for single-pass encoding.
    package var pass: EncoderPass?

    /// Creates a configuration without optional settings.
    public init(encoder: String, mediaType: MediaType, timeBase: Rational) {
        self.encoder = encoder
        self.mediaType = mediaType
        self.timeBase = timeBase
    }

    /// Returns the configuration with the number of threads that is best for the encoder, unless one is set.
    /// `sourceBitsPerPixel` is the compressed size of the source per pixel, in bits; 0 if unknown. Encoders ignore limits
    /// of control groups, so the number that they would choose within them is set.
    package func withThreads(
        for processors: Processors, sourceBitsPerPixel: Double = 0
    ) -> EncoderConfiguration {
        guard threads == 0, let model else { return self }
        let best = model.operation.threads(
            processors.available, sourceBitsPerPixel, value(at: model.tuning.presetOption))
        let limited =
            processors.isLimited ? model.operation.automaticThreads?(processors.available, height) : nil
        guard let suiting = best ?? limited else { return self }
        var result = self
        result.threads = max(1, suiting)
        return result
    }
}

/// The parameters of an encoder option whose value is a list. They are set with `av_opt_set_dict_val`, so that values
/// need no escaping.
public struct EncoderParameters: Hashable, Codable, Sendable {
    /// Name of the option, such as `x264-params`.
    public var option: String
    /// Names and values of the parameters. Each name occurs once.
    public var entries: [MetadataEntry]
}

extension EncoderConfiguration {
    /// Options in the syntax of the `ffmpeg` command, for messages.
    package var optionsText: String {
        let lists = parameters.map { list in
            "\(list.option)=" + list.entries.map { "\($0.key)=\($0.value)" }.joined(separator: ":")
        }
        return (options.map { "\($0.key)=\($0.value)" } + lists).joined(separator: " ")
    }

    /// Sets a parameter of a list option. Replaces an earlier value of the parameter.
    public mutating func set(_ key: String, to value: String, in option: String) {
        let entry = MetadataEntry(key: key, value: value)
        guard let index = parameters.firstIndex(where: { $0.option == option }) else {
            return parameters.append(EncoderParameters(option: option, entries: [entry]))
        }
        parameters[index].entries.removeAll { $0.key == key }
        parameters[index].entries.append(entry)
    }
}

/// A pass of two-pass encoding.
package enum EncoderPass: Hashable, Codable, Sendable {
    /// The analysis pass. `statistics` is the path to which encoders with a statistics file write.
    case first(statistics: String)
    /// The encoding pass, with the statistics of the first one: at the same path, or as text for encoders
    /// without a file.
    case second(statistics: String, text: String?)
}
