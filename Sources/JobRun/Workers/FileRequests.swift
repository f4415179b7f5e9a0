internal import Dispatch
internal import JobPlan
internal import LibAV
internal import Locking
internal import Media

/// Requests of a worker for files of image sequences and compositions, and with encoded chunks, of which there may be more than a
/// process may have open. The supervisor sends a few files at a time, starting at the requested one.
final class FileRequests: Sendable {
    private let files: [RequestedFiles]
    private let request: @Sendable (WorkerMessage.ImageIndex) -> Bool
    private let hasEnded = Guarded(false)
    private let reply = DispatchSemaphore(value: 0)
    /// Serializes requests, because a reply doesn't contain the path.
    private let requestLock = DispatchSemaphore(value: 1)

    /// Creates the requests. `request` sends a message, and returns false if the supervisor has exited.
    init(_ files: [RequestedFiles], request: @escaping @Sendable (WorkerMessage.ImageIndex) -> Bool) {
        self.files = files
        self.request = request
    }

    /// Requests a file and blocks until it arrives. Returns false if the file doesn't belong to the work, or if the
    /// work has ended.
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

    /// Resumes the request whose reply has arrived.
    func replyReceived() { reply.signal() }

    /// Ends all requests, including waiting ones.
    func end() {
        hasEnded.withLock { $0 = true }
        reply.signal()
    }
}
