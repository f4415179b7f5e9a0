internal import Dispatch
internal import Locking

/// Finds stills on several queues at once and hands them over in their order. Between two key frames one lane decodes, with a decoder of its
/// own: frames that need each other keep a decoder's threads waiting, those of different groups don't.
///
/// A lane that is a few stills ahead of who takes them pauses until they are taken, so that memory doesn't grow with their number.
final class StillLanes: Sendable {
    /// One queue with a decoder. Unchecked `Sendable`: all of it is touched on the queue alone.
    private final class Lane: @unchecked Sendable {
        let queue = DispatchQueue(label: "tandem.stills")
        let search: StillSearch
        /// Stills that are to be made of the group at hand.
        var rest: Range<Int> = 0..<0
        /// A still could not be made: those behind it are wanted by nobody.
        var hasFailed = false

        init(_ search: StillSearch) { self.search = search }
    }

    private struct State {
        /// By their place among the times: made, or why not, and by which lane.
        var made: [Int: (lane: Int, result: Result<StillImage, any Error>)] = [:]
        /// How many each lane has made that nobody has taken.
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

    /// Stills that a lane is ahead.
    private static let ahead = 4

    /// `groups` are places of `times`, in order, each decoded from a key frame of its own; `searches` one for each lane.
    init(times: [MediaTime], groups: [Range<Int>], searches: [StillSearch]) {
        (self.times, self.groups) = (times, groups)
        lanes = searches.map(Lane.init)
        state = Guarded(State(waiting: Array(repeating: 0, count: searches.count)))
    }

    /// Hands the stills over one after the other; on the caller's queue, which waits for them.
    func run(_ body: (StillImage) throws -> Void) throws {
        for index in lanes.indices { work(index) }
        // What is under way ends by itself, and is taken by nobody.
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

    /// Makes a lane's stills as long as it may.
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

    /// The place of the still that a lane is to make now; nil where it pauses or has nothing to do.
    private func next(of lane: Lane, _ index: Int) -> Int? {
        state.withLock { state in
            guard !state.isOver, !lane.rest.isEmpty || state.nextGroup < groups.count else { return nil }
            // Who pauses takes no group: nobody else would make it.
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
