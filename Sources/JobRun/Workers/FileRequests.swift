internal import Dispatch
internal import JobPlan
internal import LibAV
internal import Locking
internal import Media

/// The requests of a worker to its supervisor for files of image sequences and compositions, which may be more than a
/// process may have open. A few files arrive at a time, from the requested one on.
final class FileRequests: Sendable {
    private let files: [RequestedFiles]
    private let ask: @Sendable (WorkerMessage.ImagePlace) -> Bool
    private let isOver = Guarded(false)
    private let arrived = DispatchSemaphore(value: 0)
    /// Semaphore that limits requests to one at a time, because a reply contains no path.
    private let turn = DispatchSemaphore(value: 1)

    /// Creates the requests. `ask` sends a request, and returns false if the supervisor is gone.
    init(_ files: [RequestedFiles], ask: @escaping @Sendable (WorkerMessage.ImagePlace) -> Bool) {
        self.files = files
        self.ask = ask
    }

    /// Requests a file. Returns false if the file doesn't belong to the work, or if the work has ended.
    /// Blocks the decoding queue.
    func fetch(_ path: String) -> Bool {
        guard let place = place(of: path) else { return false }
        turn.wait()
        defer { turn.signal() }
        if isOver.withLock({ $0 }) || !ask(place) { return false }
        arrived.wait()
        return !isOver.withLock { $0 }
    }

    private func place(of path: String) -> WorkerMessage.ImagePlace? {
        for (number, files) in files.enumerated() {
            guard let index = files.index(ofPath: path) else { continue }
            return WorkerMessage.ImagePlace(sequence: number, index: index)
        }
        return nil
    }

    /// Continues the request whose reply has arrived.
    func answered() { arrived.signal() }

    /// Ends all requests, including those that wait.
    func end() {
        isOver.withLock { $0 = true }
        arrived.signal()
    }
}
