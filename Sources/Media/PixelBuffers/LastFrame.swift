internal import LibAV
internal import Locking

/// The frame of which it isn't known yet how long it is shown: until the next one.
final class LastFrame: Sendable {
    private struct Held: ~Copyable {
        let frame: Frame
        let time: Int64

        consuming func sample(until end: Int64, _ timeBase: Rational) -> SampleBuffer {
            let time = time
            return SampleBuffer(frame: frame, pts: time, duration: end - time, timeBase: timeBase)
        }
    }

    private struct State: ~Copyable {
        var held: Held?
        var length: Int64?
    }

    private let state = Guarded(State())

    /// Keeps a frame and gives back the one before it. Throws where its time doesn't increase.
    func replace(
        with frame: consuming Frame, at time: Int64, _ timeBase: Rational
    ) throws(MediaError) -> SampleBuffer? {
        var new: Frame? = consume frame
        return try state.withLock { state throws(MediaError) in
            if let last = state.held?.time {
                try Self.check(time, after: last, timeBase)
                state.length = time - last
            }
            guard let frame = new.take() else { return nil }
            let held = state.held.take()
            state.held = Held(frame: frame, time: time)
            guard let held else { return nil }
            return held.sample(until: time, timeBase)
        }
    }

    /// Throws where a time doesn't increase.
    func check(_ time: Int64, _ timeBase: Rational) throws(MediaError) {
        try state.withLock { state throws(MediaError) in
            try Self.check(time, after: state.held?.time, timeBase)
        }
    }

    private static func check(_ time: Int64, after last: Int64?, _ timeBase: Rational) throws(MediaError) {
        guard let last, time <= last else { return }
        throw MediaError.misuse(
            "a buffer at \(MediaTime(ticks: time, timeBase: timeBase)) s comes after one at \(MediaTime(ticks: last, timeBase: timeBase)) s"
        )
    }

    /// The last one, which is shown until `end`, or where that is nil as long as the one before it, or as `usual`.
    func take(until end: Int64?, usual: Int64?, _ timeBase: Rational) -> SampleBuffer? {
        state.withLock { state in
            let length = state.length ?? usual ?? 1
            guard let held = state.held.take() else { return nil }
            let (time, until) = (held.time, end ?? held.time + length)
            return held.sample(until: max(time + 1, until), timeBase)
        }
    }
}
