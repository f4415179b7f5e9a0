internal import LibAV

/// Converts frames to a constant frame rate by duplicating and dropping them (libavfilter's `fps`). One stage handles
/// all frames of a range, even if their format changes.
///
/// Each output frame is the source frame presented at that time, not one that begins shortly after it; so a range
/// begins with the frame that is presented at its start. Containers round times: a deviation of half their time base,
/// at most a millisecond, is tolerated.
final class FrameRateStage: FrameStage {
    private let rate: Rational
    private let sourceRate: Rational?
    /// Start and end of the range, in the output's time base.
    private let start: Int64
    private let rangeEnd: Int64?
    private let tick: Rational
    var timeBase: Rational { tick }
    /// Tolerance for rounded times, in units of `inner`.
    private let slack: Int64
    private static let inner = Rational(1, 1_000_000)

    private var graph: FilterGraph?

    init(rate: Rational, context: ProducerContext) {
        self.rate = rate
        sourceRate = context.track.nominalFrameRate
        // Time base in which the range's ends and the output's frame times are integers.
        let ticks = [rate.inverted, context.start.asTimeBase, context.end?.asTimeBase]
        tick =
            commonTick(ticks.compactMap(\.self)) ?? commonTick(ticks.dropLast().compactMap(\.self))
            ?? rate.inverted
        start = context.start.ticks(in: tick)
        rangeEnd = context.end?.ticks(in: tick)
        slack = min(1000, max(2, context.track.timeBase.rescale(1, to: Self.inner) / 2))
    }

    /// Adds a frame. Its time counts from the start of the range, so that the first output frame is at the range's
    /// start.
    func push(_ frame: consuming Frame, in timeBase: Rational) throws {
        frame.pts = timeBase.rescale(frame.pts, to: Self.inner) - slack
        if graph == nil {
            graph = try FilterGraph.video(
                [FilterStep("fps", ["fps": "\(rate)", "start_time": "0", "round": "up"])], like: frame,
                timeBase: Self.inner,
                sampleAspectRatio: frame.sampleAspectRatio, frameRate: sourceRate)
        }
        try graph?.send(frame)
    }

    func finish(at end: MediaTime?) throws {
        try graph?.sendEnd(at: (end ?? .zero).ticks(in: Self.inner) - slack)
    }

    func pull() throws -> Frame? {
        guard graph != nil else { return nil }
        let frame = try Frame()
        guard case .ready? = try graph?.receive(into: frame) else { return nil }
        let unit = graph?.timeBase ?? tick
        let pts = unit.rescale(frame.pts, to: tick) + start
        var length = max(1, unit.rescale(1, to: tick))
        if let rangeEnd { length = min(length, max(1, rangeEnd - pts)) }
        frame.pts = pts
        frame.duration = length
        return frame
    }
}
