/// The configuration of an encoder, as a value that a plan can contain.
public struct EncoderConfiguration: Hashable, Codable, Sendable {
    /// Name of the encoder in libav (`libx264`).
    public var encoder: String
    /// Media type of the encoder.
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
    /// Pixel aspect ratio.
    public var sampleAspectRatio: Rational?
    /// Color properties of the frames.
    public var color = ColorDescription()
    /// Maximum number of frames between keyframes; nil for the encoder's default.
    public var keyframeInterval: Int?
    /// Whether frames are coded as fields.
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
    /// Maximum bit rate in bits per second, within `bufferSize`.
    public var maxBitRate: Int64?
    /// Size of the rate-control buffer in bits.
    public var bufferSize: Int64?
    /// Fixed quantizer (`-q`), for codecs without rate control.
    public var fixedQuantizer: Int?
    /// Quality of a variable bit rate, in thousandths of the encoder's scale (`global_quality`).
    public var quality: Int?
    /// Number of significant bits per sample, if less than the sample format has.
    public var bitsPerSample: Int?
    /// Level in the codec's numbering.
    public var level: Int?
    /// Private options and `profile`, in order. An option that the encoder doesn't support is an error.
    public var options: [MetadataEntry] = []
    /// Parameters of options that are lists (`x264-params`), in order.
    public var parameters: [EncoderParameters] = []
    /// Number of threads; 0 for the encoder's choice.
    public var threads = 0
    /// Pass of two-pass encoding; nil for a single pass.
    public var pass: EncoderPass?

    /// Creates a configuration without optional settings.
    public init(encoder: String, mediaType: MediaType, timeBase: Rational) {
        self.encoder = encoder
        self.mediaType = mediaType
        self.timeBase = timeBase
    }

    /// Returns the configuration with a suitable number of threads, unless one is set. `sourceBitsPerPixel`
    /// describes the compressed source of the frames; 0 if unknown.
    public func withThreads(cores: Int, sourceBitsPerPixel: Double = 0) -> EncoderConfiguration {
        let model = EncoderModel.of(encoder)
        guard threads == 0,
            let suiting = model.threads(cores, sourceBitsPerPixel, value(at: model.presetOption))
        else { return self }
        var result = self
        result.threads = suiting
        return result
    }
}

/// The parameters of an encoder's option that is a list, passed on separately.
public struct EncoderParameters: Hashable, Codable, Sendable {
    /// Name of the option, such as `x264-params`.
    public var option: String
    /// Parameters with unique names.
    public var entries: [MetadataEntry]
}

extension EncoderConfiguration {
    /// Options in the syntax of the `ffmpeg` command, for messages.
    public var optionsText: String {
        let lists = parameters.map { list in
            "\(list.option)=" + list.entries.map { "\($0.key)=\($0.value)" }.joined(separator: ":")
        }
        return (options.map { "\($0.key)=\($0.value)" } + lists).joined(separator: " ")
    }

    /// Sets a parameter of an option, which replaces an earlier value.
    public mutating func set(_ key: String, to value: String, in option: String) {
        let entry = MetadataEntry(key: key, value: value)
        guard let index = parameters.firstIndex(where: { $0.option == option }) else {
            return parameters.append(EncoderParameters(option: option, entries: [entry]))
        }
        parameters[index].entries.removeAll { $0.key == key }
        parameters[index].entries.append(entry)
    }
}

/// One of two passes over the same frames.
public enum EncoderPass: Hashable, Codable, Sendable {
    /// The analysis pass. `statistics` is the path to which encoders with a statistics file write.
    case first(statistics: String)
    /// The encoding pass, with the statistics of the first one: at the same path, or as text for encoders
    /// without a file.
    case second(statistics: String, text: String?)
}
