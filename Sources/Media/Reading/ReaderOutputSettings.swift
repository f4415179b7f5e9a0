public import LibAV

/// Kind and format of the samples that an output vends.
public enum ReaderOutputSettings: Hashable, Sendable {
    /// Unchanged packets (AVFoundation: `outputSettings: nil`).
    case passthrough
    /// Packets that are entirely inside the range, for containers that can't mark a part of a packet as not presented.
    case wholePackets
    /// Packets of a range with frame-accurate edges: copied, except for the edges, which are re-encoded.
    case smartCut(SmartCut)
    /// Subtitle events, converted to another codec.
    case subtitle(SubtitleCodec)
    /// Decoded frames.
    case video(VideoOutputSettings)
    /// Decoded audio, as linear PCM.
    case audio(AudioOutputSettings)
}

/// Conversion of decoded frames. The steps are applied in the order of the properties.
public struct VideoOutputSettings: Hashable, Codable, Sendable {
    /// Selection of the frames to deinterlace. Default: off.
    public var deinterlacing = Deinterlacing.off
    /// Whether later interlaced frames are deinterlaced in a track whose first frames are progressive. Default: false.
    package var deinterlacesLateFields = false
    /// Rectangle of the coded frame to keep; nil for the whole frame.
    public var crop: PixelRectangle?
    /// Rotation and reflection; nil for none.
    public var turn: FrameRotation?
    /// Chain of libavfilter filters; nil for none.
    public var filters: FilterChain?
    /// Format of the frames after `filters`; nil without filters.
    package var filtered: FilteredFrames?
    /// Output size in pixels; nil for the size after the previous steps.
    public var size: PixelSize?
    /// Scaling mode for `size`. Default: `stretch`.
    public var fit = FrameFit.stretch
    /// Size to which the frame is scaled before it is padded (`contain`) or cropped (`cover`) to `size`; nil for other
    /// modes.
    package var innerSize: PixelSize?
    /// Primaries, transfer and matrix to convert to; nil for no conversion.
    public var color: ColorDescription?
    /// Whether tone mapping from HDR to SDR precedes the conversion to `color`. Default: false.
    public var mapsTones = false
    /// Color range of the output; nil for the input's.
    package var levels: ColorRange?
    /// Matrix for the conversion of RGB to YUV; nil selects it by the size.
    package var matrix: String?
    /// Range of frames without a declared range; nil selects it by the pixel format.
    package var sourceRange: ColorRange?
    /// Matrix of frames without a declared matrix; nil selects it by the size.
    package var sourceMatrix: String?
    /// Constant frame rate, for which frames are duplicated or dropped; nil keeps the frames' times.
    public var frameRate: Rational?
    /// Pixel format of the output; nil for the source's.
    public var pixelFormat: PixelFormat?

    /// Creates settings that keep the source's frames, except for the given values.
    public init(pixelFormat: PixelFormat? = nil, size: PixelSize? = nil, frameRate: Rational? = nil) {
        self.pixelFormat = pixelFormat
        self.size = size
        self.frameRate = frameRate
    }

    /// Whether no step before `size` is set.
    package var isEmpty: Bool { deinterlacing == .off && crop == nil && turn == nil && filters == nil }

    /// Whether the settings change only size, pixel format, range and frame rate. A frame with the requested values
    /// then requires no conversion.
    var isPlain: Bool {
        deinterlacing == .off && crop == nil && turn == nil && filters == nil && color == nil
            && innerSize == nil
    }
}

/// Format of frames after a chain of filters.
package struct FilteredFrames: Hashable, Codable, Sendable {
    /// Pixel format of the filters' output.
    public var pixelFormat: PixelFormat
    /// Color range; nil if unspecified.
    package var range: ColorRange?
    /// Matrix, `gbr` for RGB; nil if unspecified.
    package var matrix: String?

    /// Creates the format of filtered frames; nil means unspecified.
    package init(pixelFormat: PixelFormat, range: ColorRange?, matrix: String?) {
        self.pixelFormat = pixelFormat
        self.range = range
        self.matrix = matrix
    }
}

