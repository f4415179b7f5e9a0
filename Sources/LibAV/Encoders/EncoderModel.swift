/// The properties of a libavcodec encoder that the job language, the planners and the media pipeline require: bounds
/// and defaults of rate control, presets, profiles, the option of each setting, private options, required hardware,
/// and figures for the size of the output. Each encoder has a separate file in `Models` and a line in
/// `EncoderModel.table`.
///
/// The ranges of libavcodec's options are wider than those of the encoders (`crf` up to `FLT_MAX`, presets as free
/// text). Therefore a model contains the ranges of the encoder itself. Properties of a codec that don't depend on the
/// encoder are in `BitstreamTraits`, and in `CodecModel` of the job language.
package struct EncoderModel: Sendable {
    /// The kind of output that an encoder is used for.
    package enum Purpose: Sendable, CaseIterable {
        /// Tracks of media files.
        case tracks
        /// Image files of one frame.
        case stillImages
        /// Image files of several frames.
        case animations
    }

    /// The constant-quality rate control (`crf`) of an encoder.
    package struct ConstantQuality: Sendable {
        /// Maximum `crf`.
        package let maximum: Int
        /// Default `crf`, if the job file sets no rate control.
        package let defaultValue: Int
        /// Approximate number of steps that halve the bit rate.
        package let stepsPerHalf: Double
        /// Minimum `crf`.
        package var minimum = 0
        /// Whether the encoder accepts only integers.
        package var isWhole = false
        /// Whether the encoder also requires a bit rate of 0.
        package var needsZeroBitRate = false
        /// Encoder option that sets `crf`.
        package var option = SettingOption.option("crf")
    }

    /// The support of lossless encoding.
    package enum Lossless: Sendable {
        /// Lossless encoding isn't supported.
        case never
        /// The encoder is always lossless.
        case always
        /// The encoder is lossless if this setting has this value.
        case set(SettingOption, to: String)
    }

    /// The `quality` of still images, from 1 to 100.
    package struct ImageQuality: Sendable {
        /// Default quality, if the job file sets none.
        package let defaultValue: Int
        /// Conversion of a quality to the encoder's value for `qpOption`.
        package let step: @Sendable (_ quality: Int) -> Int
    }

    /// The coding of interlaced frames.
    package enum FieldCoding: Sendable {
        /// Interlaced coding tools are enabled (`AV_CODEC_FLAG_INTERLACED_DCT`), and the stream declares the field
        /// order.
        case coded
        /// Whole frames are coded without loss of the fields, and the stream or the container declares the field
        /// order.
        case marked
        /// Whole frames are coded, and neither the stream nor the container declares that they are interlaced.
        case unmarked
    }

    /// The storage of a first pass's statistics.
    package enum PassStatistics: Sendable {
        /// In memory, as text (`stats_out`, `stats_in`).
        case text
        /// In a file whose path is the value of an option.
        case file(option: String)
        /// In a file; pass and path are parameters of a list option (`x265-params`).
        case fileInParameters(option: String)
    }

    /// The codec headers from which profile and level are read.
    package enum Headers: Sendable {
        /// The SPS of H.264.
        case avc
        /// The SPS of HEVC.
        case hevc
    }

    /// The hardware that an encoder requires.
    package enum Requirement: Sendable {
        /// A hardware device, which the encoder opens.
        case device
        /// A hardware device of a type, by FFmpeg's name (`vaapi`), into whose memory frames are uploaded.
        case deviceFrames(String)
    }

    /// The package in which Debian has an encoder.
    package enum DebianPackage: Sendable {
        /// FFmpeg's library, with the encoder's library as a dependency.
        case libavcodec
        case named(String)
        /// Debian's FFmpeg is built without the encoder.
        case unavailable

        /// Returns the package's name; nil if there is none. `major` is the major version of libavcodec, which is part of
        /// the name of its package.
        package func name(libavcodec major: Int?) -> String? {
            switch self {
            case .libavcodec: major.map { "libavcodec\($0)" }
            case .named(let name): name
            case .unavailable: nil
            }
        }
    }

    /// A profile of a codec.
    package struct Profile: Sendable {
        /// Name in job files, which is also the encoder's name.
        package let name: String
        /// `profile_idc` in the codec's headers; nil if the headers aren't read.
        package var number: UInt8?
        /// Name in messages, such as `Constrained Baseline`; messages about profiles without one state the number.
        package var title: String?
        /// Whether the profile allows B-frames.
        package var hasBFrames = true
    }

    /// The settings for visually lossless encoding, which are used for the edges of a smart cut.
    package struct NearLossless: Sendable {
        /// CRF of visually lossless quality.
        package let crf: Int
        package let preset: String
        /// Name of the list option for private parameters (`x264-params`).
        package let parameters: String
    }

    /// Rate control: supported modes, their bounds, options and defaults.
    package struct RateControl: Sendable {
        /// Constant-quality rate control (`crf`); nil if it isn't supported.
        package var constantQuality: ConstantQuality?
        /// Range of `qp`; nil if it isn't supported.
        package var qpRange: ClosedRange<Int>?
        /// Option that sets `qp`.
        package var qpOption = SettingOption.option("qp")
        /// Default `qp`, if the job file sets no rate control; nil if the default rate control isn't `qp`.
        package var defaultQP: Int?
        /// Whether `bitrate` is supported.
        package var acceptsBitRate = true
        /// Maximum of `target_size`'s bit rate, in bits per second; nil for the bits of uncompressed frames.
        package var maximumBitRate: Int64?
        /// Whether the average bit rate is followed in one pass, so that corrections of it reach a file size.
        package var isFollowed = false
        /// Whether `max_bitrate` is supported.
        package var acceptsMaxBitRate = false
        /// Default bit rate for a number of channels, in bits per second; nil for the encoder's own default.
        package var defaultBitRate: @Sendable (_ channels: Int) -> Int64? = { _ in nil }
        /// Supported bit rates at a sample rate, in bits per second; the encoder uses the nearest one. Nil if any rate is
        /// supported.
        package var bitRates: (@Sendable (_ sampleRate: Int32) -> [Int64])?
        /// Range of `quality`; nil if it isn't supported.
        package var qualities: ClosedRange<Int>?
        /// `quality` of still images; nil for lossless encoders.
        package var imageQuality: ImageQuality?
        package var lossless = Lossless.never
        /// Default rate control, as text for the printed plan.
        package var defaultRate = ""
    }

    /// Presets and tunings.
    package struct Tuning: Sendable {
        /// Names of the presets; nil if there are none.
        package var presets: [String]?
        /// Option that sets the preset.
        package var presetOption = SettingOption.option("preset")
        /// The option for the ratio of speed to compression, and its values for the four steps of `VideoSettings.Speed`,
        /// the fastest first; nil if there is no choice.
        package var speeds: (option: SettingOption, values: [String])?
        /// Values of `tune`; nil if it isn't supported.
        package var tunes: [String]?
        /// Option that sets `tune`.
        package var tuneOption = SettingOption.option("tune")
    }

    /// Profiles and levels.
    package struct Conformance: Sendable {
        /// Profiles; nil if no profile can be set.
        package var profiles: [Profile]?
        /// Function that returns the profile that a pixel format requires; nil if the profile can be set.
        package var profileOfFormat: (@Sendable (PixelFormat) -> String)?
        /// Names of the levels; nil if no level can be set.
        package var levels: [String]?
        /// Option that sets the level.
        package var levelOption = SettingOption.option("level")
        /// Codec headers that contain profile and level; nil if they aren't read.
        package var headers: Headers?
        /// Factor between a level and its number in the headers (10: level 4.1 is 41).
        package var levelUnit = 10.0
    }

    /// Keyframes and B-frames.
    package struct GOP: Sendable {
        /// Maximum number of consecutive B-frames; nil if it can't be set.
        package var maxBFrames: Int?
        /// Option that sets the number of B-frames.
        package var bFramesOption = SettingOption.option("bf")
        /// Whether the keyframe interval can be set; otherwise every frame is a keyframe.
        package var acceptsKeyframeInterval = true
        /// Whether the encoder writes a keyframe where one is requested for a frame, with a configuration.
        package var honorsKeyframeRequests: @Sendable (EncoderConfiguration) -> Bool = { _ in true }
        /// Function that returns the setting with which keyframes that are requested for single frames are random-access
        /// points; nil if they are without it, or can't be requested.
        package var forcedKeyframes:
            @Sendable (EncoderConfiguration) -> (option: SettingOption, value: String)? =
                { _ in nil }
    }

    /// Private options that job files may set.
    package struct PrivateOptions: Sendable {
        /// Private options that job files may set, in the notation of `OptionTable`. Options that open files,
        /// that read or write statistics, or that correspond to a key of the job language aren't listed.
        package var options = ""
        /// Parameters of options that are lists (`x264-params`), by option, in the same notation.
        package var parameterLists: [String: String] = [:]
        /// Parameters that job files can't set in these lists, because the output would differ from the plan, with the
        /// key of the job language to use instead. An inner nil marks parameters that only the job, its source and its
        /// container determine.
        package var parameterKeys = EncoderModel.commonParameterKeys
        /// Alternative names of options, with the names that the encoder is opened with.
        package var optionAliases: [String: String] = [:]
    }

    /// The frames that the encoder accepts, and how it codes them.
    package struct Frames: Sendable {
        /// Supported pixel formats by FFmpeg's names; nil for all that libavcodec reports.
        package var pixelFormats: [String]?
        /// Function that returns whether a pixel format can be encoded with a profile. Some formats require a container
        /// that supports a separate alpha plane.
        package var supports:
            @Sendable (PixelFormat, _ profile: String?, _ supportsSeparateAlpha: Bool) -> Bool =
                {
                    _, _, _ in true
                }
        /// Pixel formats of frames that are processed together before they are encoded, as for a common palette, and the
        /// resulting format; nil if frames are encoded individually.
        package var composed: (frames: [String], encoded: String)?
        /// Minimum width and height in pixels.
        package var minimumSide = 1
        /// Whether width and height are rounded to multiples of the chroma subsampling.
        package var roundsToChroma = false
        /// Coding of interlaced frames; by default, the output doesn't declare them.
        package var fields = FieldCoding.unmarked
        /// List option and parameter that declare bottom field first; nil if the encoder reads the order from the frames.
        package var bottomFieldFirst: (option: String, parameter: String)?
        /// Whether the alpha plane is stored as side data of packets, which requires support by the container.
        package var writesSeparateAlpha = false
        /// Whether the encoder writes closed captions in the side data of frames (CEA-608, CEA-708).
        package var acceptsCaptions = false
    }

    /// The audio samples that the encoder accepts.
    package struct Samples: Sendable {
        /// Supported numbers of bits per sample; nil if they can't be set.
        package var bitDepths: [Int]?
        /// Channel layouts that the stream preserves; nil if it preserves all layouts that the encoder accepts.
        package var layouts: [String]?
        /// Whether the output begins with samples that aren't in the source (encoder delay).
        package var hasEncoderDelay = false
    }

    /// Threads, and restrictions of encoders that are open at the same time.
    package struct Operation: Sendable {
        /// Whether encoders of this kind must be opened and closed one at a time, and require a frame before they are
        /// drained; see `SharedEncoder`.
        package var isShared = false
        /// Whether a packet is one FLAC frame that depends on no other packet except by its number, so that several encoders
        /// can encode a track together.
        package var hasIndependentFLACFrames = false
        /// Whether the decoding times of a stream with one or two frames are undefined.
        package var mistimesShortStreams = false
        /// Settings with which an encoder of one thread doesn't depend on the number of processors, unless the job sets
        /// them; nil if a track can't be encoded in chunks: packets of separate encoders aren't one stream, or the encoder
        /// uses all processors itself.
        package var chunkSettings: [(option: SettingOption, value: String)]?
        /// Function that returns the best number of threads; nil for the encoder's choice. `bitsPerPixel` describes the
        /// compressed source.
        package var threads: @Sendable (_ cores: Int, _ bitsPerPixel: Double, _ preset: String?) -> Int? = {
            _, _, _ in nil
        }
        /// Function that returns the number of threads that the encoder itself would choose for a number of processors and
        /// a height of frames; nil if libavcodec can't set that number.
        package var automaticThreads: (@Sendable (_ processors: Int, _ height: Int) -> Int)?
    }

    /// Figures for the size of the output.
    package struct Estimate: Sendable {
        /// Approximate bits per pixel at the default rate control; nil if unknown.
        package var bitsPerPixel: Double?
        /// Typical size of lossless audio, as a fraction of the uncompressed size.
        package var compression = 1.0
    }

    /// The support of two passes.
    package struct TwoPasses: Sendable {
        /// Presets that don't support two passes, as values of the preset's option.
        package var presetsOfOnePass: Set<String> = []
        /// Whether rate control counts ticks of the time base instead of frames, so that each frame must last one tick.
        package var countsFrames = false
        package var statistics = PassStatistics.text
    }

    /// Name of the encoder in FFmpeg.
    package let name: String
    /// Name of the codec in FFmpeg.
    package let codec: String
    package let mediaType: MediaType
    /// Kinds of output that the encoder is used for.
    package var purposes: Set<Purpose> = [.tracks]
    /// Names of the encoder in other tools, for suggestions.
    package var aliases: [String] = []
    /// Beginning of the file name of the encoder's library, such as `libx264.`; nil for encoders in libavcodec
    /// itself.
    package var library: String?
    /// Required hardware; nil for software. Encoders that require hardware are used only if the job names them.
    package var requirement: Requirement?
    /// Debian's package with the encoder or, for hardware, with the driver of its device.
    package var debianPackage = DebianPackage.libavcodec
    /// Settings that every configuration of the encoder contains.
    package var always: [(option: SettingOption, value: String)] = []
    /// Near-lossless settings; nil if smart cuts aren't supported with this encoder.
    package var nearLossless: NearLossless?
    package var rate = RateControl()
    package var tuning = Tuning()
    package var conformance = Conformance()
    package var gop = GOP()
    package var privateOptions = PrivateOptions()
    package var frames = Frames()
    package var samples = Samples()
    package var operation = Operation()
    package var estimate = Estimate()
    /// Two passes; nil if they aren't supported.
    package var twoPasses: TwoPasses?

    /// Creates a model with default values.
    package init(_ name: String, codec: String, _ mediaType: MediaType) {
        self.name = name
        self.codec = codec
        self.mediaType = mediaType
    }

    /// Returns a model of a lossless audio encoder that has the same name as its codec.
    static func losslessAudio(_ name: String) -> EncoderModel {
        var model = EncoderModel(name, codec: name, .audio)
        model.rate.acceptsBitRate = false
        model.rate.lossless = .always
        model.rate.defaultRate = "lossless"
        return model
    }
}

