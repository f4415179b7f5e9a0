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
    /// Sends work to the worker. `completion` is called once; nil means that the worker didn't receive the order, which
    /// can be assigned to another one.
    func perform(
        _ order: WorkOrder, fault: WorkerFault?, completion: @escaping @Sendable (WorkOutcome?) -> Void
    ) {
        queue.async { @Sendable in
            guard !self.isDead else { return completion(nil) }
            self.lastProgress.withLock { $0 = WorkProgress() }
            var sources: [(path: String, descriptor: Int32)] = []
            defer { for source in sources { close(source.descriptor) } }
            for path in order.plan.localFiles {
                let descriptor = self.root.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                guard descriptor >= 0 else {
                    let error = SystemError("opening \(path)", errno: errno)
                    return completion(
                        .failed(
                            JobFailure(
                                "\(error)", at: order.plan.coverLocation(of: path) ?? order.plan.location,
                                rule: .sourceUnreadable,
                                isTransient: TransientErrors.isTransient(error))))
                }
                sources.append((path, descriptor))
            }
            let location = order.plan.location
            self.task = Task(
                completion: { @Sendable ending in
                    switch ending {
                    case .done(let outcome): completion(outcome)
                    case .cancelled: completion(.cancelled)
                    case .died(let why, let byItself):
                        completion(
                            .failed(
                                JobFailure(
                                    "the worker died: \(why)", at: location, rule: .workerDied,
                                    isTransient: byItself)))
                    case .probed, .sandboxTested: break
                    }
                }, outputs: order.outputs, order: order.identity,
                tracks: order.plan.outputs.map { order.onlyEvaluates ? 0 : $0.tracks.count },
                makesPreview: order.makesPreview,
                onChecked: order.onChecked)
            self.task?.requested = order.plan.requestedFiles
            let work = WorkerMessage.Work(
                plan: order.plan.bare, hasScratch: order.scratch != nil, sources: sources.map(\.path),
                makesPreview: order.makesPreview, onlyEvaluates: order.onlyEvaluates,
                sharesProcessors: order.sharesProcessors, fault: fault)
            let files = order.outputs.map(\.descriptor) + (order.scratch.map { [$0.descriptor] } ?? [])
            guard
                self.channel.send(
                    WorkerMessage.Order.work(work), descriptors: files + sources.map(\.descriptor))
            else {
                self.task = nil
                self.handleExit()
                return completion(nil)
            }
        }
    }

    /// Sends descriptors of files of an image sequence, starting at the given one. Stops at a file that can't be
    /// opened. Returns false if the sequence isn't part of the worker's task.
    func sendImages(from position: WorkerMessage.ImageIndex) -> Bool {
        guard let task, task.requested.indices.contains(position.sequence) else { return false }
        let files = task.requested[position.sequence]
        guard (0..<files.count).contains(position.index) else { return false }
        var descriptors: [Int32] = []
        defer { for descriptor in descriptors { close(descriptor) } }
        for path in files.paths(from: position.index, most: Self.maxImagesPerReply) {
            let descriptor = root.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else { break }
            descriptors.append(descriptor)
        }
        let reply = WorkerMessage.Order.images(position, count: descriptors.count)
        if !channel.send(reply, descriptors: descriptors) { handleExit() }
        return true
    }

    /// Maximum number of files of an image sequence that are sent at once.
    private static let maxImagesPerReply = 16

    enum ProbeEnding: Sendable {
        /// The worker sent a reply.
        case replied(ProbeReply)
        /// The worker exited, or the supervisor killed it after a time limit.
        case died(String, byItself: Bool)
        /// The worker didn't receive the request, which can be assigned to another one.
        case notDelivered
    }

    /// Sends a probe to the worker. `completion` is called once.
    func probe(
        _ request: ProbeRequest, fault: WorkerFault?,
        completion: @escaping @Sendable (ProbeEnding) -> Void
    ) {
        queue.async { @Sendable in
            guard !self.isDead else { return completion(.notDelivered) }
            var descriptors: [Int32] = []
            defer { for descriptor in descriptors { close(descriptor) } }
            if let path = request.path, !SourceLocation.isRemote(path) {
                let descriptor = self.root.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                guard descriptor >= 0 else {
                    let error = InputError(
                        path: path, reason: .file(FileSourceProblem(errno: errno, beneath: self.root)))
                    return completion(.replied(.failure(SourceProblem(error.explanation))))
                }
                descriptors = [descriptor]
            }
            self.task = Task(
                completion: { @Sendable ending in
                    switch ending {
                    case .probed(let reply): completion(.replied(reply))
                    case .died(let why, let byItself): completion(.died(why, byItself: byItself))
                    case .done, .cancelled, .sandboxTested: break
                    }
                }, outputs: [], isTrial: request.path == nil,
                maxDuration: request.isBrief ? self.limits.probeTimeout : nil)
            let probe = WorkerMessage.Probe(
                request: request, hasDescriptor: !descriptors.isEmpty, fault: fault)
            guard self.channel.send(WorkerMessage.Order.probe(probe), descriptors: descriptors) else {
                self.task = nil
                self.handleExit()
                return completion(.notDelivered)
            }
        }
    }

    /// Requests attempts of actions that the sandbox must deny. `completion` is called once; nil means that the worker
    /// died.
    func testSandbox(from path: String, completion: @escaping @Sendable ([SandboxFinding]?) -> Void) {
        queue.async { @Sendable in
            guard !self.isDead else { return completion(nil) }
            self.task = Task(
                completion: { @Sendable ending in
                    if case .sandboxTested(let findings) = ending {
                        completion(findings)
                    } else {
                        completion(nil)
                    }
                }, outputs: [], isTrial: true)
            if !self.channel.send(WorkerMessage.Order.testSandbox(path: path, process: getpid())) {
                self.task = nil
                self.handleExit()
                completion(nil)
            }
        }
    }
}
