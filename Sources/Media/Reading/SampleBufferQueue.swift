internal import DequeModule
internal import Locking

/// A first-in, first-out queue that owns sample buffers (`CMSimpleQueue`, `CMBufferQueue`), for programs that keep
/// samples: a sample buffer can't be copied, so that arrays and other collections of the standard library don't hold it.
///
/// Data is not copied. The queue is unbounded; decoded frames occupy megabytes, so a producer limits `count` or
/// `byteCount`. Thread-safe.
public final class SampleBufferQueue: Sendable {
    private struct State: ~Copyable {
        var samples = UniqueDeque<SampleBuffer>()
        var bytes = 0
    }
    private let state = Guarded(State())

    /// Creates an empty queue.
    public init() {}

    /// Number of samples.
    public var count: Int { state.withLock { $0.samples.count } }
    /// Whether there is no sample.
    public var isEmpty: Bool { count == 0 }
    /// Size of all samples' data in bytes.
    public var byteCount: Int { state.withLock { $0.bytes } }

    /// Adds a sample at the end; the queue becomes its owner.
    public func append(_ sample: consuming SampleBuffer) {
        var pending: SampleBuffer? = consume sample
        state.withLock { state in
            guard let sample = pending.take() else { return }
            state.bytes += sample.byteCount
            state.samples.append(sample)
        }
    }

    /// Removes the first sample and returns it to its new owner; nil if the queue is empty.
    public func popFirst() -> SampleBuffer? {
        state.withLock { state in
            guard let sample = state.samples.popFirst() else { return nil }
            state.bytes -= sample.byteCount
            return sample
        }
    }

    /// Calls `body` with the first sample, which remains in the queue; nil if the queue is empty. `body` must not access
    /// the queue.
    public func withFirst<R>(_ body: (borrowing SampleBuffer) throws -> R) rethrows -> R? {
        try state.withLock { state in
            try state.samples.isEmpty ? nil : body(state.samples[0])
        }
    }

    /// Removes all samples.
    public func removeAll() {
        state.withLock { state in
            state.samples = UniqueDeque()
            state.bytes = 0
        }
    }
}
