internal import Dispatch
internal import JobPlan
internal import LibAV
internal import Locking
internal import Media

/// What a worker asks of its supervisor: the files of image sequences and of compositions, of which there may be more than a process may
/// have open. A few come at a time, from the one that is asked for on.
final class FileRequests: Sendable {
    private let files: [RequestedFiles]
    private let ask: @Sendable (WorkerMessage.ImagePlace) -> Bool
    private let isOver = Guarded(false)
    private let arrived = DispatchSemaphore(value: 0)
    /// One is asked for at a time: an answer says no path.
    private let turn = DispatchSemaphore(value: 1)

    /// `ask` sends a question; false where nobody hears.
    init(_ files: [RequestedFiles], ask: @escaping @Sendable (WorkerMessage.ImagePlace) -> Bool) {
        self.files = files
        self.ask = ask
    }

    /// Has a file come; false where it is none of the work's, or the work is over. Blocks the queue that decodes.
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

    /// An answer has come.
    func answered() { arrived.signal() }

    /// Nothing more comes: who waits goes on.
    func end() {
        isOver.withLock { $0 = true }
        arrived.signal()
    }
}
