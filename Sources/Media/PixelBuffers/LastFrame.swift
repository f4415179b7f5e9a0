internal import LibAV
internal import Locking

/// The last appended frame, whose duration is unknown until the next one.
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

    /// Stores a frame and returns the previous one with its duration. Throws if the time doesn't increase.
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

    /// Throws if the time doesn't increase.
    func check(_ time: Int64, _ timeBase: Rational) throws(MediaError) {
        try state.withLock { state throws(MediaError) in
            try Self.check(time, after: state.held?.time, timeBase)
        }
    }

    private static func check(_ time: Int64, after last: Int64?, _ timeBase: Rational) throws(MediaError) {
        guard let last, time <= last else { return }
        throw MediaError.invalidArgument(
            "times must increase: a buffer at \(MediaTime(ticks: time, timeBase: timeBase)) s follows one at \(MediaTime(ticks: last, timeBase: timeBase)) s"
        )
    }

    /// Removes and returns the last frame. It ends at `end`; if that is nil, it has the previous frame's duration, or
    /// `defaultDuration` if it is the only one.
    func take(until end: Int64?, defaultDuration: Int64?, _ timeBase: Rational) -> SampleBuffer? {
        state.withLock { state in
            let length = state.length ?? defaultDuration ?? 1
            guard let held = state.held.take() else { return nil }
            let (time, until) = (held.time, end ?? held.time + length)
            return held.sample(until: max(time + 1, until), timeBase)
        }
    }
}
