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

/// The supervisor's side of a worker, a process that executes one task at a time.
///
/// Unchecked `Sendable`: mutable state is accessed on `queue` only, or is protected by a mutex.
final class WorkerProcess: @unchecked Sendable {
    struct Limits: Sendable {
        /// Maximum resident memory in bytes; nil for no limit.
        var memory: Int64?
        /// Seconds without a packet or frame after which a job counts as stuck.
        var stallTimeout = 300.0
        /// Seconds without activity after which a probe counts as stuck.
        var probeStallTimeout = 60.0
        /// Maximum duration of a probe that needn't read the whole source, in seconds.
        var probeTimeout = 60.0
        /// Seconds without activity after which the validation of settings counts as stuck. The slowest encoder opens
        /// within a second.
        var trialTimeout = 20.0
        /// Seconds after a cancellation until a worker that hasn't ended its work is killed.
        var gracePeriod = 3.0
    }

    /// The end of an assignment.
    enum Ending: Sendable {
        case sandboxTested([SandboxFinding])
        case done(WorkOutcome)
        case probed(ProbeReply)
        /// The worker exited, or the supervisor killed it.
        case died(String, byItself: Bool)
        case cancelled
        /// The worker didn't receive the order, which can be assigned to another one.
        case notDelivered
    }

    /// The current task of the worker.
    struct Assignment {
        /// Function that receives the ending, once.
        let completion: @Sendable (Ending) -> Void
        /// Output files, kept open until the task has ended; empty for a check and for a probe.
        let outputs: [TemporaryFile]
        /// Monitor of the work order, which also identifies it; nil for a probe.
        var monitor: WorkMonitor?
        /// Whether the task is short: a dry open of settings, or a sandbox test.
        var isTrial = false
        /// Files that the worker may request.
        var requested: [RequestedFiles] = []
        /// Maximum duration in seconds, regardless of activity; nil for no limit.
        var maxDuration: Double?
        let begun = DispatchTime.now()
        /// Number of tracks of each output.
        var tracks: [Int] = []
        var makesPreview = false
        var onChecked: @Sendable (WorkFindings) -> Void = { _ in }
        /// Findings, once the outputs are complete.
        var findings: WorkFindings?
        var isCancelled = false
        var activity: UInt64 = 0
        var lastActivity = DispatchTime.now()
    }

    /// Root beneath which files are opened for the worker.
    let root: PathRoot
    var limits: Limits
    let queue = DispatchQueue(label: "tandem.worker")
    let channel: MessageChannel
    private let process: pid_t
    /// Whether the worker may fetch URLs.
    let hasNetwork: Bool
    private var channelSource: (any DispatchSourceRead)?
    private var errorSource: (any DispatchSourceRead)?
    private var timer: (any DispatchSourceTimer)?
    private var buffer = MessageBuffer()
    private var recentErrorOutput: [UInt8] = []
    var assignment: Assignment?
    var isDead = false
    private var isReaped = false
    /// Reason why the supervisor killed the worker; nil if it didn't.
    private var killReason: String?
    private let onReady: @Sendable (Int32) -> Void
    private let onDeath: @Sendable (WorkerProcess) -> Void

    /// Number of completed jobs and probes.
    private(set) var completedTasks = 0

