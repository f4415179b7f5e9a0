internal import LibAV
internal import Locking

/// The times at which segments begin: multiples of an interval, times of a list, or times that the caller chooses by
/// `flush`. Times are those of the output.
///
/// The encoder of a video track gets a request for a keyframe at each of them; the times of these frames are kept.
/// Other tracks use the first keyframe at or after the time; for audio, it is the packet nearest to the time.
final class SegmentBoundaries: Sendable {
    private struct State: Sendable {
        /// Next multiple of the interval, or next time of the list; nil if there is none.
        var next: MediaTime?
        /// Index of the time after `next` in the list.
        var index = 1
        /// Whether the next sample begins a segment.
        var isFlushing = false
        /// Times of samples that begin a segment, which haven't been written yet.
        var requested: [MediaTime] = []
    }

    private let schedule: SegmentSchedule
    /// Whether packets of the track begin segments; other tracks only get keyframes.
    private let isLead: Bool
    private let state: Guarded<State>

    init(_ schedule: SegmentSchedule, isLead: Bool) {
        self.isLead = isLead
        self.schedule = schedule
        let first: MediaTime? =
            switch schedule {
            case .manual: nil
            case .every(let interval): interval
            case .at(let times): times.first
            }
        state = Guarded(State(next: first))
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

    /// Returns whether a packet that is about to be written begins a segment. `isRegular`: whether scheduled times are
    /// boundaries, because the track's encoder got no requests for keyframes.
    func begins(at time: MediaTime, tolerance: MediaTime, isRegular: Bool) -> Bool {
        state.withLock { state in
            let shifted = time + tolerance
            let count = state.requested.prefix { $0 <= shifted }.count
            state.requested.removeFirst(count)
            return isRegular && passes(shifted, &state) || count > 0
        }
    }

    /// Returns whether a time is at or after the next scheduled time, and moves that past the time.
    private func passes(_ time: MediaTime, _ state: inout State) -> Bool {
        guard let next = state.next, time >= next else { return false }
        // A gap may be longer than an interval.
        switch schedule {
        case .manual: state.next = nil
        case .every(let interval): state.next = time.nextMultiple(of: interval)
        case .at(let times):
            while state.index < times.count, times[state.index] <= time { state.index += 1 }
            state.next = state.index < times.count ? times[state.index] : nil
            state.index += 1
        }
        return true
    }
}

/// The scheduled starts of segments after the first.
enum SegmentSchedule: Sendable {
    /// Segments end by calls only.
    case manual
    /// Multiples of an interval, which must be greater than 0.
    case every(MediaTime)
    /// Ascending times greater than 0.
    case at([MediaTime])
}
