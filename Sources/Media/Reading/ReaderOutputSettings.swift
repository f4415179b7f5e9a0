public import LibAV

/// The kind and format of the samples that an output vends.
public enum ReaderOutputSettings: Hashable, Sendable {
    /// Packets as they are in the file (AVFoundation: `outputSettings: nil`).
    case passthrough
    /// Packets that lie entirely inside the range: for containers that can't mark a part of a packet as not
    /// presented.
    case wholePackets
    /// Packets of a range with frame-accurate edges: copied, except for the edges, which are encoded.
    case smartCut(SmartCut)
    /// Subtitle events in another codec.
    case subtitle(SubtitleCodec)
    /// Decoded frames.
    case video(VideoOutputSettings)
    /// Decoded audio, as linear PCM.
    case audio(AudioOutputSettings)
}

/// Conversion of decoded frames. The steps are applied in the order of the properties.
public struct VideoOutputSettings: Hashable, Codable, Sendable {
    /// Deinterlacing. Default: off.
    public var deinterlacing = Deinterlacing.off
    /// Whether later interlaced frames are deinterlaced in a track whose first frames are progressive. Default: false.
    public var deinterlacesLateFields = false
    /// The part of the coded frame that is kept; nil for all.
    public var crop: PixelRectangle?
    /// Rotation and reflection; nil for none.
    public var turn: FrameRotation?
    /// A chain of libavfilter's filters; nil for none.
    public var filters: FilterChain?
    /// Format of the frames after `filters`; nil without filters.
    public var filtered: FilteredFrames?
    /// Size in pixels; nil for the size after the steps before.
    public var size: PixelSize?
    /// Scaling mode for `size`. Default: `stretch`.
    public var fit = FrameFit.stretch
    /// The frame's own size inside `size`, for `contain` and `cover`.
    public var innerSize: PixelSize?
    /// Primaries, transfer and matrix to convert to; nil where none of them is to be converted.
    public var color: ColorDescription?
    /// Whether tone mapping from HDR to SDR precedes the conversion to `color`. Default: false.
    public var mapsTones = false
    /// The output's range, `tv` or `pc`; nil for the input's.
    public var levels: String?
    /// The matrix for conversion of RGB to YUV; nil chooses by the size.
    public var matrix: String?
    /// The range of frames without a declared range; nil chooses by the pixel format.
    public var sourceRange: String?
    /// The matrix of frames without a declared matrix; nil chooses by the size.
    public var sourceMatrix: String?
    /// Constant frame rate, for which frames are duplicated or dropped; nil keeps the frames' times.
    public var frameRate: Rational?
    /// The pixel format; nil for the source's.
    public var pixelFormat: PixelFormat?

    /// Creates settings that keep the source's frames, except for the given values.
    public init(pixelFormat: PixelFormat? = nil, size: PixelSize? = nil, frameRate: Rational? = nil) {
        self.pixelFormat = pixelFormat
        self.size = size
        self.frameRate = frameRate
    }

    /// Whether no step before `size` is set.
    public var isEmpty: Bool { deinterlacing == .off && crop == nil && turn == nil && filters == nil }

    /// Whether only size, pixel format, levels and frame rate can change, so that a frame that has them needs no
    /// conversion.
    var isPlain: Bool {
        deinterlacing == .off && crop == nil && turn == nil && filters == nil && color == nil
            && innerSize == nil
    }
}

/// Format of frames after a chain of filters.
public struct FilteredFrames: Hashable, Codable, Sendable {
    /// Pixel format of the filters' output.
    public var pixelFormat: PixelFormat
    /// `tv` or `pc`.
    public var range: String?
    /// The matrix; `gbr` for RGB.
    public var matrix: String?

    /// Creates a description.
    public init(pixelFormat: PixelFormat, range: String?, matrix: String?) {
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
    /// None.
    case off
}

/// Scaling of a frame to a size with another aspect ratio.
public enum FrameFit: String, Hashable, Codable, Sendable, CaseIterable {
    /// The whole frame, with black bars.
    case contain
    /// The size is filled, and the frame is cropped.
    case cover
    /// Scaled to the size; the sample aspect ratio keeps the display aspect ratio.
    case stretch
    /// The largest size that fits.
    case inside
    /// The largest size that fits, without upscaling; for a portrait frame, width and height of the size are
    /// exchanged.
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
    /// Creates a rectangle.
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

    /// Creates a rotation. Default: no reflection.
    public init(clockwiseDegrees: Int, isReflected: Bool = false) {
        self.clockwiseDegrees = clockwiseDegrees
        self.isReflected = isReflected
    }

    /// Whether frames stay unchanged.
    public var isNone: Bool { clockwiseDegrees == 0 && !isReflected }

    /// Whether width and height are exchanged.
    public var isQuarter: Bool { clockwiseDegrees % 180 != 0 }

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
    /// Creates a size.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
    /// The size as text, such as `1280x720`.
    public var description: String { "\(width)x\(height)" }
}

/// Conversion of decoded audio; nil keeps the source's value.
public struct AudioOutputSettings: Hashable, Codable, Sendable {
    /// Type and arrangement (interleaved or planar) of the samples.
    public var sampleFormat: SampleFormat?
    /// Samples per second.
    public var sampleRate: Int32?
    /// Channel layout.
    public var layout: ChannelLayout?
    /// A chain of libavfilter's filters, applied before the conversion.
    public var filters: FilterChain?

    /// Creates settings that keep the source's audio, except for the given values.
    public init(sampleFormat: SampleFormat? = nil, sampleRate: Int32? = nil, layout: ChannelLayout? = nil) {
        self.sampleFormat = sampleFormat
        self.sampleRate = sampleRate
        self.layout = layout
    }
}
