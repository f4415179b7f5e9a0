internal import Dispatch
internal import LibAV
internal import Locking

/// The stills of some times, made one by one as they are asked for (AVFoundation's `AVAssetImageGenerator.Images`).
public struct StillSequence: AsyncSequence, Sendable {
    /// What it has.
    public typealias Element = StillImage

    let generator: AssetImageGenerator
    let times: [MediaTime]

    /// Begins at the first time.
    public func makeAsyncIterator() -> Iterator { Iterator(StillLane(generator, times)) }

    /// Goes from one time to the next.
    public struct Iterator: AsyncIteratorProtocol {
        private let lane: StillLane

        init(_ lane: StillLane) { self.lane = lane }

        /// The still of the next time; nil after the last. Throws `MediaError` where the source can't be read, `CancellationError`
        /// where the generator or the task was cancelled.
        public mutating func next() async throws -> StillImage? { try await lane.next() }
    }
}

/// Makes the stills of a sequence on a queue of its own.
///
/// Unchecked `Sendable`: what changes is touched on `queue` only.
final class StillLane: @unchecked Sendable {
    private let generator: AssetImageGenerator
    private let times: [MediaTime]
    private let queue = DispatchQueue(label: "tandem.images")
    private let interrupt = InterruptFlag()
    private var search: StillSearch?
    private var position = 0

    init(_ generator: AssetImageGenerator, _ times: [MediaTime]) {
        self.generator = generator
        self.times = times
    }

    func next() async throws -> StillImage? {
        try await withTaskCancellationHandler {
            try await queue.result { try self.make() }
        } onCancel: {
            interrupt.raise()
        }
    }

    private func make() throws -> StillImage? {
        guard position < times.count else { return nil }
        do {
            if search == nil {
                search = try generator.search { [interrupt] in interrupt.isRaised }
            }
            let still = try search?.still(at: times[position])
            position += 1
            if position == times.count { search = nil }
            return still
        } catch {
            // Nothing comes after an error.
            (position, search) = (times.count, nil)
            throw interrupt.isRaised ? CancellationError() : generator.told(error, of: nil)
        }
    }
}
