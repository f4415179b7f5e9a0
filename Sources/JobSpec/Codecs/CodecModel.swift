package import LibAV
internal import Media

/// What is known of a codec of the job language and of its encoder: validation, plan, schema, `tandem codecs`, the encoder's
/// configuration and the size's estimate read it. Each codec has a file beside this one, and a line of `CodecTable`.
///
/// libav's own ranges are wider than the encoders' (crf up to FLT_MAX, presets as free strings), so what
/// named settings allow stands here.
package struct CodecModel: Sendable {
    /// Constant quality.
    package struct ConstantQuality: Sendable {
        /// The highest `crf`.
        package let maximum: Int
        /// What it is where nothing is said.
        package let usual: Int
        /// How many steps halve the bits, about.
        package let stepsPerHalf: Double
        /// The encoder counts in whole numbers.
        package var isWhole = false
        /// It is said by a bit rate of 0 as well.
        package var needsZeroBitRate = false
    }

    /// What becomes of losslessness.
    package enum Lossless: Sendable {
        /// It can't be.
        case never
        /// It is, whatever is said.
        case always
        /// It is where that is set.
        case set(SettingPlace, to: String)
    }

    /// The name in job files.
    package var name: String
    /// Video or audio.
    package var mediaType: MediaType
    /// The codec's libav name, for containers.
    package var libavName: String
    /// Encoders that make it, the preferred one first.
    package var encoders: [String]

    /// `crf`; nil where there is none.
    package var constantQuality: ConstantQuality?
    /// Range of `qp`, nil where there is none.
    package var qpRange: ClosedRange<Int>?
    /// Where the encoder takes `qp`.
    package var qpPlace = SettingPlace.option("qp")
    /// `qp` where nothing is said; nil where that isn't the way.
    package var usualQP: Int?
    /// Takes `bitrate`.
    package var takesBitRate = true
    /// Takes `max_bitrate`.
    package var takesMaxBitRate = false
    /// Bits a second of so many channels where nothing is said; nil where that isn't the way.
    package var usualBitRate: @Sendable (_ channels: Int) -> Int64? = { _ in nil }
    /// Range of `quality`, nil where there is none.
    package var qualities: ClosedRange<Int>?
    /// What becomes of losslessness.
    package var lossless = Lossless.never
    /// What happens without any rate control, for the plan.
    package var defaultRate = ""
    /// Bits a pixel where nothing is said, about; nil where nobody can say.
    package var bitsPerPixel: Double?
    /// How much of the samples' bits is left, of lossless audio.
    package var compression = 1.0

    /// Presets, nil where there are none.
    package var presets: [String]?
    /// Where the encoder takes one.
    package var presetPlace = SettingPlace.option("preset")
    /// Profiles, nil where they can't be chosen.
    package var profiles: [String]?
    /// Levels, nil where they can't be chosen.
    package var levels: [String]?
    /// Where the encoder takes one.
    package var levelPlace = SettingPlace.option("level")
    /// What it can be tuned for, nil where for nothing.
    package var tunes: [String]?
    /// Most B-frames in a row, nil where they can't be chosen.
    package var maxBFrames: Int?
    /// Where the encoder takes them.
    package var bFramesPlace = SettingPlace.option("bf")
    /// What the encoder is told in any case.
    package var always: [(place: SettingPlace, value: String)] = []
    /// Frames between key frames can be chosen; otherwise every frame is one.
    package var takesKeyframeInterval = true
    /// Can look at everything first.
    package var takesTwoPasses = false
    /// Presets with which the encoder takes one pass only, as values of its option.
    package var presetsOfOnePass: Set<String> = []
    /// Two passes count in frames, so that the tick must be one.
    package var countsFramesInTwoPasses = false
    /// Its notes between two passes are on disk: a line a frame, and two bytes for each macroblock.
    package var keepsNotesOnDisk = false

    /// Bits a sample that can be chosen.
    package var bitDepths: [Int]?
    /// Channel layouts that come out as they went in, where the encoder takes more; nil where all that it takes do.
    package var layouts: [String]?
    /// The encoder begins with samples that are none of the source's.
    package var beginsWithDelay = false
    /// The output's sample rate is the encoder's own, whatever is asked.
    package var hasOwnSampleRate = false

    /// What becomes of fields that are left as they are.
    package var fields = FieldCoding.unmarked
    /// What its numbers mean whatever is said, nil where the stream or the container says it.
    package var fixedColor: FixedColor?
    /// The matrices that it has words for; nil for all.
    package var matrices: [String]?
    /// Its alpha plane is a stream of its own beside its packets.
    package var putsAlphaBeside = false
    /// Sides are multiples of the chroma's step.
    package var roundsToChroma = false
    /// It can use a pixel format under a profile, where the container has a place for alpha or not.
    package var suits: @Sendable (PixelFormat, _ profile: String?, _ holdsAlphaBeside: Bool) -> Bool = {
        _, _, _ in true
    }
    /// The constant quality and the preset that nobody sees a generation at; nil where it can't be copied but for edges.
    package var nearLossless: (crf: Int, preset: String)?

    /// Highest `crf`, nil where there is none.
    package var maxCRF: Int? { constantQuality?.maximum }
    /// It makes files of one frame each, and no movies.
    package var isStill = false
    /// `quality` of stills from 1 to 100, as everybody counts it; nil where nothing is lost.
    package struct StillQuality: Sendable {
        /// What it is where nothing is said.
        package let usual: Int
        /// The encoder's own step for it, which is set where `qp` is.
        package let step: @Sendable (_ quality: Int) -> Int
    }
    /// `quality` of stills; nil of movies, and where nothing is lost.
    package var stillQuality: StillQuality?
    /// Pixel formats that frames come in, by libav's names, where what is encoded is made of several of them, and the format that the
    /// encoder then gets; nil for the encoder's own.
    package var composed: (frames: [String], encoded: String)?
    /// Can be lossless.
    package var canBeLossless: Bool { if case .never = lossless { false } else { true } }
    /// Is lossless whatever is said.
    package var isLossless: Bool { if case .always = lossless { true } else { false } }

    /// A video codec of libav's name.
    static func video(_ name: String, encoders: [String]) -> CodecModel {
        CodecModel(name: name, mediaType: .video, libavName: name, encoders: encoders)
    }

    /// An audio codec of libav's name.
    static func audio(_ name: String, encoders: [String]) -> CodecModel {
        CodecModel(name: name, mediaType: .audio, libavName: name, encoders: encoders)
    }

    /// Lossless audio by an encoder of its name.
    static func losslessAudio(_ name: String) -> CodecModel {
        var model = audio(name, encoders: [name])
        model.takesBitRate = false
        model.lossless = .always
        model.defaultRate = "lossless"
        return model
    }

    /// The presets of x264 and x265.
    static let x26xPresets = [
        "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow",
        "placebo",
    ]
}

/// What an encoder makes of interlaced frames.
package enum FieldCoding: Sendable {
    /// Fields, each by itself where that is better, and the stream says so.
    case coded
    /// Lines of whole frames; they lose nothing by it, and stream or container say so.
    case marked
    /// Lines of whole frames; nobody is told.
    case unmarked
}

/// What decoders take a codec's numbers for, without asking.
package enum FixedColor: Sendable {
    /// Full range by the matrix of BT.601, as JFIF has it.
    case jpeg
    /// Limited range.
    case limited
}
