internal import LibAV

/// Reader of one clip's or layer's frames, which returns the frame on screen at each requested time. The source is
/// opened for the first one. Confined to one queue.
final class ClipFrames {
    private let placement: ClipPlacement
    private let canvas: Canvas
    /// Whether the source is a still image, whose only frame is shown for the whole clip.
    let isStill: Bool
    private let open: (ReadingExtent) throws -> CompositionRead
    private let settings: VideoOutputSettings
    /// Fill for the time before the first frame; nil for layers, which are transparent until then.
    private let leadIn: LeadIn?

    private var read: CompositionRead?
    private var held: Frame?
    private var next: SampleBuffer?
    private var hasEnded = false
    /// Tolerance for times that a container rounds.
    private var slack = MediaTime(value: 1, timescale: 2000)

    /// Creates a reader; `open` starts reading the source.
    init(
        _ placement: ClipPlacement, of source: CompositionSource, settings: VideoOutputSettings,
        canvas: Canvas, leadIn: LeadIn? = nil, open: @escaping (ReadingExtent) throws -> CompositionRead
    ) {
        self.placement = placement
        self.settings = settings
        self.leadIn = leadIn
        self.canvas = canvas
        self.open = open
        isStill = if case .images(let sequence) = source { sequence.numbers == nil } else { false }
    }

    /// Duration of one canvas frame, in source time.
    private var step: MediaTime {
        let frame = MediaTime(ticks: 1, timeBase: canvas.frameRate.inverted)
        return placement.sourceTime(at: placement.timeRange.start + frame) - placement.sourceRange.start
    }

    /// Starts reading the source for a time of the composition, ahead of the first request for a frame.
    func prepare(at time: MediaTime) throws {
        guard read == nil else { return }
        let range = placement.sourceRange
        let start = isStill ? range.start : max(range.start, placement.sourceTime(at: time))
        guard start < range.end else { return hasEnded = true }
        read = try open(ReadingExtent(TimeRange(start: start, end: range.end)))
    }

    /// Returns true for the first frame if it is shown from the start of the clip: it begins at most one canvas frame
    /// after the start, or the lead-in extends it.
    private func isHeld(_ sample: borrowing SampleBuffer) -> Bool {
        guard held == nil else { return false }
        let gap = sample.presentationTime - placement.sourceRange.start
        return gap <= step || leadIn?.extendsFirstFrame(gap) ?? false
    }

    /// Returns the frame on screen at a time of the composition; nil before the source's first frame. Times must not
    /// decrease.
    func frame(at time: MediaTime) throws -> Frame? {
        try prepare(at: max(time, placement.timeRange.start))
        let needed = placement.sourceTime(at: time) + slack
        while !(isStill && held != nil) {
            if next == nil, !hasEnded {
                next = try read?.next()
                hasEnded = next == nil
            }
            guard let sample = next.take() else { break }
            guard isStill || sample.presentationTime <= needed || isHeld(sample) else {
                next = consume sample
                break
            }
            guard let frame = sample.takeFrame() else { continue }
            // The frame was converted to the canvas's colors and square pixels, so its own description no longer
            // applies.
            frame.applyColor(canvas.color)
            frame.setSquarePixels()
            held = consume frame
        }
        guard let frame = held.take() else { return nil }
        let copy = try frame.reference()
        held = consume frame
        return copy
    }
}
