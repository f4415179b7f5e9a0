/// Everything an encoder is opened with; a value that a plan can hold.
public struct EncoderConfiguration: Hashable, Codable, Sendable {
    /// The encoder's libav name (`libx264`).
    public var encoder: String
    /// Video or audio.
    public var mediaType: MediaType
    /// The unit of the frames' and packets' time stamps.
    public var timeBase: Rational

    /// Width in pixels.
    public var width = 0
    /// Height in pixels.
    public var height = 0
    /// Pixel format of the frames.
    public var pixelFormat: PixelFormat = .none
    /// A hint for rate control; time stamps rule.
    public var frameRate: Rational?
    /// Shape of a pixel.
    public var sampleAspectRatio: Rational?
    /// What the numbers of the frame mean.
    public var color = ColorDescription()
    /// Most frames from one key frame to the next.
    public var keyframeInterval: Int?
    /// Encode as two fields.
    public var isInterlaced = false
    /// The earlier of two fields, for the container; nil for whole frames.
    public var fieldOrder: FieldOrder?

    /// Samples per second.
    public var sampleRate: Int32 = 0
    /// Sample format of the frames.
    public var sampleFormat: SampleFormat = .none
    /// Channels and their places.
    public var channelLayout: ChannelLayout?

    /// Bits per second.
    public var bitRate: Int64?
    /// Highest rate, with `bufferSize`.
    public var maxBitRate: Int64?
    /// Size of the rate-control buffer in bits.
    public var bufferSize: Int64?
    /// A fixed quantiser (`-q`) of codecs that have no rate control of their own.
    public var fixedQuantizer: Int?
    /// Variable bit rate by quality, in thousandths of the encoder's own scale (`global_quality`).
    public var quality: Int?
    /// Bits of a sample that mean something, where that is less than the format holds.
    public var bitsPerSample: Int?
    /// Level as the codec numbers it.
    public var level: Int?
    /// Private options and `profile`, in order; each must be taken.
    public var options: [MetadataEntry] = []
    /// Settings inside options that are lists of their own (`x264-params`), in order.
    public var parameters: [EncoderParameters] = []
    /// 0 lets the encoder choose.
    public var threads = 0
    /// Which of two passes this is; nil for the only one.
    public var pass: EncoderPass?

    /// Makes a configuration with nothing chosen.
    public init(encoder: String, mediaType: MediaType, timeBase: Rational) {
        self.encoder = encoder
        self.mediaType = mediaType
        self.timeBase = timeBase
    }

    /// With the threads that suit it where nobody chose. `sourceBitsPerPixel` is what its frames are decoded from; 0 where
    /// that isn't known.
    public func withThreads(cores: Int, sourceBitsPerPixel: Double = 0) -> EncoderConfiguration {
        let model = EncoderModel.of(encoder)
        guard threads == 0,
            let suiting = model.threads(cores, sourceBitsPerPixel, value(at: model.presetPlace))
        else { return self }
        var result = self
        result.threads = suiting
        return result
    }
}

/// Settings inside one option of an encoder, handed over one by one.
public struct EncoderParameters: Hashable, Codable, Sendable {
    /// The option: `x264-params`.
    public var option: String
    /// The settings; each name stands once.
    public var entries: [MetadataEntry]
}

extension EncoderConfiguration {
    /// Its options as people write them.
    public var optionsText: String {
        let lists = parameters.map { list in
            "\(list.option)=" + list.entries.map { "\($0.key)=\($0.value)" }.joined(separator: ":")
        }
        return (options.map { "\($0.key)=\($0.value)" } + lists).joined(separator: " ")
    }

    /// Sets one of an option's settings, instead of what was said of it before.
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
    /// Looks at everything. `statistics` is a path that encoders with a file of their own write to.
    case first(statistics: String)
    /// Spends the bits by what the first found: at the same path, or as text, as the encoder has it.
    case second(statistics: String, text: String?)
}
