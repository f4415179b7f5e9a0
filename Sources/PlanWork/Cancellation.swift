internal import Locking

/// The cancellation of work that consists of consecutive steps.
final class Cancellation: Sendable {
    private struct State: Sendable {
        var isCancelled = false
        var stop: (@Sendable () -> Void)?
    }
    private let state = Guarded(State())

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Begins a step, after the previous one has ended. `stop` cancels the step; it may be called on any thread.
    /// - Throws: `CancellationError` if the work has already been cancelled.
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
