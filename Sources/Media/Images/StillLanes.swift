internal import Dispatch
internal import Locking

/// Finds still images on several queues concurrently, and returns them in order. The frames after a keyframe are
/// decoded by a single lane with a decoder of its own: dependencies between frames limit a decoder's threads, but
/// different GOPs are independent.
///
/// A lane that is a few still images ahead of the consumer pauses until they are taken, so that memory use is
/// bounded.
final class StillLanes: Sendable {
    /// One queue with a decoder. Unchecked `Sendable`: used on the queue only.
    private final class Lane: @unchecked Sendable {
        let queue = DispatchQueue(label: "tandem.stills")
        let search: StillSearch
        /// Remaining still images of the current group.
        var rest: Range<Int> = 0..<0
        /// Whether a still image failed; later ones are then not needed.
        var hasFailed = false

        init(_ search: StillSearch) { self.search = search }
    }

    private struct State {
        /// Results and their lanes, by index of the time.
        var made: [Int: (lane: Int, result: Result<StillImage, any Error>)] = [:]
        /// Number of results per lane that weren't taken yet.
        var waiting: [Int]
        /// Lanes that have work and pause.
        var paused: Set<Int> = []
        var nextGroup = 0
        var isOver = false
    }

    private let times: [MediaTime]
    private let groups: [Range<Int>]
    private let lanes: [Lane]
    private let state: Guarded<State>
    private let arrived = DispatchSemaphore(value: 0)

    /// Maximum number of still images that a lane is ahead.
    private static let ahead = 4

    /// Creates lanes. `groups` are ranges of indices of `times`, in order, each decoded from a keyframe of its own;
    /// `searches` has one search per lane.
    init(times: [MediaTime], groups: [Range<Int>], searches: [StillSearch]) {
        (self.times, self.groups) = (times, groups)
        lanes = searches.map(Lane.init)
        state = Guarded(State(waiting: Array(repeating: 0, count: searches.count)))
    }

    /// Calls `body` with the still images in order, on the caller's queue, which waits for them.
    func run(_ body: (StillImage) throws -> Void) throws {
        for index in lanes.indices { work(index) }
        // Work in progress is completed, and its results are dropped.
        defer { state.withLock { $0.isOver = true } }
        for place in times.indices {
            try body(take(place).get())
        }
    }

    private func take(_ place: Int) -> Result<StillImage, any Error> {
        while true {
            var resumed: Int?
            let result = state.withLock { state -> Result<StillImage, any Error>? in
                guard let made = state.made.removeValue(forKey: place) else { return nil }
                state.waiting[made.lane] -= 1
                resumed = state.paused.remove(made.lane)
                return made.result
            }
            if let resumed { work(resumed) }
            if let result { return result }
            arrived.wait()
        }
    }

    /// Starts generating a lane's still images until it pauses or has no more.
    private func work(_ index: Int) {
        let lane = lanes[index]
        lane.queue.async { @Sendable [self] in
            while !lane.hasFailed, let place = next(of: lane, index) {
                let result = Result { try lane.search.still(at: times[place]) }
                if case .failure = result { lane.hasFailed = true }
                state.withLock { state in
                    state.made[place] = (index, result)
                    state.waiting[index] += 1
                }
                arrived.signal()
            }
        }
    }

    /// Returns the index of the next still image of a lane; nil if it pauses or has nothing to do.
    private func next(of lane: Lane, _ index: Int) -> Int? {
        state.withLock { state in
            guard !state.isOver, !lane.rest.isEmpty || state.nextGroup < groups.count else { return nil }
            // A paused lane claims no group, because no other lane would process it.
            guard state.waiting[index] < Self.ahead else {
                state.paused.insert(index)
                return nil
            }
            if lane.rest.isEmpty {
                lane.rest = groups[state.nextGroup]
                state.nextGroup += 1
            }
            return lane.rest.popFirst()
        }
    }
}