/// Selection of the frames that are deinterlaced.
public enum Deinterlacing: String, Hashable, Codable, Sendable, CaseIterable {
    /// Frames flagged as interlaced.
    case auto
    /// All frames.
    case on
    /// No frames.
    case off
}

/// Scaling of a frame to a size with another aspect ratio.
public enum FrameFit: String, Hashable, Codable, Sendable, CaseIterable {
    /// Scales the whole frame into the size, and adds black bars.
    case contain
    /// Scales the frame to fill the size, and crops it.
    case cover
    /// Scales both dimensions to the size; the sample aspect ratio keeps the display aspect ratio.
    case stretch
    /// Scales to the largest size that fits and keeps the aspect ratio.
    case inside
    /// Like `inside`, but without upscaling; for a portrait frame, width and height of the size are exchanged.
    case scaleDown = "scale-down"
}

/// A rectangle in a frame, in pixels from the upper left corner.
public struct PixelRectangle: Hashable, Codable, Sendable {
    /// Left edge, in pixels.
    public var x: Int
    /// Upper edge, in pixels.
    public var y: Int
    /// Width in pixels.
    public var width: Int
    /// Height in pixels.
    public var height: Int
    /// Creates a rectangle from its upper left corner and its size, in pixels.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }
}

/// A rotation by a multiple of 90°, optionally after a reflection.
public struct FrameRotation: Hashable, Codable, Sendable {
    /// Whether the frame is mirrored horizontally before the rotation.
    public var isReflected: Bool
    /// Degrees clockwise: 0, 90, 180 or 270.
    public var clockwiseDegrees: Int

    /// Creates a rotation by a multiple of 90° clockwise, without a reflection by default.
    public init(clockwiseDegrees: Int, isReflected: Bool = false) {
        self.clockwiseDegrees = clockwiseDegrees
        self.isReflected = isReflected
    }

    /// Whether the rotation leaves frames unchanged.
    package var isNone: Bool { clockwiseDegrees == 0 && !isReflected }

    /// Whether width and height are exchanged.
    package var isQuarter: Bool { clockwiseDegrees % 180 != 0 }

    var filters: [FilterStep] {
        let turned =
            switch clockwiseDegrees {
            case 90: [FilterStep("transpose", ["dir": "clock"])]
            case 180: [FilterStep("hflip"), FilterStep("vflip")]
            case 270: [FilterStep("transpose", ["dir": "cclock"])]
            default: [FilterStep]()
            }
        return (isReflected ? [FilterStep("hflip")] : []) + turned
    }
}

/// Width and height in pixels.
public struct PixelSize: Hashable, Codable, Sendable, CustomStringConvertible {
    /// Width in pixels.
    public var width: Int
    /// Height in pixels.
    public var height: Int
    /// Creates a size in pixels.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
    /// Maximum width and height of frames that are encoded or composed.
    package static let maxSide = 16_384

    /// The size as text, such as `1280x720`.
    public var description: String { "\(width)x\(height)" }
}

/// Conversion of decoded audio; nil keeps the source's value.
public struct AudioOutputSettings: Hashable, Codable, Sendable {
    /// Type and arrangement (interleaved or planar) of the samples.
    public var sampleFormat: SampleFormat?
    /// Sample rate in Hz.
    public var sampleRate: Int32?
    /// Channel layout of the output; audio is mixed to it.
    public var layout: ChannelLayout?
    /// Chain of libavfilter filters, applied before the conversion; nil for none.
    public var filters: FilterChain?

    /// Creates settings that keep the source's audio, except for the given values.
    public init(sampleFormat: SampleFormat? = nil, sampleRate: Int32? = nil, layout: ChannelLayout? = nil) {
        self.sampleFormat = sampleFormat
        self.sampleRate = sampleRate
        self.layout = layout
    }
}
