internal import Dispatch
internal import LibAV
internal import Locking

/// The still images for some times, generated when they are requested (AVFoundation's
/// `AVAssetImageGenerator.Images`).
public struct StillSequence: AsyncSequence, Sendable {
    /// Element type of the sequence.
    public typealias Element = StillImage

    let generator: AssetImageGenerator
    let times: [MediaTime]

    /// Creates an iterator that starts at the first time.
    public func makeAsyncIterator() -> Iterator { Iterator(StillLane(generator, times)) }

    /// Iterator over the still images, in the order of their times.
    public struct Iterator: AsyncIteratorProtocol {
        private let lane: StillLane

        init(_ lane: StillLane) { self.lane = lane }

        /// Returns the still image for the next time; nil after the last one. Throws `MediaError` if the source can't
        /// be read, `CancellationError` if the generator or the task was cancelled.
        public mutating func next() async throws -> StillImage? { try await lane.next() }
    }
}

/// Generates the still images of a sequence on a queue of its own.
///
/// Unchecked `Sendable`: mutable state is used on `queue` only.
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
            // An error ends the sequence.
            (position, search) = (times.count, nil)
            throw interrupt.isRaised ? CancellationError() : generator.told(error, of: nil)
        }
    }
}
