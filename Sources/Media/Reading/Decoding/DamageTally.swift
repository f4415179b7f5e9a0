internal import LibAV
internal import Locking

/// Handling of damaged data in a source.
public enum DamagePolicy: String, Codable, Hashable, Sendable, CaseIterable {
    /// The first damage ends the session with an error.
    case fail
    /// Damaged data is skipped, counted and reported.
    case skip
}

/// Applies the damage policy to damaged data, and counts skipped data.
///
/// Device errors, cancellation and jumps of timestamps are errors under either policy; the position of data after a
/// jump is unknown.
public final class DamageTally: Sendable {
    /// Counts of skipped and dropped data of one track.
    public struct Count: Hashable, Codable, Sendable {
        /// Number of skipped packets and frames.
        public var skipped = 0
        /// Time of the first skipped packet or frame; nil if unknown.
        public var first: MediaTime?
        /// Number of frames dropped because they precede the first random-access point of the stream.
        public var leading = 0
        /// Time of the first frame after the dropped ones; nil if unknown, or if none were dropped.
        public var leadingEnd: MediaTime?
    }

    private struct State: Sendable {
        var policy = DamagePolicy.fail
        var count = Count()
    }

    private let state = Guarded(State())

    /// Counts of the data skipped and dropped so far.
    public var count: Count { state.withLock { $0.count } }

    var policy: DamagePolicy { state.withLock { $0.policy } }

    func setPolicy(_ policy: DamagePolicy) { state.withLock { $0.policy = policy } }

    /// Records the number of frames dropped before the first random-access point, and the time of the next frame.
    /// Outputs that share the tally drop the same frames, so the largest number is kept.
    func dropLeading(_ count: Int, until time: MediaTime?) {
        state.withLock { state in
            guard count > state.count.leading else { return }
            (state.count.leading, state.count.leadingEnd) = (count, time)
        }
    }

    /// Counts damage if the policy is `skip`, and throws `error` otherwise.
    func handle(_ error: MediaError, at time: MediaTime? = nil) throws(MediaError) {
        let isSkipped = state.withLock { state in
            guard state.policy == .skip else { return false }
            state.count.skipped += 1
            if state.count.first == nil { state.count.first = time }
            return true
        }
        if !isSkipped { throw error }
    }

    /// Handles an FFmpeg error: the policy applies to damage; other errors (system errors, cancellation) are thrown.
    func handle(_ error: AVError, of track: TrackReference, at time: MediaTime? = nil) throws(MediaError) {
        let failure = MediaError.reading(track: track, at: time, error)
        guard error.isDamage else { throw failure }
        try handle(failure, at: time)
    }
}

extension AVError {
    /// Whether the error is caused by invalid data (`AVERROR_INVALIDDATA`, EINVAL) rather than by the system.
    var isDamage: Bool { isInvalidData || errnoValue == 22 }
}
