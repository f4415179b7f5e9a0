internal import LibAV

/// Makes a steady frame rate of frames, which it repeats or leaves out (libavfilter's `fps`). All of a range go through
/// one of these, however often their form changed before.
///
/// A new frame is the one that is on screen at its time, not one that comes soon after it: a range begins with what is
/// shown at its start. Containers round times; half of their unit, at most a millisecond, is forgiven.
final class FrameRateStage: FrameStage {
    private let rate: Rational
    private let sourceRate: Rational?
    /// Where the range starts and ends, in the unit of what comes out.
    private let start: Int64
    private let rangeEnd: Int64?
    private let tick: Rational
    var timeBase: Rational { tick }
    /// What is forgiven, in `inner`.
    private let slack: Int64
    private static let inner = Rational(1, 1_000_000)

    private var graph: FilterGraph?

    init(rate: Rational, context: ProducerContext) {
        self.rate = rate
        sourceRate = context.track.nominalFrameRate
        // A tick that the range's ends and the new frames fall on.
        let ticks = [rate.inverted, context.start.asTick, context.end?.asTick]
        tick =
            commonTick(ticks.compactMap(\.self)) ?? commonTick(ticks.dropLast().compactMap(\.self))
            ?? rate.inverted
        start = context.start.ticks(in: tick)
        rangeEnd = context.end?.ticks(in: tick)
        slack = min(1000, max(2, context.track.timeBase.rescale(1, to: Self.inner) / 2))
    }

    /// Takes a frame whose time is told from the start of the range, so that the first new one falls on it.
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
