package import Dispatch

/// A serial queue whose synchronous callers need no free thread of Dispatch.
///
/// Dispatch runs at most 255 threads. `DispatchQueue.sync` waits for all blocks that were enqueued before. If every
/// thread waits like this, none remains to run the blocks, and the process hangs, as 580 jobs at once did. Here a
/// synchronous caller waits only for work that is running, not for work that is enqueued.
///
/// Work that is enqueued runs in order. Callers that wait for the end of running work, and the next enqueued block, run
/// in the order of their arrival.
package final class SerialQueue: Sendable {
    private struct State: Sendable {
        var isBusy = false
        var waiting: [DispatchSemaphore] = []
    }

    private let queue: DispatchQueue
    private let state = Guarded(State())

    package init(label: String) { queue = DispatchQueue(label: label) }

    /// Enqueues work.
    package func async(_ work: @escaping @Sendable () -> Void) {
        queue.async { @Sendable in self.sync(work) }
    }

    /// Enqueues work at a time.
    package func asyncAfter(deadline: DispatchTime, _ work: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: deadline) { @Sendable in self.sync(work) }
    }

    /// Runs work on the calling thread, after running work has ended, and possibly before enqueued work. Must not be
    /// called on this queue.
    package func sync<Result: ~Copyable, Failure: Error>(
        _ work: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        begin()
        defer { end() }
        return try work()
    }

    private func begin() {
        let turn = state.withLock { state -> DispatchSemaphore? in
            guard state.isBusy else {
                state.isBusy = true
                return nil
            }
            let turn = DispatchSemaphore(value: 0)
            state.waiting.append(turn)
            return turn
        }
        guard let turn else { return }
        turn.wait()
        // ThreadSanitizer knows the order of mutexes, not of semaphores.
        state.withLock { _ in }
    }

    /// Lets the first waiting caller begin; the queue stays busy in between.
    private func end() {
        let next = state.withLock { state -> DispatchSemaphore? in
            guard !state.waiting.isEmpty else {
                state.isBusy = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.signal()
    }
}
