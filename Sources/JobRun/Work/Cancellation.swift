internal import Locking

/// Whether work was given up, and what ends the part of it that is under way.
final class Cancellation: Sendable {
    private struct State: Sendable {
        var isCancelled = false
        var stop: (@Sendable () -> Void)?
    }
    private let state = Guarded(State())

    /// It was given up.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// A part begins, which `stop` ends at once, from any thread; the part before is over.
    /// - Throws: `CancellationError` where it was given up already.
    func begin(_ stop: @escaping @Sendable () -> Void) throws {
        let isCancelled = state.withLock { state in
            state.stop = stop
            return state.isCancelled
        }
        if isCancelled { throw CancellationError() }
    }

    /// Gives it up.
    func cancel() {
        let stop = state.withLock { state in
            state.isCancelled = true
            return state.stop
        }
        stop?()
    }
}
