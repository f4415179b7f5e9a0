internal import Dispatch
internal import Locking

/// Where samples of a source that doesn't wait are encoded: on a queue of their own, a few at a time. What comes while these are under
/// way is dropped and counted.
///
/// Unchecked `Sendable`: a sample is handed from the caller to the queue once.
final class LiveQueue: Sendable {
    /// A class because closures take no noncopyable values along.
    private final class Carrier: @unchecked Sendable {
        var sample: SampleBuffer?
        init(_ sample: consuming SampleBuffer) { self.sample = consume sample }
    }

    private struct State: Sendable {
        var waiting = 0
        var dropped = 0
        var error: (any Error)?
        /// Nothing more can be taken.
        var hasFailed = false
    }

    /// Samples that may wait: at 25 frames a second a third of a second.
    private static let most = 8

    private let queue = DispatchQueue(label: "tandem.live")
    private let state = Guarded(State())

    /// Samples that were dropped.
    var dropped: Int { state.withLock { $0.dropped } }
    /// One more can be taken.
    var hasRoom: Bool { state.withLock { $0.waiting < Self.most } }

    /// Takes a sample, or drops it where too many wait. Throws what went wrong with an earlier one.
    func add(
        _ sample: consuming SampleBuffer, _ body: @escaping @Sendable (consuming SampleBuffer) throws -> Void
    ) throws {
        let isTaken = try state.withLock { state in
            if let error = state.error {
                // A sample that was refused is told once; the others go on.
                if case .misuse? = error as? MediaError { state.error = nil }
                throw error
            }
            guard state.waiting < Self.most else {
                state.dropped += 1
                return false
            }
            state.waiting += 1
            return true
        }
        guard isTaken else { return }
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
                    if case .misuse? = error as? MediaError {
                        state.dropped += 1
                    } else {
                        state.hasFailed = true
                    }
                }
            }
        }
    }

    /// Waits for what is under way. Throws what went wrong.
    func settle() throws {
        queue.sync {}
        if let error = state.withLock({ $0.hasFailed ? $0.error : nil }) { throw error }
    }
}
