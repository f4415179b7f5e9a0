public import LibAV

/// Several assets on one time line, as a value (AVFoundation's `AVMutableComposition` with its video composition and
/// audio mix): a sequence of video clips with transitions, layers above them, and the sum of any number of audio
/// items.
///
/// A composition is read like an asset: `Asset(.composition(_))` has at most one track of video and one of audio, in
/// the formats of `canvas` and `audioFormat`. Clips begin exactly at the frame or sample of their time.
public struct Composition: Hashable, Codable, Sendable {
    /// Media of the clips, each source once.
    public var sources: [CompositionSource] = []
    /// Format of the frames; nil for a composition without video.
    public var canvas: Canvas?
    /// Format of the audio; nil for a composition without audio.
    public var audioFormat: CompositionAudioFormat?
    /// Video clips in order of their start. Two clips that overlap have a transition; where there is no clip, frames
    /// are black.
    public var clips: [VideoClip] = []
    /// Layers above the clips; later ones are on top.
    public var layers: [Layer] = []
    /// Audio items in any order; items that overlap are mixed.
    public var audio: [AudioClip] = []
    /// Subtitle tracks.
    public var subtitles: [SubtitleTrack] = []
    /// Chapters, on the composition's time line.
    public var chapters: [AssetChapter] = []
    /// Duration; must be greater than 0 for reading.
    public var duration: MediaTime = .zero

    // Keys of the plan's JSON.
    private enum CodingKeys: String, CodingKey {
        case sources, canvas
        case audioFormat = "audioForm"
        case clips, layers, audio, subtitles, chapters, duration
    }

    /// Creates an empty composition.
    public init() {}

    /// Total number of frames; 0 without a canvas.
    public var frameCount: Int64 {
        canvas.map { max(1, duration.ticks(in: $0.frameRate.inverted, rounding: .up)) } ?? 0
    }

    /// Total number of audio samples per channel; 0 without audio.
    public var sampleCount: Int64 {
        audioFormat.map { max(1, duration.ticks(in: Rational(1, max(1, $0.sampleRate)))) } ?? 0
    }

    /// Maximum number of clips, of layers and of audio items.
    public static let maxClips = 10_000
}

/// Format of a composition's frames (`AVVideoComposition`: its render size and frame duration).
public struct Canvas: Hashable, Codable, Sendable {
    /// Width and height in square pixels.
    public var size: PixelSize
    /// Constant frame rate.
    public var frameRate: Rational
    /// Pixel format. Default: `yuv420p`.
    public var pixelFormat: PixelFormat
    /// Primaries, transfer, matrix and range. Default: standard dynamic range.
    public var color: ColorDescription

    /// Creates a canvas.
    public init(
        size: PixelSize, frameRate: Rational, pixelFormat: PixelFormat = .yuv420p,
        color: ColorDescription = .standard
    ) {
        self.size = size
        self.frameRate = frameRate
        self.pixelFormat = pixelFormat
        self.color = color
    }
}

/// Format of a composition's audio.
public struct CompositionAudioFormat: Hashable, Codable, Sendable {
    /// Sample rate in Hz.
    public var sampleRate: Int32
    /// Channel layout.
    public var layout: ChannelLayout

    /// Creates a format.
    public init(sampleRate: Int32, layout: ChannelLayout) {
        self.sampleRate = sampleRate
        self.layout = layout
    }

    /// Format of the mixer: planar float.
    var mixed: AudioFormat {
        AudioFormat(sampleFormat: .planarFloat, sampleRate: sampleRate, layout: layout.specified)
    }
}

/// Media that clips refer to.
public enum CompositionSource: Hashable, Codable, Sendable {
    /// A file by its path.
    case file(String)
    /// A generated test pattern.
    case pattern(TestPattern)
    /// A sequence of images, or a still image.
    case images(ImageSequence)

    /// The source as an asset's.
    public var assetSource: Asset.Source {
        switch self {
        case .file(let path): .file(path)
        case .pattern(let pattern): .pattern(pattern)
        case .images(let sequence): .images(sequence)
        }
    }
}

/// A part of a source's track on the composition's time line.
public struct ClipPlacement: Hashable, Codable, Sendable {
    /// Index among the composition's sources.
    public var source: Int
    /// Index of the track in the source.
    public var track: Int
    /// The part of the track, on the source's own time line.
    public var sourceRange: TimeRange
    /// The position on the composition's time line. If its duration differs from that of `sourceRange`, the clip is
    /// played faster or slower.
    public var timeRange: TimeRange

    /// Creates a placement.
    public init(source: Int, track: Int, sourceRange: TimeRange, timeRange: TimeRange) {
        self.source = source
        self.track = track
        self.sourceRange = sourceRange
        self.timeRange = timeRange
    }

    /// Whether the clip is played at normal speed.
    var isPlain: Bool { sourceRange.duration == timeRange.duration }

    /// Speed as a factor; 1 is normal.
    var speed: Double { sourceRange.duration.seconds / max(1e-9, timeRange.duration.seconds) }

    /// Returns the source time that is presented at a time of the composition.
    func sourceTime(at time: MediaTime) -> MediaTime { Self.map(time, from: timeRange, to: sourceRange) }

    /// Returns the time of the composition at which a source time is presented.
    package func time(ofSource time: MediaTime) -> MediaTime {
        Self.map(time, from: sourceRange, to: timeRange)
    }

