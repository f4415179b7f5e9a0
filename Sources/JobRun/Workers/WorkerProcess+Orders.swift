internal import CLinux
internal import Diagnostics
internal import Dispatch
internal import Glibc
internal import JobPlan
internal import LibAV
internal import Locking
internal import Media
internal import FileSystem
internal import Publishing

/// Orders to a worker.
extension WorkerProcess {
    /// Executes work in the worker. Cancelling the task cancels the work. Returns nil if the worker didn't receive the
    /// order, which can be assigned to another one.
    nonisolated(nonsending) func perform(_ order: WorkOrder) async -> WorkOutcome? {
        let ending = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Ending, Never>) in
                queue.async { @Sendable in
                    self.send(order) { @Sendable in continuation.resume(returning: $0) }
                }
                // A cancellation before the worker received the order had no effect.
                if Task.isCancelled { cancel(order.monitor) }
            }
        } onCancel: {
            cancel(order.monitor)
        }
        switch ending {
        case .done(let outcome): return outcome
        case .cancelled: return .cancelled
        case .died(let why, let byItself):
            return .failed(
                JobFailure(
                    "the worker died: \(why)", at: order.plan.location, rule: .workerDied,
                    isTransient: byItself))
        case .notDelivered, .probed, .sandboxTested: return nil
        }
    }

    /// Sends work to the worker. Called on `queue`.
    private func send(
        _ order: WorkOrder, completion: @escaping @Sendable (Ending) -> Void
    ) {
        guard !isDead else { return completion(.notDelivered) }
        order.monitor.report(WorkProgress())
        var sources: [(path: String, descriptor: Int32)] = []
        defer { for source in sources { close(source.descriptor) } }
        for path in order.plan.localFiles {
            let descriptor = root.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else {
                let error = SystemError("opening \(path)", errno: errno)
                let failure = JobFailure(
                    "\(error)", at: order.plan.location(ofAddedFile: path) ?? order.plan.location,
                    rule: .sourceUnreadable, isTransient: TransientErrors.isTransient(error))
                return completion(.done(.failed(failure)))
            }
            sources.append((path, descriptor))
        }
        var assignment = Assignment(
            completion: completion, outputs: order.outputs, monitor: order.monitor,
            tracks: order.reportedTracks,
            makesPreview: order.makesPreview, onChecked: order.onChecked)
        assignment.requested = order.plan.requestedFiles
        let work = WorkerMessage.Work(
            plan: order.plan.bare, hasScratch: order.scratch != nil, sources: sources.map(\.path),
            makesPreview: order.makesPreview, task: order.task,
            sharesProcessors: order.sharesProcessors)
        let files = order.outputs.map(\.descriptor) + (order.scratch.map { [$0.descriptor] } ?? [])
        send(.work(work), files + sources.map(\.descriptor), assignment)
    }

    /// Sends an order that begins an assignment. Called on `queue`.
    private func send(_ order: WorkerMessage.Order, _ descriptors: [Int32], _ assignment: Assignment) {
        self.assignment = assignment
        guard !channel.send(order, descriptors: descriptors) else { return }
        self.assignment = nil
        handleExit()
        assignment.completion(.notDelivered)
    }

    /// Sends descriptors of files of an image sequence, a composition or a package, starting at the given one. Stops at a file that can't be
    /// opened. Returns false if the sequence isn't part of the worker's task.
    func sendImages(from position: WorkerMessage.ImageIndex) -> Bool {
        guard let assignment, assignment.requested.indices.contains(position.sequence) else { return false }
        let files = assignment.requested[position.sequence]
        guard (0..<files.count).contains(position.index) else { return false }
        var descriptors: [Int32] = []
        defer { for descriptor in descriptors { close(descriptor) } }
        let root = files.root(beneath: root)
        for path in files.paths(from: position.index, most: Self.maxImagesPerReply) {
            let descriptor = root?.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) ?? -1
            guard descriptor >= 0 else { break }
            descriptors.append(descriptor)
        }
        let reply = WorkerMessage.Order.images(position, count: descriptors.count)
        if !channel.send(reply, descriptors: descriptors) { handleExit() }
        return true
    }

    /// Maximum number of files of an image sequence that are sent at once.
    private static let maxImagesPerReply = 16

    /// Sends a probe to the worker. `completion` is called once, with `probed`, `died` or `notDelivered`.
    func probe(_ request: ProbeRequest, completion: @escaping @Sendable (Ending) -> Void) {
        queue.async { @Sendable in
            guard !self.isDead else { return completion(.notDelivered) }
            var descriptors: [Int32] = []
            defer { for descriptor in descriptors { close(descriptor) } }
            if let path = request.path, !SourceLocation.isRemote(path) {
                let descriptor = self.root.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                guard descriptor >= 0 else {
                    let error = InputError(
                        path: path, reason: .file(FileSourceProblem(errno: errno, beneath: self.root)))
                    return completion(
                        .probed(
                            .failure(
                                SourceProblem(
                                    error.explanation, isMissing: error.reason == .file(.missing)))))
                }
                descriptors = [descriptor]
            }
            let probe = WorkerMessage.Probe(request: request, hasDescriptor: !descriptors.isEmpty)
            var assignment = Assignment(
                completion: completion, outputs: [], isTrial: request.path == nil,
                maxDuration: request.isBrief ? self.limits.probeTimeout : nil)
            assignment.requested = request.requestedFiles
            self.send(.probe(probe), descriptors, assignment)
        }
    }

    /// Requests attempts of actions that the sandbox must deny. `completion` is called once, with `sandboxTested`, `died`
    /// or `notDelivered`.
    func testSandbox(from path: String, completion: @escaping @Sendable (Ending) -> Void) {
        queue.async { @Sendable in
            guard !self.isDead else { return completion(.notDelivered) }
            self.send(
                .testSandbox(path: path, process: getpid()), [],
                Assignment(completion: completion, outputs: [], isTrial: true))
        }
    }
}
