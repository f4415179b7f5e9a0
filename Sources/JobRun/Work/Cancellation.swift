internal import Locking

/// The cancellation of work, with a function that stops its current part.
final class Cancellation: Sendable {
    private struct State: Sendable {
        var isCancelled = false
        var stop: (@Sendable () -> Void)?
    }
    private let state = Guarded(State())

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Begins a part of the work, after the previous one has ended. `stop` ends the part at once, from any
    /// thread.
    /// - Throws: `CancellationError` if the work is cancelled already.
    func begin(_ stop: @escaping @Sendable () -> Void) throws {
        let isCancelled = state.withLock { state in
            state.stop = stop
            return state.isCancelled
        }
        if isCancelled { throw CancellationError() }
    }

    func cancel() {
        let stop = state.withLock { state in
            state.isCancelled = true
            return state.stop
        }
        stop?()
    }
}
