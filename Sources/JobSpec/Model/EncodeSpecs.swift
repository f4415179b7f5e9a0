public import Diagnostics
public import LibAV
public import Media

/// How much of what the encoder may spend.
public enum RateControl: Hashable, Sendable {
    /// Constant quality, in thousandths.
    case crf(Int)
    /// Constant quantiser.
    case qp(Int)
    /// Average bits a second.
    case bitRate(Int64)
    /// Without loss.
    case lossless
}

/// A private option of an encoder.
public struct EncoderOption: Sendable {
    /// Its name.
    public var name: Located<String>
    /// Its value as text.
    public var value: Located<String>
    /// What stands in it where it is a list of settings by itself (`x264-params`), read and checked.
    public var parameters: [MetadataEntry]?
}

/// Settings that have to be tried, as `SourceProber.tryOut` does.
public struct SettingsCheck: Sendable {
    /// What is tried.
    public var trial: SettingsTrial
    /// What is said before the library's own words where it can't be.
    public var message: String
    /// The rule that is broken then.
    public var rule: Rule
    /// Where it stands.
    public var range: SourceRange
}

/// How frames are compressed, as a job file says it.
public struct VideoEncodeSpec: Sendable {
    /// The codec.
    public var codec: Located<CodecInfo>
    /// Rate control.
    public var rateControl: Located<RateControl>?
    /// Highest bit rate.
    public var maxBitRate: Located<Int64>?
    /// Rate-control buffer.
    public var bufferSize: Located<Int64>?
    /// Preset.
    public var preset: Located<String>?
    /// Profile.
    public var profile: Located<String>?
    /// Level.
    public var level: Located<String>?
    /// Size.
    public var size: Located<Dimensions>?
    /// How the frame gets into the size.
    public var fit: Located<FrameFit>?
    /// What part of the coded frame is kept.
    public var crop: Located<CropSpec>?
    /// How the frame is rotated.
    public var orientation: Located<OrientationSpec>?
    /// Frames out of fields.
    public var deinterlace: Located<Deinterlacing>?
    /// Colour.
    public var color: ColorSpec?
    /// Shape of a pixel, written as it is.
    public var pixelAspectRatio: Located<Rational>?
    /// A chain of filters.
    public var filters: Located<FilterChain>?
    /// What the encoder optimises for.
    public var tune: Located<String>?
    /// 1 or 2.
    public var passes: Located<Int>?
    /// Most B-frames in a row.
    public var bFrames: Located<Int>?
    /// Pixel format.
    public var pixelFormat: Located<PixelFormat>?
    /// Frame rate.
    public var frameRate: Located<Rational>?
    /// Key-frame interval: frames, or a time.
    public var keyframeInterval: Located<KeyframeInterval>?
    /// Private options.
    public var options: [EncoderOption]
    /// What no table says of it.
    public var checks: [SettingsCheck] = []
    /// Where it was written.
    public var range: SourceRange
}

/// Most frames or time between key frames.
public enum KeyframeInterval: Hashable, Sendable {
    /// Frames.
    case frames(Int)
    /// Time.
    case time(MediaTime)
}

/// Which part of the coded frame is kept.
public enum CropSpec: Hashable, Sendable {
    /// What the source says is to be seen.
    case cleanAperture
    /// This.
    case rectangle(PixelRectangle)
}

/// How a frame is rotated.
public enum OrientationSpec: Hashable, Sendable {
    /// The display matrix goes along.
    case keep
    /// The frame is rotated, and the matrix is left.
    case bake
    /// Clockwise by so many degrees, instead of the matrix.
    case angle(Int)
}

/// Colour as a job file says it.
public struct ColorSpec: Sendable {
    /// Primaries.
    public var primaries: Located<String>?
    /// Transfer function.
    public var transfer: Located<String>?
    /// Matrix.
    public var matrix: Located<String>?
    /// `tv` or `pc`.
    public var levels: Located<String>?
    /// It is about frames of high dynamic range; others stay as they are.
    public var isForHighRangeAlone = false
    /// Where it was written.
    public var range: SourceRange
}

/// How audio is compressed, as a job file says it.
public struct AudioEncodeSpec: Sendable {
    /// The codec.
    public var codec: Located<CodecInfo>
    /// Bit rate.
    public var bitRate: Located<Int64>?
    /// Quality in thousandths, instead of a bit rate.
    public var quality: Located<Int>?
    /// Profile.
    public var profile: Located<String>?
    /// Sample rate.
    public var sampleRate: Located<Int32>?
    /// Sample format.
    public var sampleFormat: Located<SampleFormat>?
    /// Bits a sample.
    public var bitDepth: Located<Int>?
    /// Thousandths of a decibel.
    public var gain: Located<Int>?
    /// Loudness.
    public var normalize: Located<LoudnessTarget>?
    /// A chain of filters.
    public var filters: Located<FilterChain>?
    /// Channels.
    public var channels: Located<ChannelLayout>?
    /// Private options.
    public var options: [EncoderOption]
    /// What no table says of it.
    public var checks: [SettingsCheck] = []
    /// Where it was written.
    public var range: SourceRange
}

/// How subtitles are written, as a job file says it.
public struct SubtitleEncodeSpec: Sendable {
    /// The codec.
    public var codec: Located<SubtitleCodec>
    /// Where it was written.
    public var range: SourceRange
}
