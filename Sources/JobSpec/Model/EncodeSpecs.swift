package import Diagnostics
package import LibAV
package import Media

/// A private option of an encoder.
package struct EncoderOption: Sendable {
    package var name: Located<String>
    /// Value as text.
    package var value: Located<String>
    /// Parsed and validated parameters of an option that is a list (`x264-params`); nil for other options.
    package var parameters: [MetadataEntry]?
}

/// Settings that only a dry open can validate (`SourceProber.verdict(on:)`).
package struct SettingsCheck: Sendable {
    /// Dry open that validates the settings.
    package var validation: SettingsValidation
    /// Dry open that must succeed first. If it fails, only its failure is reported.
    package var precondition: SettingsValidation?
    /// Beginning of the message about a failure; the library's message follows.
    package var message: String
    /// Rule that a failure violates.
    package var rule: Rule
    /// Location of the settings in the job file.
    package var range: SourceRange
    /// Suggested correction; nil if the library's message suffices.
    package var help: String?
    /// Whether a failure is caused by the environment, not by the file.
    package var isEnvironment = false

    /// Returns the diagnostic of a failed dry open, with the library's message.
    package func diagnostic(_ problem: String) -> Diagnostic {
        Diagnostic(
            .error, rule, "\(message): \(problem)", at: range, help: help, isEnvironment: isEnvironment)
    }
}

/// The reduction of a frame whose bit rate would be too low.
package enum FrameScaling: String, Codable, Sendable, CaseIterable {
    case none
    /// To the first common size that suffices.
    case auto
}

/// The video encoding as specified in a job file. A property is nil if the job file doesn't set it.
package struct VideoEncodeSpec: Sendable {
    /// Codec with its encoder.
    package var codec: Located<CodecSelection>
    /// Location of `encoder`; nil if the job doesn't set it.
    package var encoderRange: SourceRange?
    package var rateControl: Located<RateSetting>?
    /// Size of the finished file in bytes, from which the planner computes the bit rate.
    package var targetSize: Located<Int64>?
    /// Reduction of the frame for `targetSize`; nil for none.
    package var scale: Located<FrameScaling>?
    /// Similarity to the encoder's input, for which `crf` is searched.
    package var quality: Located<QualitySpec>?
    /// Maximum bit rate, in bits per second.
    package var maxBitRate: Located<Int64>?
    /// Size of the rate-control buffer (VBV), in bits.
    package var bufferSize: Located<Int64>?
    package var preset: Located<String>?
    package var profile: Located<String>?
    package var level: Located<String>?
    /// Size in pixels; one side may be missing.
    package var size: Located<Dimensions>?
    /// Scaling mode for a size with both sides.
    package var fit: Located<FrameFit>?
    /// Part of the coded frame that is kept.
    package var crop: Located<CropSpec>?
    package var orientation: Located<OrientationSpec>?
    package var deinterlace: Located<Deinterlacing>?
    package var color: ColorSpec?
    package var pixelAspectRatio: Located<Rational>?
    package var filters: Located<FilterChain>?
    package var tune: Located<String>?
    /// Number of passes, 1 or 2.
    package var passes: Located<Int>?
    /// Maximum number of consecutive B-frames.
    package var bFrames: Located<Int>?
    package var pixelFormat: Located<PixelFormat>?
    package var frameRate: Located<Rational>?
    /// Maximum distance between keyframes.
    package var keyframeInterval: Located<KeyframeInterval>?
    /// Subtitles that are drawn into the frames.
    package var burn: BurnSpec?
    /// Division into chunks.
    package var parallel: Located<Parallelism>?
    package var options: [EncoderOption]
    /// Settings that the tables don't cover, to be validated by dry opens.
    package var checks: [SettingsCheck] = []
    /// Location in the job file.
    package var range: SourceRange
}

extension VideoEncodeSpec {
    /// Whether the encoding takes two passes: with `passes: 2`, and for a `target_size` if the encoder supports them.
    package var hasTwoPasses: Bool {
        passes?.value == 2 || targetSize != nil && codec.value.twoPasses != nil
    }
}

