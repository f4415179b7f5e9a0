internal import Dispatch
internal import LibAV
internal import Locking

/// The still images for given times, generated when they are requested (AVFoundation's `AVAssetImageGenerator.Images`).
public struct StillImageSequence: AsyncSequence, Sendable {
    /// A still image, with requested and actual time.
    public typealias Element = StillImage

    let generator: AssetImageGenerator
    let times: [MediaTime]

    /// Creates an iterator that starts at the first time.
    public func makeAsyncIterator() -> Iterator { Iterator(StillImageProducer(generator, times)) }

    /// Iterator over the still images, in the order of their times.
    public struct Iterator: AsyncIteratorProtocol {
        private let producer: StillImageProducer

        init(_ producer: StillImageProducer) { self.producer = producer }

        /// Returns the still image for the next time; nil after the last one.
        /// - Throws: `MediaError` if the source can't be read, `CancellationError` if the generator or the task was
        ///   cancelled.
        public mutating func next() async throws -> StillImage? { try await producer.next() }
    }
}

/// Generates the still images of a sequence on a separate queue.
///
/// Unchecked `Sendable`: mutable state is used on `queue` only.
final class StillImageProducer: @unchecked Sendable {
    private let generator: AssetImageGenerator
    private let times: [MediaTime]
    private let queue = DispatchQueue(label: "tandem.images")
    private let interrupt = InterruptFlag()
    private var extractor: StillImageExtractor?
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
            if extractor == nil {
                extractor = try generator.extractor { [interrupt] in interrupt.isRaised }
            }
            let image = try extractor?.image(at: times[position])
            position += 1
            if position == times.count { extractor = nil }
            return image
        } catch {
            // An error ends the sequence.
            (position, extractor) = (times.count, nil)
            throw interrupt.isRaised ? CancellationError() : generator.callerError(error, of: nil)
        }
    }
}
