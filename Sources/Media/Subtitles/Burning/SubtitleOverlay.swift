internal import LibAV

/// Draws the events of a subtitle track into frames.
protocol SubtitleRenderer: AnyObject {
    /// Returns the frame with the events at a position drawn into it; `index` is the frame's time in the target's time
    /// base.
    func draw(
        into base: consuming Frame, at position: (section: Int, time: MediaTime), _ index: Int64
    ) throws -> Frame
}

/// Draws subtitles into frames, in order: text by libass, images by libavfilter's `overlay`. The track is opened with the
/// first frame. Confined to one queue.
final class SubtitleOverlay: FrameOverlay {
    /// Starts reading the events of a range, by its index: all text as ASS, or the images of the range as packets.
    typealias Open = (_ section: Int) throws -> CompositionRead

    private let target: OverlayTarget
    private let times: SubtitleTimes
    private let style: SubtitleStyle
    private let folder: String
    private let open: Open
    private let place: (CompositionRead) -> SubtitlePlacement
    private var renderer: (any SubtitleRenderer)?

    /// Creates an overlay. `place` returns the position of images. `folder`: location of a temporary script.
    init(
        _ style: SubtitleStyle, on target: OverlayTarget, times: SubtitleTimes, in folder: String,
        place: @escaping (CompositionRead) -> SubtitlePlacement, open: @escaping Open
    ) {
        (self.style, self.target, self.times) = (style, target, times)
        (self.folder, self.place, self.open) = (folder, place, open)
    }

    func prepare(at time: MediaTime) throws {}

    func put(above base: consuming Frame, at time: MediaTime, _ index: Int64) throws -> Frame {
        let position = times.position(of: time)
        if renderer == nil { renderer = try makeRenderer(position.section) }
        guard let renderer else { return base }
        return try renderer.draw(into: base, at: position, index)
    }

    private func makeRenderer(_ section: Int) throws -> any SubtitleRenderer {
        let read = try open(section)
        if SubtitleCodec.canConvert(from: read.output.track.format.codec) {
            return try TextSubtitleRenderer(read, style: style, target: target, folder: folder)
        }
        return try ImageSubtitleRenderer(
            read, section: section, target: target, placement: place(read), open: open)
    }
}

extension CompositionOpener {
    /// Starts reading the events of a subtitle track of the source at an index, at their own times: text as ASS up to the
    /// end of the last of the ranges, images as the packets of one of the ranges. `isOpen`: whether the last range continues
    /// to the end of the source.
    func readSubtitles(
        source: Int, track: Int, _ section: Int, of ranges: [TimeRange] = [], isOpen: Bool = false
    ) throws -> CompositionRead {
        try read(source: source, track: track) { track in
            if SubtitleCodec.canConvert(from: track.format.codec) {
                let end = isOpen ? nil : ranges.map(\.end).max()
                return Reading(
                    settings: .subtitle(.ass),
                    extent: ReadingExtent(end.map { TimeRange(start: .zero, end: $0) }), keepsEventTimes: true
                )
            }
            let range = ranges.indices.contains(section) ? ranges[section] : ranges.first
            var extent = ReadingExtent(range)
            extent.isOpen = isOpen && section >= ranges.count - 1
            return Reading(settings: .passthrough, extent: extent, keepsEventTimes: true)
        }
    }
}
