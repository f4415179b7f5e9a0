internal import LibAV
internal import Locking

/// The times at which segments begin: multiples of an interval, or times that the caller chooses. Times are those of
/// the output.
///
/// The encoder of a video track gets a request for a keyframe at each of them; the times of these frames are kept.
/// Other tracks use the first keyframe at or after the time; for audio, it is the packet nearest to the time.
final class SegmentBoundaries: Sendable {
    private struct State: Sendable {
        /// Next multiple of the interval; nil without an interval.
        var next: MediaTime?
        /// Whether the next sample begins a segment.
        var isFlushing = false
        /// Times of samples that begin a segment, which haven't been written yet.
        var requested: [MediaTime] = []
    }

    private let interval: MediaTime?
    /// Whether packets of the track begin segments; other tracks only get keyframes.
    private let isLead: Bool
    private let state: Guarded<State>

    /// Creates boundaries at multiples of `interval`, which must be greater than 0; nil for those of `flush` only.
    init(interval: MediaTime?, isLead: Bool) {
        self.isLead = isLead
        self.interval = interval
        state = Guarded(State(next: interval))
    }

    /// Marks the next sample as the beginning of a segment.
    func flush() { state.withLock { $0.isFlushing = true } }

    /// Returns whether a frame that is about to be encoded begins a segment, and must be a keyframe.
    func isDue(at time: MediaTime) -> Bool {
        state.withLock { state in
            let isDue = passes(time, &state) || state.isFlushing
            state.isFlushing = false
            // The first frame begins the first segment.
            guard isDue, time > .zero else { return false }
            if isLead { state.requested.append(time) }
            return true
        }
    }

    /// Registers a sample that isn't encoded as video as the beginning of a segment, if one was requested.
    func noteSample(at time: MediaTime) {
        state.withLock { state in
            if state.isFlushing, time > .zero { state.requested.append(time) }
            state.isFlushing = false
        }
    }

    /// Returns whether a packet that is about to be written begins a segment. `isRegular`: whether multiples of the
    /// interval are boundaries, because the track's encoder got no requests for keyframes.
    func begins(at time: MediaTime, tolerance: MediaTime, isRegular: Bool) -> Bool {
        state.withLock { state in
            let shifted = time + tolerance
            let count = state.requested.prefix { $0 <= shifted }.count
            state.requested.removeFirst(count)
            return isRegular && passes(shifted, &state) || count > 0
        }
    }

    /// Returns whether a time is at or after the next multiple of the interval, and moves that past the time.
    private func passes(_ time: MediaTime, _ state: inout State) -> Bool {
        guard let interval, let next = state.next, time >= next else { return false }
        // A gap may be longer than an interval.
        let number =
            Int128(time.value) * Int128(interval.timescale)
            / (Int128(time.timescale) * Int128(interval.value))
        state.next = MediaTime((number + 1) * Int128(interval.value), Int128(interval.timescale))
        return true
    }
}
