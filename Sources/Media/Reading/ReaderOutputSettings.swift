public import LibAV

/// In what form an output vends its samples.
public enum ReaderOutputSettings: Hashable, Sendable {
    /// Packets as they are in the file (AVFoundation: `outputSettings: nil`).
    case passthrough
    /// The same, but only packets that lie inside the range as a whole: for containers that can't say that a part of
    /// one is not to be heard.
    case wholePackets
    /// Packets of a range that is cut to the frame: copied but for its edges.
    case smartCut(SmartCut)
    /// Cues in another codec.
    case subtitle(SubtitleCodec)
    /// Decoded frames.
    case video(VideoOutputSettings)
    /// Decoded audio, as linear PCM.
    case audio(AudioOutputSettings)
}

/// Frames as an output vends them. The steps happen in the order that they stand in.
public struct VideoOutputSettings: Hashable, Codable, Sendable {
    /// Makes whole frames of fields.
    public var deinterlacing = Deinterlacing.off
    /// Whether interlaced frames are deinterlaced that come later in a track whose first frames are progressive. Default: false.
    public var deinterlacesLateFields = false
    /// The part of the coded frame that is kept; nil for all.
    public var crop: PixelRectangle?
    /// How the frame is rotated.
    public var turn: FrameRotation?
    /// A chain of libavfilter's filters.
    public var filters: FilterChain?
    /// What the filters make of the frames; nil without filters.
    public var filtered: FilteredFrames?
    /// Size in pixels; nil for what the steps before make.
    public var size: PixelSize?
    /// How the frame gets into `size`.
    public var fit = FrameFit.stretch
    /// The frame's own size inside `size`, for `contain` and `cover`.
    public var innerSize: PixelSize?
    /// Primaries, transfer and matrix to convert to; nil where none of them is to be converted.
    public var color: ColorDescription?
    /// Tones go from high to standard dynamic range on the way to `color`.
    public var mapsTones = false
    /// The range of the numbers that come out, `tv` or `pc`; nil for what goes in.
    public var levels: String?
    /// The matrix by which RGB becomes YUV; nil for what is usual of the size.
    public var matrix: String?
    /// The range of frames that don't say one; nil for what is usual of their format.
    public var sourceRange: String?
    /// The matrix of frames that don't say one; nil for what is usual of their size.
    public var sourceMatrix: String?
    /// Frames a second, repeated or left out as needed; nil keeps every frame at its own time.
    public var frameRate: Rational?
    /// The pixel format; nil for the source's.
    public var pixelFormat: PixelFormat?

    /// Frames as the source has them.
    public init(pixelFormat: PixelFormat? = nil, size: PixelSize? = nil, frameRate: Rational? = nil) {
        self.pixelFormat = pixelFormat
        self.size = size
        self.frameRate = frameRate
    }

    /// No step before the size is asked for.
    public var isEmpty: Bool { deinterlacing == .off && crop == nil && turn == nil && filters == nil }

    /// Nothing but size, format and rate is touched, so a frame that has them goes past.
    var isPlain: Bool {
        deinterlacing == .off && crop == nil && turn == nil && filters == nil && color == nil
            && innerSize == nil
    }
}

/// What numbers mean behind a chain of filters.
public struct FilteredFrames: Hashable, Codable, Sendable {
    /// How pixels are stored.
    public var pixelFormat: PixelFormat
    /// `tv` or `pc`.
    public var range: String?
    /// The matrix, `gbr` of RGB.
    public var matrix: String?

    /// Makes a description.
    public init(pixelFormat: PixelFormat, range: String?, matrix: String?) {
        self.pixelFormat = pixelFormat
        self.range = range
        self.matrix = matrix
    }
}

/// How frames are made of fields.
public enum Deinterlacing: String, Hashable, Codable, Sendable, CaseIterable {
    /// Frames that say they are made of fields.
    case auto
    /// All frames.
    case on
    /// None.
    case off
}

/// How a frame gets into a size of another shape.
public enum FrameFit: String, Hashable, Codable, Sendable, CaseIterable {
    /// All of it, with black bars.
    case contain
    /// The size is filled, and what doesn't fit is cut off.
    case cover
    /// Scaled to the size; the shape of a pixel makes up for it.
    case stretch
    /// As large as fits.
    case inside
    /// As large as fits and no larger than it is; the size is rotated for a frame that stands.
    case scaleDown = "scale-down"
}

/// A rectangle of a frame, in pixels from its upper left corner.
public struct PixelRectangle: Hashable, Codable, Sendable {
    /// Left edge.
    public var x: Int
    /// Upper edge.
    public var y: Int
    /// Width.
    public var width: Int
    /// Height.
    public var height: Int
    /// Makes a rectangle.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }
}

/// A rotation by quarters, after a reflection or not.
public struct FrameRotation: Hashable, Codable, Sendable {
    /// Mirrored from left to right first.
    public var isReflected: Bool
    /// Degrees clockwise: 0, 90, 180 or 270.
    public var clockwiseDegrees: Int

    /// Makes a rotation.
    public init(clockwiseDegrees: Int, isReflected: Bool = false) {
        self.clockwiseDegrees = clockwiseDegrees
        self.isReflected = isReflected
    }

    /// Leaves frames as they are.
    public var isNone: Bool { clockwiseDegrees == 0 && !isReflected }

    /// Exchanges width and height.
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
    /// Width.
    public var width: Int
    /// Height.
    public var height: Int
    /// Makes a size.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
    /// As `1280x720`.
    public var description: String { "\(width)x\(height)" }
}

/// Audio as an output vends it; nil keeps what the source has.
public struct AudioOutputSettings: Hashable, Codable, Sendable {
    /// How a sample is stored.
    public var sampleFormat: SampleFormat?
    /// Samples per second.
    public var sampleRate: Int32?
    /// Channels and their places.
    public var layout: ChannelLayout?
    /// A chain of libavfilter's filters, before everything else.
    public var filters: FilterChain?

    /// Audio as the source has it.
    public init(sampleFormat: SampleFormat? = nil, sampleRate: Int32? = nil, layout: ChannelLayout? = nil) {
        self.sampleFormat = sampleFormat
        self.sampleRate = sampleRate
        self.layout = layout
    }
}
