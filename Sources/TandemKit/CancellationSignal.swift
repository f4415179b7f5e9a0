internal import Locking

/// A cancellation that ends the waits for work that can't be interrupted, such as the opening of an encoder. Thread-safe.
final class CancellationSignal: Sendable {
    private struct State: Sendable {
        var isRaised = false
        var lastWait = 0
        /// Functions that end the current waits.
        var waits: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Guarded(State())

    var isRaised: Bool { state.withLock { $0.isRaised } }

    /// Ends current and future waits.
    func raise() {
        let waits = state.withLock { state in
            state.isRaised = true
            defer { state.waits = [:] }
            return state.waits.values
        }
        for end in waits { end() }
    }

    /// Starts work that passes its result to a callback, and waits for it. Returns nil if the signal is raised first; the
    /// work then continues, and its result is ignored.
    func result<Value: Sendable>(
        of start: (_ completion: @escaping @Sendable (Value) -> Void) -> Void
    ) async -> Value? {
        await withCheckedContinuation { continuation in
            let wait = Wait(continuation)
            let id = state.withLock { state -> Int? in
                if state.isRaised { return nil }
                state.lastWait += 1
                state.waits[state.lastWait] = { wait.end(nil) }
                return state.lastWait
            }
            guard let id else { return wait.end(nil) }
            start { value in
                self.state.withLock { _ = $0.waits.removeValue(forKey: id) }
                wait.end(value)
            }
        }
    }

    /// A continuation that the first of two events resumes.
    private final class Wait<Value: Sendable>: Sendable {
        private let continuation: Guarded<CheckedContinuation<Value?, Never>?>

        init(_ continuation: CheckedContinuation<Value?, Never>) { self.continuation = Guarded(continuation) }

        func end(_ value: Value?) {
            continuation.withLock { $0.take() }?.resume(returning: value)
        }
    }
}