    /// Maps a time linearly from one range to another.
    private static func map(_ time: MediaTime, from: TimeRange, to: TimeRange) -> MediaTime {
        let inside = time - from.start
        guard from.duration != to.duration else { return to.start + inside }
        return to.start
            + MediaTime(
                Int128(inside.value) * Int128(to.duration.value) * Int128(from.duration.timescale),
                Int128(inside.timescale) * Int128(to.duration.timescale)
                    * Int128(max(1, from.duration.value)))
    }
}

/// A video clip of one source.
public struct VideoClip: Hashable, Codable, Sendable {
    /// Part of the source, and position on the time line.
    public var placement: ClipPlacement
    /// Conversion of the clip's frames to the canvas.
    public var settings: VideoOutputSettings
    /// Transition from the previous clip where they overlap.
    public var join: JoinKind
    /// Fill for the time before the clip's first frame, if that is late.
    public var leadIn: LeadIn

    /// Creates a clip.
    public init(
        placement: ClipPlacement, settings: VideoOutputSettings, join: JoinKind = .dissolve,
        leadIn: LeadIn = .automatic
    ) {
        self.placement = placement
        self.settings = settings
        self.join = join
        self.leadIn = leadIn
    }
}

/// Fill for the time before a clip's first frame, for files whose video begins later than their audio.
public enum LeadIn: String, Hashable, Codable, Sendable, CaseIterable {
    /// The first frame, where it is at most `longestHeld` late; otherwise black.
    case automatic
    /// The first frame.
    case hold
    /// Black frames until the first one.
    case black

    /// The longest gap that the first frame fills by default: half a second.
    public static let longestHeld = MediaTime(value: 1, timescale: 2)

    /// Returns whether the first frame is shown from the clip's start, given its delay.
    package func extendsFirstFrame(_ gap: MediaTime) -> Bool {
        switch self {
        case .automatic: gap <= Self.longestHeld
        case .hold: true
        case .black: false
        }
    }
}

/// An audio item of one source.
public struct AudioClip: Hashable, Codable, Sendable {
    /// Part of the source, and position on the time line. For a repeated item, `timeRange` is the whole time and
    /// `sourceRange` one round.
    public var placement: ClipPlacement
    /// Volume envelope; its times are on the composition's time line.
    public var volume: VolumeEnvelope
    /// Whether the item restarts at its end, until its time range is over.
    public var isRepeated: Bool
    /// Reduction of the volume while another item is audible; nil for none.
    public var ducking: Ducking?

    /// Creates an audio item.
    public init(
        placement: ClipPlacement, volume: VolumeEnvelope = .full, isRepeated: Bool = false,
        ducking: Ducking? = nil
    ) {
        self.placement = placement
        self.volume = volume
        self.isRepeated = isRepeated
        self.ducking = ducking
    }
}

/// Reduction of an audio item's volume while another item is audible.
public struct Ducking: Hashable, Codable, Sendable {
    /// Index of the other item in the composition.
    public var under: Int
    /// Factor of the samples while the other item is audible, in billionths.
    public var billionths: Int64
    /// The factor in thousandths, rounded.
    public var thousandths: Int { Int((billionths + 500_000) / 1_000_000) }

    /// Creates a ducking from a factor in thousandths.
    public init(under: Int, thousandths: Int) {
        self.init(under: under, billionths: Int64(clamping: thousandths.multiplied(upToLimit: 1_000_000)))
    }

    /// Creates a ducking from a factor in billionths.
    public init(under: Int, billionths: Int64) {
        self.under = under
        self.billionths = billionths
    }
}

/// Transition between two clips while both are on screen.
public enum JoinKind: String, Hashable, Codable, Sendable, CaseIterable {
    /// A cross-fade.
    case dissolve
    /// A fade through black.
    case fadeBlack = "fade-black"
    /// A fade through white.
    case fadeWhite = "fade-white"
    /// A wipe whose edge moves left.
    case wipeLeft = "wipe-left"
    /// A wipe whose edge moves right.
    case wipeRight = "wipe-right"
    /// A wipe whose edge moves up.
    case wipeUp = "wipe-up"
    /// A wipe whose edge moves down.
    case wipeDown = "wipe-down"
    /// A slide to the left.
    case slideLeft = "slide-left"
    /// A slide to the right.
    case slideRight = "slide-right"
    /// A slide toward the top.
    case slideUp = "slide-up"
    /// A slide toward the bottom.
    case slideDown = "slide-down"
    /// A circle that opens.
    case circleOpen = "circle-open"
    /// A circle that closes.
    case circleClose = "circle-close"

    /// Name of the transition in libavfilter's `xfade`.
    var filterName: String {
        switch self {
        case .dissolve: "fade"
        default: rawValue.replacing("-", with: "")
        }
    }
}

extension Canvas {
    /// Pixel format of layers.
    var layerFormat: PixelFormat { isSubsampled ? .yuva420p : .yuva444p }

    /// Returns the pixel format of a layer with this position. At odd positions, chroma must not be subsampled.
    package func layerFormat(at rectangle: PixelRectangle) -> PixelFormat {
        rectangle.x & 1 != 0 || rectangle.y & 1 != 0 ? .yuva444p : layerFormat
    }

    /// Whether chroma is subsampled (4:2:0).
    var isSubsampled: Bool { pixelFormat != .yuv444p }
}
