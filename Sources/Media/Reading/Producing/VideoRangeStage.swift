internal import LibAV

/// Decoded frames of a range, each with its exact time and length.
///
/// A range `[S, E)` shows what the source shows: the frame on screen at S first, at S; then those with
/// S < pts < E; the last one until E. A frame is held back until the next one says how long it lasts.
final class VideoProducer: SampleProducer {
    private let frames: any FrameStream
    private let context: ProducerContext
    private let tick: Rational
    private let zero: Int64
    private let start: Int64
    private let end: Int64?

    private var held: Frame?
    private var heldTime: Int64 = 0
    private var isFinished = false
    private let converter: VideoConverter
    private var dropped = 0
    var droppedSamples: Int { dropped + frames.droppedSamples }
    var formChange: MediaTime? { converter.shapeChange ?? frames.formChange }

    init(frames: any FrameStream, context: ProducerContext, settings: VideoOutputSettings) {
        self.frames = frames
        self.context = context
        tick = context.videoTick
        zero = context.timeZero.ticks(in: tick)
        start = context.start.ticks(in: tick)
        end = context.end?.ticks(in: tick, rounding: .up)
        converter = VideoConverter(settings: settings, context: context, tick: tick)
    }

    func next() throws -> SampleSupply {
        while true {
            if let sample = try converter.next() { return .sample(sample) }
            if converter.isAtEnd { return .ended }
            switch try nextSource() {
            case .sample(let source): try converter.send(source)
            case .pending: return .pending
            case .ended: try converter.finish()
            }
        }
    }

    private func nextSource() throws -> SampleSupply {
        while !isFinished {
            let frame = try Frame()
            switch try frames.next(into: frame) {
            case .frame: break
            case .pending: return .pending
            case .ended:
                isFinished = true
                return SampleSupply(finalSample())
            }
            guard frame.pts != noTimestamp else {
                dropped += 1
                continue
            }
            let time = frames.timeBase.rescale(frame.pts, to: tick) - zero
            // Before time zero nothing is shown: an edit list hides it.
            if time < 0 { continue }
            if let end, time >= end {
                isFinished = true
                guard let last = held.take() else { return .ended }
                return .sample(sample(last, from: heldTime, until: end))
            }
            guard let previous = held.take() else {
                hold(frame, at: time)
                continue
            }
            try TimeBounds.checkStep(
                from: MediaTime(ticks: heldTime, timeBase: tick), to: MediaTime(ticks: time, timeBase: tick),
                track: context.track)
            if time <= heldTime {
                // Two frames for one moment: the later one decoded is what stays on screen.
                dropped += 1
                hold(frame, at: heldTime)
                continue
            }
            if time <= start {
                hold(frame, at: time)
                continue
            }
            let shown = sample(previous, from: heldTime, until: time)
            hold(frame, at: time)
            return .sample(shown)
        }
        return .ended
    }

    private func hold(_ frame: consuming Frame, at time: Int64) {
        held = consume frame
        heldTime = time
    }

    /// The last frame lasts as long as the source says, at most to the end of the range.
    private func finalSample() -> SampleBuffer? {
        guard let last = held.take() else { return nil }
        let frameEnd = heldTime + max(0, frames.timeBase.rescale(last.duration, to: tick))
        let trackEnd = context.track.timeRange.end.ticks(in: tick)
        let nominal = context.track.nominalFrameRate.map { $0.inverted.rescale(1, to: tick) } ?? 1
        var until = heldTime + max(1, nominal)
        if last.duration > 0 { until = frameEnd }
        // Where something may be left out, nobody knows whether this is the last one.
        let isLast = context.damage.policy == .fail
        if isLast, !context.isComposed, context.track.isTimeRangeExact, trackEnd > heldTime {
            until = max(trackEnd, heldTime + 1)
        }
        if let end { until = min(until, end) }
        // Frozen since before the range: it stays on screen all through it.
        if until <= start { until = end ?? start + 1 }
        return sample(last, from: heldTime, until: until)
    }

    private func sample(_ frame: consuming Frame, from time: Int64, until: Int64) -> SampleBuffer {
        let shown = max(time, start)
        frame.pts = shown
        frame.duration = max(1, until - shown)
        frame.clearPictureType()
        let duration = frame.duration
        return SampleBuffer(frame: frame, pts: shown, duration: duration, timeBase: tick)
    }
}