extension EncoderModel {
    /// Names of the profiles; nil if no profile can be set.
    package var profileNames: [String]? { conformance.profiles.map { $0.map(\.name) } }
    /// Range of `crf`; nil if it isn't supported.
    package var crfRange: ClosedRange<Int>? { rate.constantQuality.map { $0.minimum...$0.maximum } }
    /// Whether lossless encoding is supported.
    package var canBeLossless: Bool { if case .never = rate.lossless { false } else { true } }
    /// Whether encoding is always lossless.
    package var isLossless: Bool { if case .always = rate.lossless { true } else { false } }
    /// Whether `target_size` is supported.
    package var reachesSizes: Bool { twoPasses != nil || rate.isFollowed }
    /// Whether the statistics of a first pass are stored in a file.
    package var keepsStatisticsInFile: Bool {
        switch twoPasses?.statistics {
        case .file, .fileInParameters: true
        case .text, nil: false
        }
    }

    /// Job language keys by the encoder option that they set.
    package var keysOfOptions: [String: String] {
        let settingOptions = [
            ("crf", rate.constantQuality?.option), ("qp", rate.qpOption), ("preset", tuning.presetOption),
            ("tune", tuning.tuneOption),
            ("level", conformance.levelOption), ("b_frames", gop.bFramesOption),
        ]
        var keys: [String: String] = [:]
        for (key, option) in settingOptions { if case .option(let name)? = option { keys[name] = key } }
        return keys
    }
}
