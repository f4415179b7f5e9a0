internal import LibAV

/// Times of subtitles on the time line of the frames into which they are drawn.
struct SubtitleTimes {
    /// Time of the frames that corresponds to time 0 of the subtitles.
    var offset = MediaTime.zero
    /// Time after which no subtitle is shown; nil for no limit.
    var end: MediaTime?
    /// Starts of joined ranges, in ascending order. A subtitle of one range isn't shown in the next.
    var sectionStarts: [MediaTime] = []

    /// Returns the index of the range that contains a time.
    func section(of time: MediaTime) -> Int { sectionStarts.lastIndex { $0 <= time } ?? 0 }
}

/// Draws the events of a subtitle track into frames.
protocol SubtitleRenderer: AnyObject {
    /// Returns the frame with the events at a time drawn into it; `index` is the frame's time in the target's time base.
    func draw(into base: consuming Frame, at time: MediaTime, _ index: Int64) throws -> Frame
}

/// Draws subtitles into frames, in order: text by libass, images by libavfilter's `overlay`. The track is opened with the
/// first frame. Confined to one queue.
final class SubtitleOverlay: FrameOverlay {
    private let target: OverlayTarget
    private let times: SubtitleTimes
    private let style: SubtitleStyle
    private let folder: String
    private let open: () throws -> CompositionRead
    private let place: (CompositionRead) -> SubtitlePlacement
    private var renderer: (any SubtitleRenderer)?

    /// Creates an overlay. `open` starts reading the events: text as ASS, images as packets. `place` returns the position
    /// of images. `folder`: location of a temporary script.
    init(
        _ style: SubtitleStyle, on target: OverlayTarget, times: SubtitleTimes, in folder: String,
        place: @escaping (CompositionRead) -> SubtitlePlacement, open: @escaping () throws -> CompositionRead
    ) {
        (self.style, self.target, self.times) = (style, target, times)
        (self.folder, self.place, self.open) = (folder, place, open)
    }

    func prepare(at time: MediaTime) throws {}

    func put(above base: consuming Frame, at time: MediaTime, _ index: Int64) throws -> Frame {
        if renderer == nil { renderer = try makeRenderer() }
        guard let renderer else { return base }
        return try renderer.draw(into: base, at: time, index)
    }

    private func makeRenderer() throws -> any SubtitleRenderer {
        let read = try open()
        let track = read.output.track
        if SubtitleCodec.canConvert(from: track.format.codec) {
            return try TextSubtitleRenderer(read, style: style, target: target, times: times, folder: folder)
        }
        return try ImageSubtitleRenderer(read, target: target, times: times, placement: place(read))
    }
}

extension CompositionOpener {
    /// Starts reading the events of a subtitle track of the source at an index: text as ASS, images as packets.
    func readSubtitles(source: Int, track: Int, _ extent: ReadingExtent) throws -> CompositionRead {
        try read(source: source, track: track, extent) {
            SubtitleCodec.canConvert(from: $0.format.codec) ? .subtitle(.ass) : .passthrough
        }
    }
}
