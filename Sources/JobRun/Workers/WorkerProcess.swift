internal import Diagnostics
internal import Dispatch
internal import Glibc
internal import JobPlan
internal import FileSystem

/// The supervisor's side of a worker, a process that executes one task at a time.
///
/// Unchecked `Sendable`: mutable state is accessed on `queue` only, or is protected by a mutex.
final class WorkerProcess: @unchecked Sendable {
    typealias Ending = WorkerAssignment.Ending

    /// Root beneath which files are opened for the worker.
    private let root: PathRoot
    private var limits: WorkerLimits
    private let queue = DispatchQueue(label: "tandem.worker")
    private let channel: MessageChannel
    private var process: ChildProcess
    /// Whether the worker may fetch URLs.
    let hasNetwork: Bool
    private var channelSource: (any DispatchSourceRead)?
    private var errorSource: (any DispatchSourceRead)?
    private var timer: (any DispatchSourceTimer)?
    private var buffer = MessageBuffer()
    private var recentErrorOutput: [UInt8] = []
    private var assignment: WorkerAssignment?
    private var isDead = false
    /// Reason why the supervisor killed the worker; nil if it didn't.
    private var killReason: String?
    private let onReady: @Sendable (Int32) -> Void
    private let onDeath: @Sendable (WorkerProcess) -> Void

    /// Number of completed jobs and probes.
    private(set) var completedTasks = 0

    /// Starts a worker. `onReady` is called with the sandbox parts that could not be enabled, and `onDeath` when the
    /// worker has died.
    init(
        _ arguments: WorkerMain.Arguments, root: PathRoot, limits: WorkerLimits,
        onReady: @escaping @Sendable (Int32) -> Void,
        onDeath: @escaping @Sendable (WorkerProcess) -> Void
    ) throws {
        self.root = root
        self.limits = limits
        self.onReady = onReady
        self.onDeath = onDeath
        hasNetwork = arguments.mayUseNetwork
        let endpoints = try FirstWorker.take() ?? WorkerEndpoints.spawn()
        process = ChildProcess(endpoints.process)
        channel = MessageChannel(endpoints.channel)
        var timeout = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(
            endpoints.channel, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let errorDescriptor = endpoints.errorOutput
        _ = fcntl(errorDescriptor, F_SETFL, O_NONBLOCK)
        let channelSource = DispatchSource.makeReadSource(fileDescriptor: channel.descriptor, queue: queue)
        let errorSource = DispatchSource.makeReadSource(fileDescriptor: errorDescriptor, queue: queue)
        channelSource.setEventHandler { @Sendable [weak self] in self?.readChannel() }
        errorSource.setEventHandler { @Sendable [weak self] in self?.readErrorOutput(errorDescriptor) }
        errorSource.setCancelHandler { @Sendable in close(errorDescriptor) }
        // Dispatch must release the channel's descriptor before it is closed.
        let channel = channel
        channelSource.setCancelHandler { @Sendable in withExtendedLifetime(channel) {} }
        self.channelSource = channelSource
        self.errorSource = errorSource
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + 0.5, repeating: 0.5, leeway: .milliseconds(100))
        timer.setEventHandler { @Sendable [weak self] in self?.checkLimits() }
        self.timer = timer
        // If the worker has already exited, the read source reports it.
        _ = channel.send(WorkerMessage.Order.begin(arguments))
        channelSource.activate()
        errorSource.activate()
        timer.activate()
    }

    // MARK: Orders

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

    /// Sends a probe to the worker. `completion` is called once, with `probed`, `died` or `notDelivered`.
    func probe(_ request: ProbeRequest, completion: @escaping @Sendable (Ending) -> Void) {
        queue.async { @Sendable in
            guard !self.isDead else { return completion(.notDelivered) }
            var encoding = OrderEncoding(root: self.root)
            defer { encoding.closeFiles() }
            let message: WorkerMessage.Order
            do throws(SourceProblem) {
                message = try encoding.probe(request)
            } catch {
                return completion(.probed(.failure(error)))
            }
            self.send(
                message, encoding.descriptors,
                WorkerAssignment(request, limits: self.limits, completion: completion))
        }
    }

