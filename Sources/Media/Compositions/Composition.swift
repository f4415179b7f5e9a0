public import LibAV

/// Several assets on one time line, as a value (AVFoundation's `AVMutableComposition`, with what its video composition and its audio mix
/// say): frames one after the other, with joins between them and layers above them, and the sum of any number of runs of audio.
///
/// It is read like an asset: `Asset(.composition(_))` has one track of frames and one of audio, of the form that is said here, in which
/// every clip begins at the frame and the sample that its time is.
public struct Composition: Hashable, Codable, Sendable {
    /// The media that clips are made of, each once.
    public var sources: [CompositionSource] = []
    /// What frames are; nil where there are none.
    public var canvas: Canvas?
    /// What audio is; nil where there is none.
    public var audioForm: AudioForm?
    /// Frames, in the order in which they begin. Two that overlap are joined; where there is none, the frame is black.
    public var clips: [VideoClip] = []
    /// What lies above them, later ones higher.
    public var layers: [Layer] = []
    /// Runs of audio, in any order: what is heard at once is added.
    public var audio: [AudioClip] = []
    /// Tracks of cues.
    public var subtitles: [SubtitleTrack] = []
    /// Its chapters.
    public var chapters: [AssetChapter] = []
    /// How long it is.
    public var duration: MediaTime = .zero

    /// An empty one.
    public init() {}

    /// Frames in all.
    public var frameCount: Int64 {
        canvas.map { max(1, duration.ticks(in: $0.frameRate.inverted, rounding: .up)) } ?? 0
    }

    /// Samples of audio in all.
    public var sampleCount: Int64 {
        audioForm.map { max(1, duration.ticks(in: Rational(1, max(1, $0.sampleRate)))) } ?? 0
    }

    /// Clips, layers and runs of audio that it has at most.
    public static let mostClips = 10_000
}

/// What frames of a composition are (`AVVideoComposition`: its render size and its frame duration).
public struct Canvas: Hashable, Codable, Sendable {
    /// Width and height in square pixels.
    public var size: PixelSize
    /// Frames a second, each as long as every other.
    public var frameRate: Rational
    /// How pixels are stored.
    public var pixelFormat: PixelFormat
    /// What their numbers mean.
    public var color: ColorDescription

    /// Makes a canvas; frames are of standard dynamic range where nothing else is said.
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

/// What audio of a composition is.
public struct AudioForm: Hashable, Codable, Sendable {
    /// Samples a second.
    public var sampleRate: Int32
    /// Channels and their places.
    public var layout: ChannelLayout

    /// Makes a form.
    public init(sampleRate: Int32, layout: ChannelLayout) {
        self.sampleRate = sampleRate
        self.layout = layout
    }

    /// As the mixer has it.
    var mixed: AudioFormat {
        AudioFormat(sampleFormat: .planarFloat, sampleRate: sampleRate, layout: layout.specified)
    }
}

/// Media that clips are made of.
public enum CompositionSource: Hashable, Codable, Sendable {
    /// A file by its path.
    case file(String)
    /// A generated frame and tone.
    case pattern(TestPattern)
    /// Images one after the other, or one for some time.
    case images(ImageSequence)

    /// The same as an asset's.
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
    /// Which of the composition's sources.
    public var source: Int
    /// The track's index in it.
    public var track: Int
    /// The part of it, on the source's own time line.
    public var sourceRange: TimeRange
    /// Where that stands in the composition. Where it is shorter or longer than the part, the part is played faster or slower.
    public var timeRange: TimeRange

    /// Makes a placement.
    public init(source: Int, track: Int, sourceRange: TimeRange, timeRange: TimeRange) {
        self.source = source
        self.track = track
        self.sourceRange = sourceRange
        self.timeRange = timeRange
    }

    /// It is played as fast as it was recorded.
    var isPlain: Bool { sourceRange.duration == timeRange.duration }

    /// How many times as fast it is played.
    var speed: Double { sourceRange.duration.seconds / max(1e-9, timeRange.duration.seconds) }

    /// What of the source is to be seen or heard at a time of the composition.
    func sourceTime(at time: MediaTime) -> MediaTime { Self.map(time, from: timeRange, to: sourceRange) }