    /// Starts a worker. `onReady` is called with the sandbox parts that could not be enabled, and `onDeath` when the
    /// worker has died.
    init(
        _ arguments: WorkerMain.Arguments, root: PathRoot, limits: Limits,
        onReady: @escaping @Sendable (Int32) -> Void,
        onDeath: @escaping @Sendable (WorkerProcess) -> Void
    ) throws {
        self.root = root
        self.limits = limits
        self.onReady = onReady
        self.onDeath = onDeath
        hasNetwork = arguments.mayUseNetwork
        let endpoints = try FirstWorker.take() ?? Self.spawn()
        process = endpoints.process
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

    /// Ends an idle worker and waits for its process.
    func retire() {
        queue.async { @Sendable in
            self.end()
            self.reap(isKilled: true)
        }
    }

    /// Ends an idle worker without waiting for its process. Must not be called on the worker's own queue.
    func dismiss() { queue.sync { end() } }

    /// Waits for the process of a dismissed worker. Must not be called on the worker's own queue.
    func waitForExit() { queue.sync { _ = reap(isKilled: true) } }

    // MARK: On `queue`

    private func end() {
        guard !isDead else { return }
        isDead = true
        timer?.cancel()
        channelSource?.cancel()
        errorSource?.cancel()
        Glibc.kill(process, SIGKILL)
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
            if activity != assignment?.activity {
                assignment?.activity = activity
                assignment?.lastActivity = .now()
            }
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

    private func end(_ assignment: Assignment, _ ending: Ending) {
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
        if let limit = limits.memory, let used = residentMemory, used > limit {
            return kill("it used \(used >> 20) MiB of memory; the limit is \(limit >> 20) MiB")
        }
        let elapsed = Double(DispatchTime.now().uptimeNanoseconds - assignment.begun.uptimeNanoseconds) / 1e9
        if let maximum = assignment.maxDuration, elapsed > maximum {
            return kill("it didn't finish within \(Int(maximum)) s")
        }
        let idleSeconds =
            Double(DispatchTime.now().uptimeNanoseconds - assignment.lastActivity.uptimeNanoseconds) / 1e9
        if idleSeconds
            > (assignment.isTrial
                ? limits.trialTimeout
                : assignment.monitor == nil ? limits.probeStallTimeout : limits.stallTimeout)
        {
            kill("it made no progress for \(Int(idleSeconds)) s")
        }
    }

    private var residentMemory: Int64? {
        guard let file = fopen("/proc/\(process)/statm", "r") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, 128, file) != nil else { return nil }
        let text = line.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        let words = text.split(separator: " ")
        guard words.count > 1, let pages = Int64(words[1]) else { return nil }
        return pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
    }

    private func kill(_ why: String) {
        guard !isDead else { return }
        killReason = killReason ?? why
        Glibc.kill(process, SIGKILL)
        handleExit()
    }

    /// Handles the worker's exit or death by a signal, and completes its task.
    func handleExit() {
        guard !isDead else { return }
        isDead = true
        timer?.cancel()
        channelSource?.cancel()
        if let descriptor = errorSource?.handle { readErrorOutput(Int32(descriptor)) }
        errorSource?.cancel()
        let ending = reap()
        onDeath(self)
        guard let assignment else { return }
        self.assignment = nil
        if assignment.isCancelled { return assignment.completion(.cancelled) }
        let lines = String(decoding: recentErrorOutput, as: UTF8.self).split(separator: "\n").suffix(3)
        let lastOutput = lines.isEmpty ? "" : "; its last output: " + lines.joined(separator: " / ")
        let why = "\(killReason ?? ending)\(lastOutput)"
        // The output is complete; only its preview is missing, so the job succeeds.
        if var findings = assignment.findings {
            for index in findings.outputs.indices {
                var preview = JobPreview()
                preview.problems = ["the worker died while it inspected the output: \(why)"]
                findings.outputs[index].preview = preview
            }
            return assignment.completion(.done(.finished(findings)))
        }
        assignment.completion(.died(why, byItself: killReason == nil))
    }

    /// Reaps the process, once. Returns a description of its exit status.
    @discardableResult
    private func reap(isKilled: Bool = false) -> String {
        if isReaped { return "" }
        isReaped = true
        var status: Int32 = 0
        // The socket is closed: the process has ended, or must be killed.
        for _ in 0..<(isKilled ? 0 : 50) {
            if waitpid(process, &status, WNOHANG) == process { return Self.statusText(status) }
            usleep(2000)
        }
        Glibc.kill(process, SIGKILL)
        waitpid(process, &status, 0)
        return Self.statusText(status)
    }

    private static func statusText(_ status: Int32) -> String {
        let signal = status & 0x7f
        if signal == 0 { return "it exited with status \((status >> 8) & 0xff)" }
        return "signal \(signal) (\(String(cString: strsignal(signal))))"
    }
}
