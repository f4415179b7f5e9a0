internal import Dispatch
internal import JobPlan
internal import LibAV
internal import Locking
internal import Media

/// The requests of a worker to its supervisor for files of image sequences and compositions, which may be more than a
/// process may have open. A few files arrive at a time, from the requested one on.
final class FileRequests: Sendable {
    private let files: [RequestedFiles]
    private let request: @Sendable (WorkerMessage.ImageIndex) -> Bool
    private let hasEnded = Guarded(false)
    private let reply = DispatchSemaphore(value: 0)
    /// Semaphore that limits requests to one at a time, because a reply contains no path.
    private let requestLock = DispatchSemaphore(value: 1)

    /// Creates the requests. `request` sends a request, and returns false if the supervisor is gone.
    init(_ files: [RequestedFiles], request: @escaping @Sendable (WorkerMessage.ImageIndex) -> Bool) {
        self.files = files
        self.request = request
    }

    /// Requests a file. Returns false if the file doesn't belong to the work, or if the work has ended.
    /// Blocks the decoding queue.
    func fetch(_ path: String) -> Bool {
        guard let index = imageIndex(of: path) else { return false }
        requestLock.wait()
        defer { requestLock.signal() }
        if hasEnded.withLock({ $0 }) || !request(index) { return false }
        reply.wait()
        return !hasEnded.withLock { $0 }
    }

    private func imageIndex(of path: String) -> WorkerMessage.ImageIndex? {
        for (number, files) in files.enumerated() {
            guard let index = files.index(ofPath: path) else { continue }
            return WorkerMessage.ImageIndex(sequence: number, index: index)
        }
        return nil
    }

    /// Continues the request whose reply has arrived.
    func replyReceived() { reply.signal() }

    /// Ends all requests, including those that wait.
    func end() {
        hasEnded.withLock { $0 = true }
        reply.signal()
    }
}
