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
    public func makeAsyncIterator() -> Iterator {
        Iterator(StillImageResults(generator: generator, times: times).makeAsyncIterator())
    }

    /// Iterator over the still images, in the order of their times.
    public struct Iterator: AsyncIteratorProtocol {
        private var results: StillImageResults.Iterator
        private var hasFailed = false

        init(_ results: StillImageResults.Iterator) { self.results = results }

        /// Returns the still image for the next time; nil after the last one.
        /// - Throws: `MediaError` if the source can't be read, `CancellationError` if the generator or the task was
        ///   cancelled.
        public mutating func next() async throws -> StillImage? {
            guard !hasFailed, let result = await results.next() else { return nil }
            if case .failure = result { hasFailed = true }
            return try result.get()
        }
    }
}

/// The image for a requested time, or the reason why there is none (AVFoundation's
/// `AVAssetImageGenerator.Images.Element`).
public enum StillImageResult: Sendable {
    /// The image was generated.
    case success(StillImage)
    /// The image for a time could not be generated: a `TandemError`, or `CancellationError` after a cancel.
    case failure(requestedTime: MediaTime, error: any Error)

    /// Time that was requested, on the asset's time line.
    public var requestedTime: MediaTime {
        switch self {
        case .success(let image): image.requestedTime
        case .failure(let time, _): time
        }
    }

    /// Returns the image, or throws the error of the failure.
    public func get() throws -> StillImage {
        switch self {
        case .success(let image): return image
        case .failure(_, let error): throw error
        }
    }
}

/// The results for some times, each determined when it is requested. A failure doesn't end the sequence, except after a
/// cancel of the generator or the task.
public struct StillImageResults: AsyncSequence, Sendable {
    /// Element type of the sequence.
    public typealias Element = StillImageResult
    /// The sequence doesn't throw.
    public typealias Failure = Never

    let generator: AssetImageGenerator
    let times: [MediaTime]

    /// Creates an iterator that starts at the first time.
    public func makeAsyncIterator() -> Iterator { Iterator(StillImageProducer(generator, times)) }

    /// Iterator over the results, in the order of their times.
    public struct Iterator: AsyncIteratorProtocol {
        private let producer: StillImageProducer

        init(_ producer: StillImageProducer) { self.producer = producer }

        /// Returns the result for the next time; nil after the last one.
        public mutating func next() async -> StillImageResult? { await producer.next() }
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

    func next() async -> StillImageResult? {
        await withTaskCancellationHandler {
            await queue.result { self.make() }
        } onCancel: {
            interrupt.raise()
        }
    }

    private func make() -> StillImageResult? {
        guard position < times.count else { return nil }
        let time = times[position]
        position += 1
        defer { if position == times.count { extractor = nil } }
        do {
            let extractor = try extractor ?? generator.extractor { [interrupt] in interrupt.isRaised }
            self.extractor = extractor
            return .success(try extractor.image(at: time))
        } catch {
            // A failed decoder is not used again.
            extractor = nil
            let error = interrupt.isRaised ? CancellationError() : generator.callerError(error, of: nil)
            if error is CancellationError { position = times.count }
            return .failure(requestedTime: time, error: error)
        }
    }
}
