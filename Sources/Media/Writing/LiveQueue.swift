internal import Locking

/// Queue of live samples that wait for the encoder. Samples that arrive while the queue is full are dropped and
/// counted.
final class LiveQueue: Sendable {
    /// A queued sample and its processing. A class, because arrays can't hold noncopyable values.
    ///
    /// Unchecked `Sendable`: it is passed from the caller to the queue once.
    private final class Item: @unchecked Sendable {
        var sample: SampleBuffer?
        let body: @Sendable (consuming SampleBuffer) throws -> Void

        init(
            _ sample: consuming SampleBuffer,
            _ body: @escaping @Sendable (consuming SampleBuffer) throws -> Void
        ) {
            self.sample = consume sample
            self.body = body
        }
    }

    private struct State: Sendable {
        var waiting: [Item] = []
        var dropped = 0
        var error: (any Error)?
        /// Whether an error ended the input.
        var hasFailed = false
    }

    /// Maximum number of queued samples: about a third of a second at 25 fps.
    private static let maxSamples = 8

    private let queue = SerialQueue(label: "tandem.live")
    private let state = Guarded(State())

    /// Number of dropped samples.
    var dropped: Int { state.withLock { $0.dropped } }
    /// Whether another sample can be queued.
    var hasRoom: Bool { state.withLock { $0.waiting.count < Self.maxSamples } }

    /// Queues a sample, or drops it if the queue is full. Throws the error of an earlier sample.
    func add(
        _ sample: consuming SampleBuffer, _ body: @escaping @Sendable (consuming SampleBuffer) throws -> Void
    ) throws {
        let item = Item(sample, body)
        let isAccepted = try state.withLock { state in
            if let error = state.error {
                // The error of a rejected sample is thrown once; later samples are accepted.
                if (error as? MediaError)?.isRefusal == true { state.error = nil }
                throw error
            }
            guard state.waiting.count < Self.maxSamples else {
                state.dropped += 1
                return false
            }
            state.waiting.append(item)
            return true
        }
        guard isAccepted else { return }
        queue.async { @Sendable in self.processFirst() }
    }

    /// Processes the first queued sample; on `queue`. Returns false if there is none.
    @discardableResult
    private func processFirst() -> Bool {
        let (item, hasFailed) = state.withLock { state in
            (state.waiting.isEmpty ? nil : state.waiting.removeFirst(), state.hasFailed)
        }
        guard let item else { return false }
        do {
            if !hasFailed, let sample = item.sample.take() { try item.body(sample) }
        } catch {
            state.withLock { state in
                state.error = error
                if (error as? MediaError)?.isRefusal == true {
                    state.dropped += 1
                } else {
                    state.hasFailed = true
                }
            }
        }
        return true
    }

    /// Processes all queued samples that the queue hasn't processed. Throws the error that ended the input.
    func waitUntilEmpty() throws {
        queue.sync { while processFirst() {} }
        if let error = state.withLock({ $0.hasFailed ? $0.error : nil }) { throw error }
    }
}
