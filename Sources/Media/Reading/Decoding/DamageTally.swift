internal import LibAV
internal import Locking

/// What becomes of data of a source that are damaged.
public enum DamagePolicy: String, Codable, Hashable, Sendable, CaseIterable {
    /// The first damage ends the session with an error.
    case fail
    /// What is damaged is left out, counted and reported.
    case skip
}

/// Decides about damage where it is met, and counts what was left out.
///
/// Only damage of the data is tolerated, never a device that fails or a cancel, and never a clock that leaps: what
/// comes after it can't be put in its place.
public final class DamageTally: Sendable {
    /// What was left out of one track.
    public struct Count: Hashable, Codable, Sendable {
        /// Packets and frames.
        public var skipped = 0
        /// The time of the first one, where it has one.
        public var first: MediaTime?
        /// Frames dropped because they precede the first random-access point of the stream.
        public var leading = 0
        /// The time of the first frame behind them.
        public var leadingEnd: MediaTime?
    }

    private struct State: Sendable {
        var policy = DamagePolicy.fail
        var count = Count()
    }

    private let state = Guarded(State())

    /// What was left out so far.
    public var count: Count { state.withLock { $0.count } }

    var policy: DamagePolicy { state.withLock { $0.policy } }

    func follow(_ policy: DamagePolicy) { state.withLock { $0.policy = policy } }

    /// Counts the frames dropped before the first random-access point; outputs that read the same frames count them once.
    func dropLeading(_ count: Int, until time: MediaTime?) {
        state.withLock { state in
            guard count > state.count.leading else { return }
            (state.count.leading, state.count.leadingEnd) = (count, time)
        }
    }

    /// Counts what is left out from here on, or throws where that is not wanted.
    func meet(_ error: MediaError, at time: MediaTime? = nil) throws(MediaError) {
        let goesOn = state.withLock { state in
            guard state.policy == .skip else { return false }
            state.count.skipped += 1
            if state.count.first == nil { state.count.first = time }
            return true
        }
        if !goesOn { throw error }
    }

    /// The same for what a library said: an error of the system or a cancel is no damage.
    func meet(_ error: AVError, of track: String, at time: MediaTime? = nil) throws(MediaError) {
        let failure = MediaError.reading(track: track, at: time, error)
        guard error.isDamage else { throw failure }
        try meet(failure, at: time)
    }
}

extension AVError {
    /// The data are wrong, not the machine.
    var isDamage: Bool { isInvalidData || errnoValue == 22 }
}
