internal import LibAV

/// Assigns exact times and durations on the asset's time line to the frames of a range.
///
/// A range `[S, E)` contains the frame presented at S, with time S, and the frames with S < pts < E; the last one ends
/// at E. A frame is held back until the next one determines its duration.
final class VideoRangeStage: FrameStage {
    private let context: ProducerContext
    let timeBase: Rational
    private let zero: Int64
    private let start: Int64
    private let rangeEnd: Int64?

    private var held: Frame?
    private var heldTime: Int64 = 0
    private var ready: Frame?
    /// Time base of the last input frame.
    private var unit = Rational(1, 1)
    private(set) var isSatisfied = false
    private(set) var droppedSamples = 0

    init(_ context: ProducerContext) {
        self.context = context
        timeBase = context.videoTick
        zero = context.timeZero.ticks(in: timeBase)
        start = context.start.ticks(in: timeBase)
        rangeEnd = context.end?.ticks(in: timeBase, rounding: .up)
    }

    func push(_ frame: consuming Frame, in timeBase: Rational) throws {
        unit = timeBase
        guard frame.pts != noTimestamp else {
            droppedSamples += 1
            return
        }
        let time = unit.rescale(frame.pts, to: self.timeBase) - zero
        // Frames before time zero are hidden by an edit list.
        if time < 0 { return }
        if let end = rangeEnd, time >= end {
            if held == nil, context.damage.count.leading > 0 {
                throw MediaError.beforeKeyFrame(
                    track: context.track.reference, first: MediaTime(ticks: time, timeBase: self.timeBase))
            }
            isSatisfied = true
            return
        }
        guard let previous = held.take() else { return hold(frame, at: time) }
        try TimeBounds.checkStep(
            from: MediaTime(ticks: heldTime, timeBase: self.timeBase),
            to: MediaTime(ticks: time, timeBase: self.timeBase), track: context.track,
            isPaged: context.lostPages != nil)
        if time <= heldTime {
            // Of two frames with the same time, the one decoded later is kept.
            droppedSamples += 1
            return hold(frame, at: heldTime)
        }
        if time > start { show(previous, from: heldTime, until: time) }
        hold(frame, at: time)
    }

    func finish(at end: MediaTime?) throws {
        guard let last = held.take() else { return }
        // A range that begins after the end of a test pattern or an image sequence is empty.
        if let rangeEnd, rangeEnd <= start { return }
        if isSatisfied, let end = rangeEnd {
            show(last, from: heldTime, until: end)
        } else {
            showLast(last)
        }
    }

    func pull() -> Frame? { ready.take() }

    private func hold(_ frame: consuming Frame, at time: Int64) {
        held = consume frame
        heldTime = time
    }

    /// Outputs the last frame. It ends with the source's duration, at the track's end, or at the end of the range.
    private func showLast(_ last: consuming Frame) {
        let frameEnd = heldTime + max(0, unit.rescale(last.duration, to: timeBase))
        let trackEnd = context.track.timeRange.end.ticks(in: timeBase)
        let nominal = context.track.nominalFrameRate.map { $0.inverted.rescale(1, to: timeBase) } ?? 1
        var until = heldTime + max(1, nominal)
        if last.duration > 0 { until = frameEnd }
        // If damage is skipped, this frame isn't necessarily the track's last one.
        let isLast = context.damage.policy == .fail
        if isLast, !context.isComposed, context.track.isTimeRangeExact, trackEnd > heldTime {
            until = max(trackEnd, heldTime + 1)
        }
        if let end = rangeEnd { until = min(until, end) }
        // No frame is presented after the end of the asset.
        if until <= start, let assetEnd = context.assetEnd, context.start >= assetEnd { return }
        // A frame that begins before the range is presented throughout the range.
        if until <= start { until = rangeEnd ?? start + 1 }
        show(last, from: heldTime, until: until)
    }

    private func show(_ frame: consuming Frame, from time: Int64, until: Int64) {
        let shown = max(time, start)
        frame.pts = shown
        frame.duration = max(1, until - shown)
        frame.clearPictureType()
        ready = consume frame
    }
}
