internal import ExactStrings
public import LibAV

/// Several assets on one time line, as a value (AVFoundation's `AVMutableComposition` with its video composition and
/// audio mix): a sequence of video clips with transitions, layers above them, and the sum of any number of audio
/// items.
///
/// A composition is read like an asset: `Asset(.composition(_))` has at most one track of video and one of audio, in
/// the formats of `canvas` and `audioFormat`. Clips begin exactly at the frame or sample of their time.
public struct Composition: Hashable, Codable, Sendable {
    /// Sources to which clips, layers and audio items refer by index; each source is listed once.
    public var sources: [CompositionSource] = []
    /// Format of the frames; nil for a composition without video.
    public var canvas: Canvas?
    /// Format of the audio; nil for a composition without audio.
    public var audioFormat: CompositionAudioFormat?
    /// Video clips in order of their start. Two clips that overlap have a transition. Frames are black outside of
    /// clips.
    public var clips: [VideoClip] = []
    /// Layers above the clips; later ones are on top.
    public var layers: [Layer] = []
    /// Audio items in any order; items that overlap are mixed.
    public var audio: [AudioClip] = []
    /// Subtitle tracks; each one becomes a track of the asset.
    public var subtitles: [SubtitleTrack] = []
    /// Chapters on the composition's time line, at most `maxClips`.
    public var chapters: [AssetChapter] = []
    /// Duration; must be greater than 0 for reading.
    public var duration: MediaTime = .zero

    /// Creates an empty composition, without canvas and audio format.
    public init() {}

    /// Total number of frames; 0 without a canvas.
    package var frameCount: Int64 {
        canvas.map { max(1, duration.ticks(in: $0.frameRate.inverted, rounding: .up)) } ?? 0
    }

    /// Total number of audio samples per channel; 0 without audio.
    package var sampleCount: Int64 {
        audioFormat.map { max(1, duration.ticks(in: Rational(1, max(1, $0.sampleRate)))) } ?? 0
    }

    /// Whether layers contain text or subtitles, which are drawn with the machine's fonts.
    package var drawsText: Bool {
        layers.contains { layer in
            switch layer.content {
            case .frames: false
            case .text, .subtitles: true
            }
        }
    }

    /// Maximum number of clips, of layers, of audio items, of sources and of chapters.
    package static let maxClips = 10_000
}

/// Format of a composition's frames (`AVVideoComposition`: its render size and frame duration).
public struct Canvas: Hashable, Codable, Sendable {
    /// Width and height in square pixels.
    public var size: PixelSize
    /// Frames per second; all frames have the same duration.
    public var frameRate: Rational
    /// Pixel format. Default: `yuv420p`.
    public var pixelFormat: PixelFormat
    /// Primaries, transfer, matrix and range. Default: standard dynamic range.
    public var color: ColorDescription

    /// Creates a canvas. Width and height must be even, from 16 to 16,384.
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

/// Format of a composition's mixed audio.
public struct CompositionAudioFormat: Hashable, Codable, Sendable {
    /// Sample rate in Hz.
    public var sampleRate: Int32
    /// Channel layout of the mix, to which all sources are converted.
    public var layout: ChannelLayout

    /// Creates a format; the sample rate is in Hz.
    public init(sampleRate: Int32, layout: ChannelLayout) {
        self.sampleRate = sampleRate
        self.layout = layout
    }

    /// Format in which items are mixed: planar float.
    var mixed: AudioFormat {
        AudioFormat(sampleFormat: .planarFloat, sampleRate: sampleRate, layout: layout.specified)
    }
}

/// Source to which clips, layers and audio items refer.
public enum CompositionSource: Hashable, Codable, Sendable {
    /// A file by its path.
    case file(String)
    /// A generated test pattern.
    case pattern(TestPattern)
    /// A sequence of images, or a still image.
    case images(ImageSequence)

    /// The corresponding source of an `Asset`.
    public var assetSource: Asset.Source {
        switch self {
        case .file(let path): .file(path)
        case .pattern(let pattern): .pattern(pattern)
        case .images(let sequence): .images(sequence)
        }
    }

    /// Returns whether the sources are the same. Paths are compared by their bytes, as file systems do.
    public static func == (one: CompositionSource, other: CompositionSource) -> Bool {
        switch (one, other) {
        case (.file(let one), .file(let other)): one.exact == other.exact
        case (.pattern(let one), .pattern(let other)): one == other
        case (.images(let one), .images(let other)): one == other
        case (.file, _), (.pattern, _), (.images, _): false
        }
    }

    /// Hashes the source, with the bytes of its path.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .file(let path): hasher.combine(path.exact)
        case .pattern(let pattern): hasher.combine(pattern)
        case .images(let sequence): hasher.combine(sequence)
        }
    }
}

/// A part of a source's track, and its position on the composition's time line.
public struct ClipPlacement: Hashable, Codable, Sendable {
    /// Index among the composition's sources.
    public var source: Int
    /// Index of the track in the source.
    public var track: Int
    /// The part of the track, on the source's own time line.
    public var sourceRange: TimeRange
    /// Range on the composition's time line. If its duration differs from that of `sourceRange`, the clip is played
    /// faster or slower.
    public var timeRange: TimeRange

    /// Creates a placement; the durations of the two ranges determine the speed.
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

/// A part of a source's video track in the sequence of clips.
public struct VideoClip: Hashable, Codable, Sendable {
    /// Part of the source, and range on the time line.
    public var placement: ClipPlacement
    /// Conversion of the clip's frames to the canvas.
    public var settings: VideoOutputSettings
    /// Transition from the previous clip where they overlap.
    public var join: JoinKind
    /// Fill for the time before the clip's first frame, if that frame starts after the clip.
    public var leadIn: LeadIn

    /// Creates a clip; `join` applies only if it overlaps the previous clip.
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
    /// The first frame if it begins at most `longestHeld` after the clip; otherwise black.
    case automatic
    /// The first frame, regardless of its delay.
    case hold
    /// Black frames until the first one.
    case black

    /// The longest gap that `automatic` fills with the first frame: half a second.
    package static let longestHeld = MediaTime(value: 1, timescale: 2)

    /// Returns whether the first frame is shown from the clip's start, given its delay.
    package func extendsFirstFrame(_ gap: MediaTime) -> Bool {
        switch self {
        case .automatic: gap <= Self.longestHeld
        case .hold: true
        case .black: false
        }
    }
}

/// A part of a source's audio track in the mix.
public struct AudioClip: Hashable, Codable, Sendable {
    /// Part of the source, and range on the time line. For a repeated item, `timeRange` contains all repetitions, and
    /// `sourceRange` one.
    public var placement: ClipPlacement
    /// Volume envelope; its times are on the composition's time line.
    public var volume: VolumeEnvelope
    /// Whether the source range is repeated until `timeRange` ends.
    public var isRepeated: Bool
    /// Reduction of the volume while another item is audible; nil for none.
    public var ducking: Ducking?

    /// Creates an audio item, at full volume by default.
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
    /// Index in `Composition.audio` of the other item, which must not be ducked.
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
    /// Pixel format of layers at even positions, with alpha.
    var layerFormat: PixelFormat { isSubsampled ? .yuva420p : .yuva444p }

    /// Returns the pixel format of a layer at a position. At odd positions, chroma must not be subsampled.
    package func layerFormat(at rectangle: PixelRectangle) -> PixelFormat {
        rectangle.x & 1 != 0 || rectangle.y & 1 != 0 ? .yuva444p : layerFormat
    }

    /// Whether chroma is subsampled (4:2:0).
    var isSubsampled: Bool { pixelFormat != .yuv444p }
}
