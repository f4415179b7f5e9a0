internal import Glibc
internal import JobPlan
internal import LibAV
internal import Publishing

/// The files that the supervisor lends to a worker for one order: those attached to the order, and those that
/// the worker requests while it reads.
struct LentFiles: Sendable {
    /// Descriptors by path, with which the order's sources are opened.
    let descriptors: PassedDescriptors
    private let requested: [RequestedFiles]
    private let requests: FileRequests
    /// Descriptors of the sources, which this value owns.
    private let sources: [Int32]

    /// Registers the files of an order. `written` are its outputs and scratch file, which own their
    /// descriptors; `sources` and `paths` the attached sources, in the same order. `channel` sends the
    /// requests for `requested` files.
    init(
        written: [TemporaryFile] = [], sources: [Int32], paths: [String], requested: [RequestedFiles],
        channel: MessageChannel
    ) {
        let requests = FileRequests(requested) { index in
            channel.send(WorkerMessage.Report.requestFile(index))
        }
        descriptors = PassedDescriptors { requests.fetch($0) }
        self.requested = requested
        self.requests = requests
        self.sources = sources
        for file in written { descriptors.add(file.descriptor, for: file.reopenPath) }
        for (path, descriptor) in zip(paths, sources) { descriptors.add(descriptor, for: path) }
    }

    /// Registers the descriptors of requested files, and closes those that are not needed. Returns false if
    /// the position is in none of the lists; the descriptors remain the caller's.
    func register(_ received: [Int32], from position: WorkerMessage.ImageIndex) -> Bool {
        guard requested.indices.contains(position.sequence) else { return false }
        let paths = requested[position.sequence].paths(from: position.index, most: received.count)
        for descriptor in received.dropFirst(paths.count) { close(descriptor) }
        for (path, descriptor) in zip(paths, received) { descriptors.addOwned(descriptor, for: path) }
        requests.replyReceived()
        return true
    }

    /// Ends the requests, including waiting ones, and closes the sources. Called once, after the work.
    func revoke() {
        requests.end()
        descriptors.revoke()
        for descriptor in sources { close(descriptor) }
    }
}