    /// When something of the source is seen or heard in the composition.
    package func time(ofSource time: MediaTime) -> MediaTime {
        Self.map(time, from: sourceRange, to: timeRange)
    }

    /// Where a time of one range is in another one, which is as long or stretched.
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

/// Frames of one source.
public struct VideoClip: Hashable, Codable, Sendable {
    /// What of which source stands where.
    public var placement: ClipPlacement
    /// How its frames become the canvas's.
    public var settings: VideoOutputSettings
    /// How it comes on screen where the clip before it still is.
    public var join: JoinKind
    /// What is seen before its first frame, where that begins later than the clip.
    public var leadIn: LeadIn

    /// Makes a clip.
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

/// What a clip shows before its first frame, where that begins later than the clip does, as of files whose video begins later than their audio.
public enum LeadIn: String, Hashable, Codable, Sendable, CaseIterable {
    /// The first frame, where it is at most `longestHeld` late; otherwise black.
    case automatic
    /// The first frame.
    case hold
    /// Black.
    case black

    /// The longest gap that the first frame fills by default: half a second.
    public static let longestHeld = MediaTime(value: 1, timescale: 2)

    /// Whether the first frame is shown from the start, if it is so late.
    package func holds(_ gap: MediaTime) -> Bool {
        switch self {
        case .automatic: gap <= Self.longestHeld
        case .hold: true
        case .black: false
        }
    }
}

/// Audio of one source.
public struct AudioClip: Hashable, Codable, Sendable {
    /// What of which source stands where. Of one that is repeated, `timeRange` is all of the time and `sourceRange` one round.
    public var placement: ClipPlacement
    /// How loud it is; times are the composition's.
    public var volume: VolumeEnvelope
    /// It begins anew when it has ended, until its time is over.
    public var isRepeated: Bool
    /// It becomes quieter while another one is heard.
    public var ducking: Ducking?

    /// Makes a run of audio.
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

/// How a run of audio makes room for another one.
public struct Ducking: Hashable, Codable, Sendable {
    /// The place of the other one among the composition's.
    public var under: Int
    /// The factor of its samples while the other one is heard, in billionths.
    public var billionths: Int64
    /// The same in thousandths, rounded.
    public var thousandths: Int { Int((billionths + 500_000) / 1_000_000) }

    /// Makes one.
    public init(under: Int, thousandths: Int) {
        self.init(under: under, billionths: Int64(clamping: thousandths.multiplied(upToLimit: 1_000_000)))
    }

    /// Makes one from a factor in billionths.
    public init(under: Int, billionths: Int64) {
        self.under = under
        self.billionths = billionths
    }
}

/// How one clip takes the place of another while both are on screen.
public enum JoinKind: String, Hashable, Codable, Sendable, CaseIterable {
    /// The one fades into the other.
    case dissolve
    /// Through black.
    case fadeBlack = "fade-black"
    /// Through white.
    case fadeWhite = "fade-white"
    /// An edge that goes to the left.
    case wipeLeft = "wipe-left"
    /// An edge that goes to the right.
    case wipeRight = "wipe-right"
    /// An edge that goes up.
    case wipeUp = "wipe-up"
    /// An edge that goes down.
    case wipeDown = "wipe-down"
    /// Pushed to the left.
    case slideLeft = "slide-left"
    /// Pushed to the right.
    case slideRight = "slide-right"
    /// Pushed up.
    case slideUp = "slide-up"
    /// Pushed down.
    case slideDown = "slide-down"
    /// A circle that opens.
    case circleOpen = "circle-open"
    /// A circle that closes.
    case circleClose = "circle-close"

    /// libavfilter's name of it (`xfade`).
    var filterName: String {
        switch self {
        case .dissolve: "fade"
        default: rawValue.replacing("-", with: "")
        }
    }
}

extension Canvas {
    /// How pixels of layers are stored.
    var layerFormat: PixelFormat { isSubsampled ? .yuva420p : .yuva444p }

    /// How pixels of a layer are stored whose corner is there: at odd positions, each has its own color.
    package func layerFormat(at place: PixelRectangle) -> PixelFormat {
        place.x & 1 != 0 || place.y & 1 != 0 ? .yuva444p : layerFormat
    }

    /// Four pixels share their color.
    var isSubsampled: Bool { pixelFormat != .yuv444p }
}
