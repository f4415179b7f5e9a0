/// An encoder of libavcodec as the job language, the planners and the media pipeline use it: bounds and defaults of rate control,
/// presets, profiles, where the encoder takes each setting, its private options, what it requires of its caller, and figures for
/// the size of what it produces. Each encoder has a file beside this one and a line of `EncoderModel.table`.
///
/// The ranges of libavcodec's options are wider than those of the encoders (`crf` up to `FLT_MAX`, presets as free text), so a
/// model states the encoder's own. Facts about a codec that hold whoever encodes it are in `BitstreamTraits`, and in `CodecModel`
/// of the job language.
package struct EncoderModel: Sendable {
    /// What an encoder is used for.
    package enum Purpose: Sendable {
        /// Tracks of movies and of audio files.
        case tracks
        /// Image files of one frame.
        case stills
        /// Image files of several frames.
        case animations
    }

    /// Constant quality (`crf`).
    package struct ConstantQuality: Sendable {
        /// The highest `crf`.
        package let maximum: Int
        /// The `crf` when the job file sets no rate control.
        package let defaultValue: Int
        /// The number of steps that halve the bit rate, about.
        package let stepsPerHalf: Double
        /// The lowest `crf`.
        package var minimum = 0
        /// Whether the encoder accepts only integers.
        package var isWhole = false
        /// Whether the encoder also requires a bit rate of 0.
        package var needsZeroBitRate = false
        /// Where the encoder takes it.
        package var place = SettingPlace.option("crf")
    }

    /// Lossless encoding.
    package enum Lossless: Sendable {
        /// Not supported.
        case never
        /// Whatever is set.
        case always
        /// When this setting has this value.
        case set(SettingPlace, to: String)
    }

    /// `quality` of stills from 1 to 100.
    package struct StillQuality: Sendable {
        /// The quality when the job file sets none.
        package let defaultValue: Int
        /// The encoder's own step for a quality, set at `qpPlace`.
        package let step: @Sendable (_ quality: Int) -> Int
    }

    /// What an encoder does with interlaced frames.
    package enum FieldCoding: Sendable {
        /// Codes them as fields where that is better, and the stream says so.
        case coded
        /// Codes whole frames without loss to the fields; stream or container say so.
        case marked
        /// Codes whole frames, and neither stream nor container say that they are interlaced.
        case unmarked
    }

    /// Where an encoder keeps the statistics of a first pass.
    package enum PassStatistics: Sendable {
        /// In memory, as text (`stats_out`, `stats_in`).
        case text
        /// In a file whose path is an option.
        case file(option: String)
        /// In a file; pass and path are parameters inside an option.
        case fileInParameters(option: String)
    }

    /// The codec headers in which an encoder states profile and level.
    package enum Headers: Sendable {
        /// H.264's.
        case avc
        /// HEVC's.
        case hevc
    }

    /// What an encoder requires of the machine.
    package enum Requirement: Sendable {
        /// A hardware device, which the encoder finds when it opens.
        case device
        /// A hardware device of a type by libav's name (`vaapi`); frames are uploaded into its memory.
        case deviceFrames(String)
    }

    /// A profile.
    package struct Profile: Sendable {
        /// The name in job files, which is the encoder's.
        package let name: String
        /// `profile_idc` in the codec's headers; nil where none is read.
        package var number: UInt8?
        /// The name for people; nil where it is `name`.
        package var title: String?
        /// Whether it allows B-frames.
        package var hasBFrames = true
    }

    /// The settings that re-encode a codec so that no difference is seen, and with which the edges of a smart cut are encoded.
    package struct NearLossless: Sendable {
        /// Constant quality.
        package let crf: Int
        /// Preset.
        package let preset: String
        /// The option that takes the encoder's own parameters (`x264-params`).
        package let parameters: String
    }

    // MARK: Identity

    /// The encoder's libav name.
    package let name: String
    /// The codec's libav name.
    package let codec: String
    /// Video or audio.
    package let mediaType: MediaType
    /// What it is used for.
    package var purposes: Set<Purpose> = [.tracks]
    /// Names that people know it by elsewhere.
    package var aliases: [String] = []
    /// The beginning of the file name of the library behind it, such as `libx264.`; nil for libavcodec's own encoders.
    package var library: String?
    /// What it requires of the machine; nil for software. Encoders that require a device are used only when the job names them.
    package var requirement: Requirement?

    // MARK: Rate control

    /// `crf`; nil where it is not supported.
    package var constantQuality: ConstantQuality?
    /// The range of `qp`; nil where it is not supported.
    package var qpRange: ClosedRange<Int>?
    /// Where the encoder takes `qp`.
    package var qpPlace = SettingPlace.option("qp")
    /// The `qp` when the job file sets no rate control; nil where that isn't the default rate control.
    package var defaultQP: Int?
    /// Whether it takes `bitrate`.
    package var takesBitRate = true
    /// Whether it takes `max_bitrate`.
    package var takesMaxBitRate = false
    /// The bits per second for a number of channels when the job file sets no rate; nil for the encoder's own default.
    package var defaultBitRate: @Sendable (_ channels: Int) -> Int64? = { _ in nil }
    /// The bit rates at a sample rate, of which the encoder takes the nearest; nil where it takes any.
    package var bitRates: (@Sendable (_ sampleRate: Int32) -> [Int64])?
    /// The range of `quality`; nil where it is not supported.
    package var qualities: ClosedRange<Int>?
    /// `quality` of stills; nil where nothing is lost.
    package var stillQuality: StillQuality?
    /// Lossless encoding.
    package var lossless = Lossless.never
    /// The rate control when the job file sets none, as the plan prints it.
    package var defaultRate = ""
    /// Whether it supports two passes.
    package var takesTwoPasses = false
    /// Values of the preset's option with which it supports one pass only.
    package var presetsOfOnePass: Set<String> = []
    /// Whether two passes count in ticks of the time base, so that a tick must be a frame.
    package var countsFramesInTwoPasses = false
    /// Where the statistics of a first pass are kept.
    package var passStatistics = PassStatistics.text

    // MARK: Settings

    /// Presets; nil where there are none.
    package var presets: [String]?
    /// Where the encoder takes a preset.
    package var presetPlace = SettingPlace.option("preset")
    /// Values of `tune`; nil where it is not supported.
    package var tunes: [String]?
    /// Where the encoder takes `tune`.
    package var tunePlace = SettingPlace.option("tune")
    /// Profiles; nil where none can be chosen.
    package var profiles: [Profile]?
    /// The profile that follows from a pixel format, whatever is set; nil where it can be chosen.
    package var profileOfFormat: (@Sendable (PixelFormat) -> String)?
    /// Levels; nil where none can be chosen.
    package var levels: [String]?
    /// Where the encoder takes a level.
    package var levelPlace = SettingPlace.option("level")
    /// The codec headers in which it states profile and level; nil where none are read.
    package var headers: Headers?
    /// Steps of a level in these headers.
    package var levelUnit = 10.0
    /// The highest number of consecutive B-frames; nil where it can't be chosen.
    package var maxBFrames: Int?
    /// Where the encoder takes it.
    package var bFramesPlace = SettingPlace.option("bf")
    /// Whether the interval between keyframes can be chosen; otherwise every frame is one.
    package var takesKeyframeInterval = true
    /// Settings that hold in every configuration.
    package var always: [(place: SettingPlace, value: String)] = []
    /// Near-lossless settings; nil where the codec can't be cut smartly with this encoder.
    package var nearLossless: NearLossless?

    // MARK: Private options

    /// The private options that job files may set, as `OptionTable` reads them. Options that open files, that read or write
    /// statistics or that belong to a key of the job language are not listed.
    package var options = ""
    /// Parameters of options that are lists of their own (`x264-params`), by the option, in the same notation.
    package var parameterLists: [String: String] = [:]
    /// The key of the job language that sets what a parameter of these lists means; an inner nil for parameters that only the job,
    /// its source and its container decide. Such parameters are refused: the plan and the output would differ.
    package var parameterKeys = EncoderModel.commonParameterKeys
    /// Other names that libavcodec has for an option, and the name for job files.
    package var optionAliases: [String: String] = [:]

    // MARK: Frames

    /// Pixel formats of the frames, by libav's names, where they aren't those that libavcodec reports.
    package var pixelFormats: [String]?
    /// Whether it can encode a pixel format under a profile, in a container that holds an alpha plane beside the packets or not.
    package var suits: @Sendable (PixelFormat, _ profile: String?, _ holdsAlphaBeside: Bool) -> Bool = {
        _, _, _ in true
    }
    /// Pixel formats that frames are read in where several of them are encoded together, and the format that the encoder gets
    /// then; nil for the encoder's own.
    package var composed: (frames: [String], encoded: String)?
    /// Whether sides are rounded to multiples of the chroma's step.
    package var roundsToChroma = false
    /// What it does with interlaced frames.
    package var fields = FieldCoding.unmarked
    /// The option, and the parameter in it, that states that the lower field comes first; nil where the frames suffice.
    package var bottomFieldFirst: (option: String, parameter: String)?
    /// Whether the alpha plane is a stream of its own beside the packets.
    package var putsAlphaBeside = false
    /// Whether it writes closed captions that are side data of frames.
    package var takesCaptions = false

    // MARK: Samples

    /// Bits per sample that can be chosen.
    package var bitDepths: [Int]?
    /// Channel layouts that are decoded as they were encoded, where the encoder accepts more; nil where all of them are.
    package var layouts: [String]?
    /// Whether the output begins with samples that the source doesn't have.
    package var beginsWithDelay = false

    // MARK: Operation

    /// Whether encoders of a process must be opened and closed one at a time, and each requires a frame before its end.
    package var isShared = false
    /// The number of threads; nil for the encoder's own choice.
    package var threads: @Sendable (_ cores: Int, _ bitsPerPixel: Double, _ preset: String?) -> Int? = {
        _, _, _ in nil
    }

    // MARK: Estimates

    /// Bits per pixel at the default rate control, about; nil where unknown.
    package var bitsPerPixel: Double?
    /// The part of the samples' bits that remains, of lossless audio.
    package var compression = 1.0

    /// A model with defaults.
    package init(_ name: String, codec: String, _ mediaType: MediaType) {
        self.name = name
        self.codec = codec
        self.mediaType = mediaType
    }

    /// A lossless audio encoder that has the codec's name.
    static func losslessAudio(_ name: String) -> EncoderModel {
        var model = EncoderModel(name, codec: name, .audio)
        model.takesBitRate = false
        model.lossless = .always
        model.defaultRate = "lossless"
        return model
    }
}

extension EncoderModel {
    /// The names of its profiles; nil where none can be chosen.
    package var profileNames: [String]? { profiles.map { $0.map(\.name) } }
    /// The range of `crf`; nil where it is not supported.
    package var crfRange: ClosedRange<Int>? { constantQuality.map { $0.minimum...$0.maximum } }
    /// Whether it supports lossless encoding.
    package var canBeLossless: Bool { if case .never = lossless { false } else { true } }
    /// Whether it is lossless whatever is set.
    package var isLossless: Bool { if case .always = lossless { true } else { false } }
    /// Whether the statistics of a first pass are kept in a file.
    package var keepsStatisticsInFile: Bool { if case .text = passStatistics { false } else { true } }

    /// The options in which the encoder takes the settings of keys of the job language, and the key of each.
    package var keysOfOptions: [String: String] {
        let places = [
            ("crf", constantQuality?.place), ("qp", qpPlace), ("preset", presetPlace), ("tune", tunePlace),
            ("level", levelPlace), ("b_frames", bFramesPlace),
        ]
        var keys: [String: String] = [:]
        for (key, place) in places { if case .option(let name)? = place { keys[name] = key } }
        return keys
    }
}
