internal import Dispatch
internal import Locking

/// Generates still images on several queues concurrently, and returns them in order. The frames after a keyframe are
/// decoded by a single decoder: dependencies between frames limit a decoder's threads, but different GOPs are
/// independent.
///
/// A decoder that is a few still images ahead of the consumer pauses until they are taken, so that memory use is
/// bounded.
final class ParallelStillImageExtractor: Sendable {
    /// A queue with a decoder.
    ///
    /// Unchecked `Sendable`: mutable state is used on `queue` only.
    private final class DecoderQueue: @unchecked Sendable {
        let queue = DispatchQueue(label: "tandem.stills")
        let extractor: StillImageExtractor
        /// Remaining still images of the current group.
        var rest: Range<Int> = 0..<0
        /// Whether a still image failed, so that later ones aren't needed.
        var hasFailed = false

        init(_ extractor: StillImageExtractor) { self.extractor = extractor }
    }

    private struct State {
        /// Results that weren't taken yet, with the indices of their decoders, by index of the time.
        var results: [Int: (decoder: Int, result: Result<StillImage, any Error>)] = [:]
        /// Number of results per decoder that weren't taken yet.
        var waiting: [Int]
        /// Indices of decoders that paused before their work was done.
        var paused: Set<Int> = []
        var nextGroup = 0
        var isOver = false
    }

    private let times: [MediaTime]
    private let groups: [Range<Int>]
    private let decoders: [DecoderQueue]
    private let state: Guarded<State>
    private let arrived = DispatchSemaphore(value: 0)

    /// Maximum number of still images by which a decoder is ahead of the consumer.
    private static let maxAhead = 4

    /// Creates the queues. `groups` are consecutive ranges of indices of `times`, each decoded from a different
    /// keyframe. `extractors` contains one extractor per queue.
    init(times: [MediaTime], groups: [Range<Int>], extractors: [StillImageExtractor]) {
        (self.times, self.groups) = (times, groups)
        decoders = extractors.map(DecoderQueue.init)
        state = Guarded(State(waiting: Array(repeating: 0, count: extractors.count)))
    }

    /// Calls `body` with the still images in order, on the caller's thread, which is blocked until each is available.
    func run(_ body: (StillImage) throws -> Void) throws {
        for index in decoders.indices { work(index) }
        // Work in progress is completed, and its results are dropped.
        defer { state.withLock { $0.isOver = true } }
        for position in times.indices {
            try body(take(position).get())
        }
    }

    private func take(_ position: Int) -> Result<StillImage, any Error> {
        while true {
            var resumed: Int?
            let result = state.withLock { state -> Result<StillImage, any Error>? in
                guard let entry = state.results.removeValue(forKey: position) else { return nil }
                state.waiting[entry.decoder] -= 1
                resumed = state.paused.remove(entry.decoder)
                return entry.result
            }
            if let resumed { work(resumed) }
            if let result { return result }
            arrived.wait()
        }
    }

    /// Generates a decoder's still images until it pauses or has no more.
    private func work(_ index: Int) {
        let decoder = decoders[index]
        decoder.queue.async { @Sendable [self] in
            while !decoder.hasFailed, let position = next(of: decoder, index) {
                let result = Result { try decoder.extractor.image(at: times[position]) }
                if case .failure = result { decoder.hasFailed = true }
                state.withLock { state in
                    state.results[position] = (index, result)
                    state.waiting[index] += 1
                }
                arrived.signal()
            }
        }
    }

    /// Returns the index of the next still image of a decoder; nil if it pauses or has nothing to do.
    private func next(of decoder: DecoderQueue, _ index: Int) -> Int? {
        state.withLock { state in
            guard !state.isOver, !decoder.rest.isEmpty || state.nextGroup < groups.count else { return nil }
            // A paused decoder claims no group, because no other one would process it.
            guard state.waiting[index] < Self.maxAhead else {
                state.paused.insert(index)
                return nil
            }
            if decoder.rest.isEmpty {
                decoder.rest = groups[state.nextGroup]
                state.nextGroup += 1
            }
            return decoder.rest.popFirst()
        }
    }
}
