package import Diagnostics
package import LibAV
package import Media

/// How much of what the encoder may spend.
package enum RateControl: Hashable, Sendable {
    /// Constant quality, in thousandths.
    case crf(Int)
    /// Constant quantiser.
    case qp(Int)
    /// Of stills, from 1 to 100.
    case quality(Int)
    /// Average bits a second.
    case bitRate(Int64)
    /// Without loss.
    case lossless
}

/// A private option of an encoder.
package struct EncoderOption: Sendable {
    /// Its name.
    package var name: Located<String>
    /// Its value as text.
    package var value: Located<String>
    /// What stands in it where it is a list of settings by itself (`x264-params`), read and checked.
    package var parameters: [MetadataEntry]?
}

/// Settings that have to be tried, as `SourceProber.tryOut` does.
package struct SettingsCheck: Sendable {
    /// What is tried.
    package var trial: SettingsTrial
    /// A trial that must succeed first; where it fails, that failure is reported alone.
    package var precondition: SettingsTrial?
    /// What is said before the library's own words where it can't be.
    package var message: String
    /// The rule that is broken then.
    package var rule: Rule
    /// Where it stands.
    package var range: SourceRange
    /// How to fix it, where the library's own words don't say.
    package var help: String?
    /// Whether a failure is the environment's, not the file's.
    package var isEnvironment = false

    /// The diagnostic of a failed trial, with the library's own words.
    package func diagnostic(_ problem: String) -> Diagnostic {
        Diagnostic(
            .error, rule, "\(message): \(problem)", at: range, help: help, isEnvironment: isEnvironment)
    }
}

/// How frames are compressed, as a job file says it.
package struct VideoEncodeSpec: Sendable {
    /// The codec with its encoder.
    package var codec: Located<CodecSelection>
    /// The location of `encoder`; nil when the job names none.
    package var encoderRange: SourceRange?
    /// Rate control.
    package var rateControl: Located<RateControl>?
    /// Highest bit rate.
    package var maxBitRate: Located<Int64>?
    /// Rate-control buffer.
    package var bufferSize: Located<Int64>?
    /// Preset.
    package var preset: Located<String>?
    /// Profile.
    package var profile: Located<String>?
    /// Level.
    package var level: Located<String>?
    /// Size.
    package var size: Located<Dimensions>?
    /// How the frame gets into the size.
    package var fit: Located<FrameFit>?
    /// What part of the coded frame is kept.
    package var crop: Located<CropSpec>?
    /// How the frame is rotated.
    package var orientation: Located<OrientationSpec>?
    /// Frames out of fields.
    package var deinterlace: Located<Deinterlacing>?
    /// Colour.
    package var color: ColorSpec?
    /// Shape of a pixel, written as it is.
    package var pixelAspectRatio: Located<Rational>?
    /// A chain of filters.
    package var filters: Located<FilterChain>?
    /// What the encoder optimises for.
    package var tune: Located<String>?
    /// 1 or 2.
    package var passes: Located<Int>?
    /// Most B-frames in a row.
    package var bFrames: Located<Int>?
    /// Pixel format.
    package var pixelFormat: Located<PixelFormat>?
    /// Frame rate.
    package var frameRate: Located<Rational>?
    /// Key-frame interval: frames, or a time.
    package var keyframeInterval: Located<KeyframeInterval>?
    /// Private options.
    package var options: [EncoderOption]
    /// What no table says of it.
    package var checks: [SettingsCheck] = []
    /// Where it was written.
    package var range: SourceRange
}

/// Most frames or time between key frames.
package enum KeyframeInterval: Hashable, Sendable {
    /// Frames.
    case frames(Int)
    /// Time.
    case time(MediaTime)
}

/// Which part of the coded frame is kept.
package enum CropSpec: Hashable, Sendable {
    /// What the source says is to be seen.
    case cleanAperture
    /// This.
    case rectangle(PixelRectangle)
}

/// How a frame is rotated.
package enum OrientationSpec: Hashable, Sendable {
    /// The display matrix goes along.
    case keep
    /// The frame is rotated, and the matrix is left.
    case bake
    /// Clockwise by so many degrees, instead of the matrix.
    case angle(Int)
}

/// Colour as a job file says it.
package struct ColorSpec: Sendable {
    /// Primaries.
    package var primaries: Located<String>?
    /// Transfer function.
    package var transfer: Located<String>?
    /// Matrix.
    package var matrix: Located<String>?
    /// `tv` or `pc`.
    package var levels: Located<String>?
    /// It is about frames of high dynamic range; others stay as they are.
    package var isForHighRangeAlone = false
    /// Where it was written.
    package var range: SourceRange
}

/// How audio is compressed, as a job file says it.
package struct AudioEncodeSpec: Sendable {
    /// The codec with its encoder.
    package var codec: Located<CodecSelection>
    /// The location of `encoder`; nil when the job names none.
    package var encoderRange: SourceRange?
    /// Bit rate.
    package var bitRate: Located<Int64>?
    /// Quality in thousandths, instead of a bit rate.
    package var quality: Located<Int>?
    /// Profile.
    package var profile: Located<String>?
    /// Sample rate.
    package var sampleRate: Located<Int32>?
    /// Sample format.
    package var sampleFormat: Located<SampleFormat>?
    /// Bits a sample.
    package var bitDepth: Located<Int>?
    /// Thousandths of a decibel.
    package var gain: Located<Int>?
    /// Loudness.
    package var normalize: Located<LoudnessTarget>?
    /// A chain of filters.
    package var filters: Located<FilterChain>?
    /// Channels.
    package var channels: Located<ChannelLayout>?
    /// Private options.
    package var options: [EncoderOption]
    /// What no table says of it.
    package var checks: [SettingsCheck] = []
    /// Where it was written.
    package var range: SourceRange
}

/// How subtitles are written, as a job file says it.
package struct SubtitleEncodeSpec: Sendable {
    /// The codec.
    package var codec: Located<SubtitleCodec>
    /// Where it was written.
    package var range: SourceRange
}

extension VideoEncodeSpec {
    /// What is done to frames of a composition's clip or layer, as an encoder's frames are treated; nil where nothing is.
    package init?(_ shaping: CompositionSpec.Shaping) {
        guard let range = shaping.filters?.range ?? shaping.crop?.range,
            let codec = CodecCatalog.codec("h264", of: .video)
        else { return nil }
        self.init(codec: Located(codec, at: range), options: [], range: range)
        (crop, filters) = (shaping.crop, shaping.filters)
        orientation = Located(.bake, at: range)
    }
}