    /// Requests attempts of actions that the sandbox must deny. `completion` is called once, with
    /// `sandboxTested`, `died` or `notDelivered`.
    func testSandbox(from path: String, completion: @escaping @Sendable (Ending) -> Void) {
        queue.async { @Sendable in
            guard !self.isDead else { return completion(.notDelivered) }
            self.send(
                .testSandbox(path: path, process: getpid()), [],
                WorkerAssignment(sandboxTest: completion))
        }
    }

    #if DEBUG
        /// Injects a fault into the worker's next task.
        func inject(_ fault: WorkerFault) {
            queue.async { @Sendable in
                fault.adapt(&self.limits)
                _ = self.channel.send(WorkerMessage.Order.inject(fault))
            }
        }
    #endif

    /// Cancels the order with a monitor. The worker is killed if it doesn't end within the grace period. Other orders
    /// aren't affected.
    func cancel(_ order: WorkMonitor) {
        queue.async { @Sendable in
            guard self.assignment?.monitor === order, self.assignment?.isCancelled == false else { return }
            self.assignment?.isCancelled = true
            _ = self.channel.send(WorkerMessage.Order.cancel)
            let completed = self.completedTasks
            self.queue.asyncAfter(deadline: .now() + self.limits.gracePeriod) { @Sendable in
                if self.assignment != nil, self.completedTasks == completed {
                    self.kill("it didn't exit after it was cancelled")
                }
            }
        }
    }

    // MARK: End

    /// Ends an idle worker and waits for its process.
    func retire() {
        queue.async { @Sendable in
            self.end()
            self.process.reap(isKilled: true)
        }
    }

    /// Ends an idle worker without waiting for its process. Must not be called on the worker's own queue.
    func dismiss() { queue.sync { end() } }

    /// Waits for the process of a dismissed worker. Must not be called on the worker's own queue.
    func waitForExit() { queue.sync { _ = process.reap(isKilled: true) } }

    // MARK: On `queue`

    private func end() {
        guard !isDead else { return }
        isDead = true
        timer?.cancel()
        channelSource?.cancel()
        errorSource?.cancel()
        process.kill()
    }

    /// Sends work to the worker.
    private func send(_ order: WorkOrder, completion: @escaping @Sendable (Ending) -> Void) {
        guard !isDead else { return completion(.notDelivered) }
        order.monitor.report(WorkProgress())
        var encoding = OrderEncoding(root: root)
        defer { encoding.closeFiles() }
        let message: WorkerMessage.Order
        do throws(JobFailure) {
            message = try encoding.work(order)
        } catch {
            return completion(.done(.failed(error)))
        }
        send(message, encoding.descriptors, WorkerAssignment(order, completion: completion))
    }

    /// Sends an order that begins an assignment.
    private func send(
        _ order: WorkerMessage.Order, _ descriptors: [Int32], _ assignment: WorkerAssignment
    ) {
        self.assignment = assignment
        guard !channel.send(order, descriptors: descriptors) else { return }
        self.assignment = nil
        handleExit()
        assignment.completion(.notDelivered)
    }

    /// Sends files that the worker requested, starting at the given one. Returns false if the file doesn't
    /// belong to the worker's task.
    private func sendImages(from position: WorkerMessage.ImageIndex) -> Bool {
        guard let assignment else { return false }
        var encoding = OrderEncoding(root: root)
        defer { encoding.closeFiles() }
        guard let reply = encoding.images(from: position, of: assignment.requested) else { return false }
        if !channel.send(reply, descriptors: encoding.descriptors) { handleExit() }
        return true
    }

    /// Maximum number of consecutive reads, so that a worker that keeps sending doesn't block the queue.
    private static let maxConsecutiveReads = 64

    /// Reads all available bytes. Dispatch reports the closed end only once: if other bytes preceded it, a single read
    /// would miss the end, and the handler would not be called again.
    private func readChannel() {
        for _ in 0..<Self.maxConsecutiveReads {
            // After the exit, the descriptor's number may already have been reused.
            if isDead { return }
            switch buffer.fill(from: channel.descriptor, waits: false) {
            case .closed: return handleExit()
            case .unavailable: return
            case .received: handleReports()
            }
        }
        queue.async { @Sendable [weak self] in self?.readChannel() }
    }

