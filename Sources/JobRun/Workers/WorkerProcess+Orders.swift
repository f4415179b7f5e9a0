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

/// The orders to a worker.
extension WorkerProcess {
    /// Sends work to the worker. `completion` is called once, with nil if the worker didn't receive the
    /// order, which can then be assigned to another one.
    func perform(
        _ order: WorkOrder, fault: WorkerFault?, completion: @escaping @Sendable (WorkOutcome?) -> Void
    ) {
        queue.async { @Sendable in
            guard !self.isDead else { return completion(nil) }
            self.shown.withLock { $0 = WorkProgress() }
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
                                isTransient: Transience.isTransient(error))))
                }
                sources.append((path, descriptor))
            }
            let place = order.plan.location
            self.task = Task(
                completion: { @Sendable ending in
                    switch ending {
                    case .done(let outcome): completion(outcome)
                    case .cancelled: completion(.cancelled)
                    case .died(let why, let byItself):
                        completion(
                            .failed(
                                JobFailure(
                                    "the worker died: \(why)", at: place, rule: .workerDied,
                                    isTransient: byItself)))
                    case .seen, .escaped: break
                    }
                }, outputs: order.outputs, order: order.identity,
                tracks: order.plan.outputs.map { order.onlyJudges ? 0 : $0.tracks.count },
                makesPreview: order.makesPreview,
                onChecked: order.onChecked)
            self.task?.requested = order.plan.requestedFiles
            let work = WorkerMessage.Work(
                plan: order.plan.bare, hasScratch: order.scratch != nil, sources: sources.map(\.path),
                makesPreview: order.makesPreview, onlyJudges: order.onlyJudges, fault: fault)
            let files = order.outputs.map(\.descriptor) + (order.scratch.map { [$0.descriptor] } ?? [])
            guard
                self.channel.send(
                    WorkerMessage.Order.work(work), descriptors: files + sources.map(\.descriptor))
            else {
                self.task = nil
                self.die()
                return completion(nil)
            }
        }
    }

    /// Opens some files of an image sequence for the worker, from a given one on. Returns false if the sequence isn't
    /// part of its work. Files that can't be opened are missing for the worker.
    func give(_ place: WorkerMessage.ImagePlace) -> Bool {
        guard let task, task.requested.indices.contains(place.sequence) else { return false }
        let files = task.requested[place.sequence]
        guard (0..<files.count).contains(place.index) else { return false }
        var descriptors: [Int32] = []
        defer { for descriptor in descriptors { close(descriptor) } }
        for path in files.paths(from: place.index, most: Self.imagesAtOnce) {
            let descriptor = root.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else { break }
            descriptors.append(descriptor)
        }
        let answer = WorkerMessage.Order.images(place, count: descriptors.count)
        if !channel.send(answer, descriptors: descriptors) { die() }
        return true
    }

    /// Number of files of an image sequence that are opened at once.
    private static let imagesAtOnce = 16

    /// The result of a probe.
    enum LookEnding: Sendable {
        /// The worker answered.
        case seen(Sight)
        /// The worker died on its own, or because the supervisor killed it after a time limit.
        case died(String, byItself: Bool)
        /// The worker didn't receive the request, which can be assigned to another one.
        case notTaken
    }

    /// Sends a probe to the worker. `completion` is called once.
    func look(
        _ question: ProbeRequest, fault: WorkerFault?,
        completion: @escaping @Sendable (LookEnding) -> Void
    ) {
        queue.async { @Sendable in
            guard !self.isDead else { return completion(.notTaken) }
            var descriptors: [Int32] = []
            defer { for descriptor in descriptors { close(descriptor) } }
            if let path = question.path, !SourceLocation.isRemote(path) {
                let descriptor = self.root.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                guard descriptor >= 0 else {
                    let error = InputError(
                        path: path, reason: .file(FileSourceProblem(errno: errno, beneath: self.root)))
                    return completion(.seen(.problem(SourceProblem(error.explanation))))
                }
                descriptors = [descriptor]
            }
            self.task = Task(
                completion: { @Sendable ending in
                    switch ending {
                    case .seen(let sight): completion(.seen(sight))
                    case .died(let why, let byItself): completion(.died(why, byItself: byItself))
                    case .done, .cancelled, .escaped: break
                    }
                }, outputs: [], isTrial: question.path == nil,
                patience: question.isBrief ? self.limits.look : nil)
            let look = WorkerMessage.Look(
                question: question, isLent: !descriptors.isEmpty, fault: fault)
            guard self.channel.send(WorkerMessage.Order.look(look), descriptors: descriptors) else {
                self.task = nil
                self.die()
                return completion(.notTaken)
            }
        }
    }

    /// Requests attempts of forbidden actions from the worker. `completion` is called once, with nil if the
    /// worker died.
    func escape(from path: String, completion: @escaping @Sendable ([SandboxFinding]?) -> Void) {
        queue.async { @Sendable in
            guard !self.isDead else { return completion(nil) }
            self.task = Task(
                completion: { @Sendable ending in
                    if case .escaped(let findings) = ending { completion(findings) } else { completion(nil) }
                }, outputs: [], isTrial: true)
            if !self.channel.send(WorkerMessage.Order.escape(path: path, process: getpid())) {
                self.task = nil
                self.die()
                completion(nil)
            }
        }
    }
}
