/// An encoder of libavcodec as the job language, the planners and the media pipeline use it: bounds and
/// defaults of rate control, presets, profiles, the option of each setting, its private options, its
/// requirements, and figures for the size of its output. Each encoder has a file beside this one and a line
/// in `EncoderModel.table`.
///
/// The ranges of libavcodec's options are wider than those of the encoders (`crf` up to `FLT_MAX`, presets as
/// free text), so that a model defines the encoder's own. Properties of a codec that don't depend on the
/// encoder are in `BitstreamTraits`, and in `CodecModel` of the job language.
package struct EncoderModel: Sendable {
    /// The kind of output that an encoder is used for.
    package enum Purpose: Sendable {
        /// Tracks of media files.
        case tracks
        /// Image files of one frame.
        case stillImages
        /// Image files of several frames.
        case animations
    }

    /// Constant quality (`crf`).
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
        /// Option that sets it.
        package var option = SettingOption.option("crf")
    }

    /// The support of lossless encoding.
    package enum Lossless: Sendable {
        /// Not supported.
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
        /// Frames are coded as fields where that is efficient, and the stream declares it.
        case coded
        /// Whole frames are coded without loss of the fields, and stream or container declare the field
        /// order.
        case marked
        /// Whole frames are coded, and neither stream nor container declare that they are interlaced.
        case unmarked
    }

    /// The storage of a first pass's statistics.
    package enum PassStatistics: Sendable {
        /// In memory, as text (`stats_out`, `stats_in`).
        case text
        /// In a file whose path is the value of an option.
        case file(option: String)
        /// In a file; pass and path are parameters of an option that is a list.
        case fileInParameters(option: String)
    }

    /// The codec headers that contain profile and level.
    package enum Headers: Sendable {
        /// Headers of H.264.
        case avc
        /// Headers of HEVC.
        case hevc
    }

    /// The hardware that an encoder requires.
    package enum Requirement: Sendable {
        /// A hardware device, which the encoder opens.
        case device
        /// A hardware device of a type, by libav's name (`vaapi`), into whose memory frames are uploaded.
        case deviceFrames(String)
    }

    /// A profile of a codec.
    package struct Profile: Sendable {
        /// Name in job files and of the encoder.
        package let name: String
        /// `profile_idc` in the codec's headers; nil if the headers aren't read.
        package var number: UInt8?
        /// Name for the user; nil if it is `name`.
        package var title: String?
        /// Whether the profile allows B-frames.
        package var hasBFrames = true
    }

    /// The settings for visually lossless encoding, which are used for the edges of a smart cut.
    package struct NearLossless: Sendable {
        /// Constant quality (CRF).
        package let crf: Int
        package let preset: String
        /// Option for the encoder's own parameters (`x264-params`).
        package let parameters: String
    }

    // MARK: Identity

    /// Name of the encoder in libav.
    package let name: String
    /// Name of the codec in libav.
    package let codec: String
    package let mediaType: MediaType
    /// Kinds of output that the encoder is used for.
    package var purposes: Set<Purpose> = [.tracks]
    /// Names of the encoder in other tools.
    package var aliases: [String] = []
    /// Beginning of the file name of the encoder's library, such as `libx264.`; nil for libavcodec's own
    /// encoders.
    package var library: String?
    /// Required hardware; nil for software. Encoders that require a device are used only if the job sets
    /// them.
    package var requirement: Requirement?

    // MARK: Rate control

    /// Constant quality (`crf`); nil if it isn't supported.
    package var constantQuality: ConstantQuality?
    /// Range of `qp`; nil if it isn't supported.
    package var qpRange: ClosedRange<Int>?
    /// Option that sets `qp`.
    package var qpOption = SettingOption.option("qp")
    /// Default `qp`, if the job file sets no rate control; nil if that isn't the default rate control.
    package var defaultQP: Int?
    /// Whether `bitrate` is supported.
    package var acceptsBitRate = true
    /// Whether `max_bitrate` is supported.
    package var acceptsMaxBitRate = false
    /// Default bit rate for a number of channels, in bits per second; nil for the encoder's own default.
    package var defaultBitRate: @Sendable (_ channels: Int) -> Int64? = { _ in nil }
    /// Supported bit rates at a sample rate, of which the encoder uses the nearest; nil if any rate is
    /// supported.
    package var bitRates: (@Sendable (_ sampleRate: Int32) -> [Int64])?
    /// Range of `quality`; nil if it isn't supported.
    package var qualities: ClosedRange<Int>?
    /// `quality` of still images; nil for lossless encoders.
    package var imageQuality: ImageQuality?
    /// Support of lossless encoding.
    package var lossless = Lossless.never
    /// Default rate control, as the plan prints it.
    package var defaultRate = ""
    /// Whether two passes are supported.
    package var supportsTwoPasses = false
    /// Values of the preset's option that allow only one pass.
    package var presetsOfOnePass: Set<String> = []
    /// Whether two passes count in ticks of the time base, so that each frame must last one tick.
    package var countsFramesInTwoPasses = false
    /// Storage of a first pass's statistics.
    package var passStatistics = PassStatistics.text

    // MARK: Settings

    /// Names of the presets; nil if there are none.
    package var presets: [String]?
    /// Option that sets the preset.
    package var presetOption = SettingOption.option("preset")
    /// Values of `tune`; nil if it isn't supported.
    package var tunes: [String]?
    /// Option that sets `tune`.
    package var tuneOption = SettingOption.option("tune")
    /// Profiles; nil if no profile can be set.
    package var profiles: [Profile]?
    /// The profile that a pixel format determines; nil if the profile can be set.
    package var profileOfFormat: (@Sendable (PixelFormat) -> String)?
    /// Names of the levels; nil if no level can be set.
    package var levels: [String]?
    /// Option that sets the level.
    package var levelOption = SettingOption.option("level")
    /// Codec headers that contain profile and level; nil if they aren't read.
    package var headers: Headers?
    /// Factor of a level in these headers.
    package var levelUnit = 10.0
    /// Maximum number of consecutive B-frames; nil if it can't be set.
    package var maxBFrames: Int?
    /// Option that sets the number of B-frames.
    package var bFramesOption = SettingOption.option("bf")
    /// Whether the interval between keyframes can be set; otherwise every frame is a keyframe.
    package var acceptsKeyframeInterval = true
    /// Settings of every configuration.
    package var always: [(option: SettingOption, value: String)] = []
    /// Near-lossless settings; nil if smart cuts aren't supported with this encoder.
    package var nearLossless: NearLossless?

    // MARK: Private options

    /// Private options that job files may set, in the notation of `OptionTable`. Options that open files,
    /// that read or write statistics, or that correspond to a key of the job language aren't listed.
    package var options = ""
    /// Parameters of options that are lists (`x264-params`), by option, in the same notation.
    package var parameterLists: [String: String] = [:]
    /// Keys of the job language that correspond to parameters of these lists; an inner nil for parameters
    /// that only the job, its source and its container determine. These parameters are rejected, because the
    /// output would differ from the plan.
    package var parameterKeys = EncoderModel.commonParameterKeys
    /// Names in job files of options for which libavcodec has several names.
    package var optionAliases: [String: String] = [:]

    // MARK: Frames

    /// Pixel formats by libav's names; nil for those that libavcodec reports.
    package var pixelFormats: [String]?
    /// Function that returns whether a pixel format can be encoded with a profile, in a container that
    /// supports a separate alpha plane or doesn't.
    package var supports: @Sendable (PixelFormat, _ profile: String?, _ supportsSeparateAlpha: Bool) -> Bool =
        {
            _, _, _ in true
        }
    /// Pixel formats in which frames are read if several of them are encoded together, and the format that
    /// the encoder receives; nil for the encoder's own.
    package var composed: (frames: [String], encoded: String)?
    /// Whether sides are rounded to multiples of the chroma subsampling.
    package var roundsToChroma = false
    /// Coding of interlaced frames.
    package var fields = FieldCoding.unmarked
    /// Option and parameter that declare bottom field first; nil if the frames suffice.
    package var bottomFieldFirst: (option: String, parameter: String)?
    /// Whether the alpha plane is stored separately from the packets.
    package var writesSeparateAlpha = false
    /// Whether closed captions in the frames' side data are written.
    package var acceptsCaptions = false

    // MARK: Samples

    /// Supported bits per sample.
    package var bitDepths: [Int]?
    /// Channel layouts that are decoded as they were encoded, if the encoder accepts more; nil for all.
    package var layouts: [String]?
    /// Whether the output begins with samples that aren't in the source (encoder delay).
    package var hasEncoderDelay = false

    // MARK: Operation

    /// Whether encoders of this kind must be opened and closed one at a time, and require a frame before they
    /// are drained.
    package var isShared = false
    /// Function that returns the number of threads; nil for the encoder's choice.
    package var threads: @Sendable (_ cores: Int, _ bitsPerPixel: Double, _ preset: String?) -> Int? = {
        _, _, _ in nil
    }

    // MARK: Estimates

    /// Approximate bits per pixel at the default rate control; nil if unknown.
    package var bitsPerPixel: Double?
    /// Compressed size of lossless audio, as a fraction.
    package var compression = 1.0

    /// Creates a model with default values.
    package init(_ name: String, codec: String, _ mediaType: MediaType) {
        self.name = name
        self.codec = codec
        self.mediaType = mediaType
    }

    /// Returns a model of a lossless audio encoder with the codec's name.
    static func losslessAudio(_ name: String) -> EncoderModel {
        var model = EncoderModel(name, codec: name, .audio)
        model.acceptsBitRate = false
        model.lossless = .always
        model.defaultRate = "lossless"
        return model
    }
}

extension EncoderModel {
    /// Names of the profiles; nil if no profile can be set.
    package var profileNames: [String]? { profiles.map { $0.map(\.name) } }
    /// Range of `crf`; nil if it isn't supported.
    package var crfRange: ClosedRange<Int>? { constantQuality.map { $0.minimum...$0.maximum } }
    /// Whether lossless encoding is supported.
    package var canBeLossless: Bool { if case .never = lossless { false } else { true } }
    /// Whether encoding is always lossless.
    package var isLossless: Bool { if case .always = lossless { true } else { false } }
    /// Whether a first pass's statistics are stored in a file.
    package var keepsStatisticsInFile: Bool { if case .text = passStatistics { false } else { true } }

    /// Keys of the job language by the encoder options that they set.
    package var keysOfOptions: [String: String] {
        let settingOptions = [
            ("crf", constantQuality?.option), ("qp", qpOption), ("preset", presetOption),
            ("tune", tuneOption),
            ("level", levelOption), ("b_frames", bFramesOption),
        ]
        var keys: [String: String] = [:]
        for (key, option) in settingOptions { if case .option(let name)? = option { keys[name] = key } }
        return keys
    }
}