    private func handleReports() {
        let descriptors = buffer.takeDescriptors()
        if !descriptors.isEmpty {
            for descriptor in descriptors { close(descriptor) }
            return kill("protocol violation: it sent unsolicited file descriptors")
        }
        do {
            while let report = try buffer.next(WorkerMessage.Report.self) { handle(report) }
        } catch {
            kill("protocol violation: it sent an invalid message")
        }
    }

    private func handle(_ report: WorkerMessage.Report) {
        switch report {
        case .ready(let version, let lacking):
            if version == WorkerMessage.version {
                onReady(lacking)
            } else {
                kill("it has another version: the program was replaced during the run")
            }
        case .progress(let progress, let activity):
            assignment?.monitor?.report(progress)
            assignment?.record(activity: activity)
        case .requestFile(let position):
            if !sendImages(from: position) {
                kill("protocol violation: it requested a file that doesn't belong to its source")
            }
        case .done(let outcome):
            guard let assignment, assignment.monitor != nil else {
                return kill("protocol violation: it reported the end of a job that it wasn't running")
            }
            guard
                let outcome = ReplyValidator.validated(
                    outcome, tracks: assignment.tracks, makesPreview: assignment.makesPreview)
            else { return kill("protocol violation: it sent an impossible report of its output") }
            end(assignment, .done(outcome))
        case .checked(let findings):
            guard let assignment, assignment.makesPreview,
                case .finished(let validated)? = ReplyValidator.validated(
                    .finished(findings), tracks: assignment.tracks, makesPreview: false)
            else { return kill("protocol violation: it sent an impossible report of its output") }
            self.assignment?.findings = validated
            assignment.onChecked(validated)
        case .probed(let reply):
            guard let assignment, assignment.monitor == nil else {
                return kill("protocol violation: it sent an unsolicited reply")
            }
            if case .response(let response) = reply, !ReplyValidator.isValid(response) {
                return kill("protocol violation: it sent an impossible report of a source")
            }
            end(assignment, .probed(reply))
        case .sandboxTested(let findings):
            guard let assignment, assignment.isTrial, findings.count <= 1000 else {
                return kill("protocol violation: it sent an unsolicited reply")
            }
            end(assignment, .sandboxTested(findings))
        }
    }

    private func end(_ assignment: WorkerAssignment, _ ending: Ending) {
        self.assignment = nil
        completedTasks += 1
        assignment.completion(ending)
    }

    private func readErrorOutput(_ descriptor: Int32) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        // All available bytes are read, as in `readChannel`.
        for _ in 0..<Self.maxConsecutiveReads {
            let got = read(descriptor, &bytes, bytes.count)
            if got == 0 {
                errorSource?.cancel()
                // The descriptor is closed, and its number may be reused.
                errorSource = nil
            }
            guard got > 0 else { return }
            recentErrorOutput = Array((recentErrorOutput + bytes.prefix(got)).suffix(4096))
        }
    }

    /// Checks the worker's memory, the task's duration and its activity.
    private func checkLimits() {
        guard let assignment else { return }
        if let limit = limits.memory, let used = process.residentMemory, used > limit {
            return kill("it used \(used >> 20) MiB of memory; the limit is \(limit >> 20) MiB")
        }
        if let reason = assignment.exceededLimit(of: limits) { kill(reason) }
    }

    private func kill(_ why: String) {
        guard !isDead else { return }
        killReason = killReason ?? why
        process.kill()
        handleExit()
    }

    /// Handles the worker's exit or death by a signal, and completes its task.
    private func handleExit() {
        guard !isDead else { return }
        isDead = true
        timer?.cancel()
        channelSource?.cancel()
        if let descriptor = errorSource?.handle { readErrorOutput(Int32(descriptor)) }
        errorSource?.cancel()
        let status = process.reap()
        onDeath(self)
        guard let assignment else { return }
        self.assignment = nil
        let lines = String(decoding: recentErrorOutput, as: UTF8.self).split(separator: "\n").suffix(3)
        let lastOutput = lines.isEmpty ? "" : "; its last output: " + lines.joined(separator: " / ")
        let why = "\(killReason ?? status)\(lastOutput)"
        assignment.completion(assignment.endingAfterDeath(why, byItself: killReason == nil))
    }
}
