internal import Locking

/// The cancellation of work, with the function that stops its current part.
final class Cancellation: Sendable {
    private struct State: Sendable {
        var isCancelled = false
        var stop: (@Sendable () -> Void)?
    }
    private let state = Guarded(State())

    /// Whether the work was cancelled.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Begins a part of the work, which `stop` ends at once, from any thread. The part before is over.
    /// - Throws: `CancellationError` if the work is cancelled already.
    func begin(_ stop: @escaping @Sendable () -> Void) throws {
        let isCancelled = state.withLock { state in
            state.stop = stop
            return state.isCancelled
        }
        if isCancelled { throw CancellationError() }
    }

    /// Cancels the work.
    func cancel() {
        let stop = state.withLock { state in
            state.isCancelled = true
            return state.stop
        }
        stop?()
    }
}
