internal import Diagnostics
internal import FileSystem
internal import Glibc
internal import JobPlan
internal import LibAV
internal import Publishing

/// The encoding of one order to a worker: creates the message, and opens the files whose descriptors are
/// attached to it.
struct OrderEncoding {
    /// Root beneath which files are opened for the worker.
    private let root: PathRoot
    /// Descriptors to attach to the message, in the message's order.
    private(set) var descriptors: [Int32] = []
    /// Descriptors that were opened for the message.
    private var opened: [Int32] = []

    init(root: PathRoot) { self.root = root }

    /// Closes the files that were opened for the message. Must be called once the message is sent, and after
    /// an error.
    func closeFiles() { for descriptor in opened { close(descriptor) } }

    /// Returns the message of work, with the descriptors of outputs, scratch file and sources. Throws if a
    /// source can't be opened.
    mutating func work(_ order: WorkOrder) throws(JobFailure) -> WorkerMessage.Order {
        let sources = order.plan.localFiles
        for path in sources {
            guard open(path, beneath: root) else {
                let error = SystemError("opening \(path)", errno: errno)
                throw JobFailure(
                    "\(error)", at: order.plan.location(ofAddedFile: path) ?? order.plan.location,
                    rule: .sourceUnreadable, isTransient: TransientErrors.isTransient(error))
            }
        }
        let work = WorkerMessage.Work(
            plan: order.plan.bare, hasScratch: order.scratch != nil, sources: sources,
            makesPreview: order.makesPreview, task: order.task,
            sharesProcessors: order.sharesProcessors)
        let files = order.outputs.map(\.descriptor) + (order.scratch.map { [$0.descriptor] } ?? [])
        descriptors = files + opened
        return .work(work)
    }

    /// Returns the message of a probe, with the descriptor of a local source. Throws if it can't be opened.
    mutating func probe(_ request: ProbeRequest) throws(SourceProblem) -> WorkerMessage.Order {
        if let path = request.path, !SourceLocation.isRemote(path) {
            guard open(path, beneath: root) else {
                let error = InputError(
                    path: path, reason: .file(FileSourceProblem(errno: errno, beneath: root)))
                throw SourceProblem(error.explanation, isMissing: error.reason == .file(.missing))
            }
        }
        descriptors = opened
        return .probe(WorkerMessage.Probe(request: request, hasDescriptor: !descriptors.isEmpty))
    }

    /// Returns the message with files of an image sequence, a composition or a package, starting at the given
    /// one. Stops at a file that can't be opened. Returns nil if the file isn't one of `requested`.
    mutating func images(
        from position: WorkerMessage.ImageIndex, of requested: [RequestedFiles]
    ) -> WorkerMessage.Order? {
        guard requested.indices.contains(position.sequence) else { return nil }
        let files = requested[position.sequence]
        guard (0..<files.count).contains(position.index) else { return nil }
        if let root = files.root(beneath: root) {
            for path in files.paths(from: position.index, most: Self.maxImagesPerReply) {
                guard open(path, beneath: root) else { break }
            }
        }
        descriptors = opened
        return .images(position, count: descriptors.count)
    }

    /// Maximum number of files of an image sequence that are sent at once.
    private static let maxImagesPerReply = 16

    /// Opens a file for reading. Returns false if that fails, with the reason in `errno`.
    private mutating func open(_ path: String, beneath root: PathRoot) -> Bool {
        let descriptor = root.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        opened.append(descriptor)
        return true
    }
}