/// The maximum distance between keyframes.
package enum KeyframeInterval: Hashable, Sendable {
    /// Number of frames.
    case frames(Int)
    case time(MediaTime)
}

/// Words for the part of the coded frame that is kept.
enum CropWord: String, CaseIterable {
    case cleanAperture = "clean_aperture"
    case auto
}

/// The part of the coded frame that is kept.
package enum CropSpec: Hashable, Sendable {
    /// The active area: the part of the source within its black borders.
    case auto
    /// The source's clean aperture.
    case cleanAperture
    /// A rectangle in pixels.
    case rectangle(PixelRectangle)
}

/// The rotation of a frame.
package enum OrientationSpec: Hashable, Sendable {
    /// The output keeps the source's display matrix.
    case keep
    /// The frame is rotated, and the display matrix dropped.
    case bake
    /// The frame is rotated clockwise by that number of degrees, in place of the display matrix.
    case angle(Int)
}

/// The color properties as specified in a job file, with FFmpeg's names.
package struct ColorSpec: Sendable {
    package var primaries: Located<String>?
    package var transfer: Located<String>?
    package var matrix: Located<String>?
    package var levels: Located<ColorRange>?
    /// Whether the properties apply only to HDR frames; other frames are unchanged.
    package var isForHighRangeAlone = false
    /// Location in the job file.
    package var range: SourceRange
}

/// The audio encoding as specified in a job file. A property is nil if the job file doesn't set it.
package struct AudioEncodeSpec: Sendable {
    /// Codec with its encoder.
    package var codec: Located<CodecSelection>
    /// Location of `encoder`; nil if the job doesn't set it.
    package var encoderRange: SourceRange?
    /// Bit rate, in bits per second.
    package var bitRate: Located<Int64>?
    /// Quality in thousandths, as an alternative to a bit rate.
    package var quality: Located<Int>?
    package var profile: Located<String>?
    /// Sample rate in Hz.
    package var sampleRate: Located<Int32>?
    package var sampleFormat: Located<SampleFormat>?
    /// Bits per sample.
    package var bitDepth: Located<Int>?
    /// Gain in thousandths of a decibel.
    package var gain: Located<Int>?
    package var normalize: Located<NormalizationSpec>?
    package var filters: Located<FilterChain>?
    package var channels: Located<ChannelLayout>?
    package var options: [EncoderOption]
    /// Settings that the tables don't cover, to be validated by dry opens.
    package var checks: [SettingsCheck] = []
    /// Location in the job file.
    package var range: SourceRange
}

/// The loudness normalization of an audio track as specified in a job file.
package struct NormalizationSpec: Sendable {
    package var target = LoudnessTarget()
    /// Audio that the target applies to as a whole; nil for `file`.
    package var group: Located<NormalizationGroup>?

    /// Whether all instances of the job have the same gain.
    package var sharesGain: Bool { group?.value == .job }
}

/// The audio that a target loudness applies to as a whole.
package enum NormalizationGroup: String, Codable, Sendable, CaseIterable {
    /// Each file, which gets its own gain.
    case file
    /// All instances of a job, or of a job's `group`, which have one gain.
    case job
}

/// The encoding of subtitles as specified in a job file.
package struct SubtitleEncodeSpec: Sendable {
    package var codec: Located<SubtitleCodec>
    /// Location in the job file.
    package var range: SourceRange
}

extension VideoEncodeSpec {
    /// Creates a spec with the crop and the filters of a composition's clip or layer, which are processed in the same
    /// way as before encoding; nil if neither is set.
    package init?(_ shaping: CompositionSpec.Shaping) {
        guard let range = shaping.filters?.range ?? shaping.crop?.range,
            let codec = CodecCatalog.codec("h264", of: .video)
        else { return nil }
        self.init(codec: Located(codec, at: range), options: [], range: range)
        (crop, filters) = (shaping.crop, shaping.filters)
        orientation = Located(.bake, at: range)
    }
}
