internal import Dispatch
internal import Locking

/// Queue of live samples that wait for the encoder. Samples that arrive while the queue is full are dropped and
/// counted.
final class LiveQueue: Sendable {
    /// A sample on its way to the queue. A class, because closures can't capture noncopyable values.
    ///
    /// Unchecked `Sendable`: the sample is passed from the caller to the queue once.
    private final class Carrier: @unchecked Sendable {
        var sample: SampleBuffer?
        init(_ sample: consuming SampleBuffer) { self.sample = consume sample }
    }

    private struct State: Sendable {
        var waiting = 0
        var dropped = 0
        var error: (any Error)?
        /// Whether an error ended the input.
        var hasFailed = false
    }

    /// Maximum number of queued samples: about a third of a second at 25 fps.
    private static let maxSamples = 8

    private let queue = DispatchQueue(label: "tandem.live")
    private let state = Guarded(State())

    /// Number of dropped samples.
    var dropped: Int { state.withLock { $0.dropped } }
    /// Whether another sample can be queued.
    var hasRoom: Bool { state.withLock { $0.waiting < Self.maxSamples } }

    /// Queues a sample, or drops it if the queue is full. Throws the error of an earlier sample.
    func add(
        _ sample: consuming SampleBuffer, _ body: @escaping @Sendable (consuming SampleBuffer) throws -> Void
    ) throws {
        let isAccepted = try state.withLock { state in
            if let error = state.error {
                // The error of a rejected sample is thrown once; later samples are accepted.
                if (error as? MediaError)?.isRefusal == true { state.error = nil }
                throw error
            }
            guard state.waiting < Self.maxSamples else {
                state.dropped += 1
                return false
            }
            state.waiting += 1
            return true
        }
        guard isAccepted else { return }
        let carrier = Carrier(sample)
        queue.async { @Sendable in
            self.state.withLock { $0.waiting -= 1 }
            do {
                if self.state.withLock({ !$0.hasFailed }), let sample = carrier.sample.take() {
                    try body(sample)
                }
            } catch {
                self.state.withLock { state in
                    state.error = error
                    if (error as? MediaError)?.isRefusal == true {
                        state.dropped += 1
                    } else {
                        state.hasFailed = true
                    }
                }
            }
        }
    }

    /// Blocks until all queued samples are encoded. Throws the error that ended the input.
    func waitUntilEmpty() throws {
        queue.sync {}
        if let error = state.withLock({ $0.hasFailed ? $0.error : nil }) { throw error }
    }
}
