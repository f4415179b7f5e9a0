internal import LibAV
internal import Locking

/// Handling of damaged data in a source.
public enum DamagePolicy: String, Codable, Hashable, Sendable, CaseIterable {
    /// The first damage ends the session with an error.
    case fail
    /// Damaged data is skipped, counted and reported.
    case skip
}

/// Applies the damage policy to each damage that occurs, and counts skipped data.
///
/// Only damaged data is tolerated. A device error, a cancel, or a jump of timestamps is always an error; data after a
/// jump has no known position.
public final class DamageTally: Sendable {
    /// Counts of skipped and dropped data of one track.
    public struct Count: Hashable, Codable, Sendable {
        /// Number of skipped packets and frames.
        public var skipped = 0
        /// The time of the first skipped one, if known.
        public var first: MediaTime?
        /// Frames dropped because they precede the first random-access point of the stream.
        public var leading = 0
        /// The time of the first frame after the dropped ones.
        public var leadingEnd: MediaTime?
    }

    private struct State: Sendable {
        var policy = DamagePolicy.fail
        var count = Count()
    }

    private let state = Guarded(State())

    /// Counts so far.
    public var count: Count { state.withLock { $0.count } }

    var policy: DamagePolicy { state.withLock { $0.policy } }

    func setPolicy(_ policy: DamagePolicy) { state.withLock { $0.policy = policy } }

    /// Counts the frames dropped before the first random-access point. Outputs that read the same frames count them
    /// once.
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

    /// Handles a library's error: damage follows the policy, other errors (system errors, cancels) are thrown.
    func handle(_ error: AVError, of track: TrackReference, at time: MediaTime? = nil) throws(MediaError) {
        let failure = MediaError.reading(track: track, at: time, error)
        guard error.isDamage else { throw failure }
        try handle(failure, at: time)
    }
}

extension AVError {
    /// Whether the error is caused by invalid data rather than by the system.
    var isDamage: Bool { isInvalidData || errnoValue == 22 }
}
