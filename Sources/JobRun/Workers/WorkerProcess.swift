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

/// A worker as its supervisor sees it: a process that does one thing at a time.
///
/// Unchecked `Sendable`: everything mutable is touched on `queue` only, or is behind the mutex.
final class WorkerProcess: @unchecked Sendable {
    /// What a worker may take, and how patient one is with it.
    struct Limits: Sendable {
        /// Resident bytes; nil for no limit.
        var memory: Int64?
        /// Seconds without any packet or frame after which it counts as stuck with a job.
        var stall = 300.0
        /// The same with a look into a source: opening one takes no time to speak of.
        var lookStall = 60.0
        /// Seconds that a look may take in all, where it need not read the whole source.
        var look = 60.0
        /// The same with a trial of settings: the slowest encoder opens in a second.
        var trial = 20.0
        /// Seconds that it has to end after a cancel.
        var grace = 3.0
    }

    /// How what it was asked for ended.
    enum Ending: Sendable {
        case escaped([SandboxFinding])
        case done(WorkOutcome)
        case seen(Sight)
        /// It died; by itself, or because the supervisor would not wait any longer.
        case died(String, byItself: Bool)
        case cancelled
    }

    /// What it was asked for.
    struct Task {
        let completion: @Sendable (Ending) -> Void
        /// Kept open until the worker has them for certain; none for a look.
        let outputs: [TemporaryFile]
        /// Settings are tried, which takes no time to speak of.
        var isTrial = false
        /// Files that it may ask for.
        var requested: [RequestedFiles] = []
        /// Seconds that it may take in all, however much moves.
        var patience: Double?
        let begun = DispatchTime.now()
        /// How many tracks each output has, of work.
        var tracks: [Int] = []
        var makesPreview = false
        var onChecked: @Sendable () -> Void = {}
        /// What was found of outputs that are whole.
        var findings: WorkFindings?
        var isCancelled = false
        var activity: UInt64 = 0
        var lastActivity = DispatchTime.now()
    }

    /// Beneath what the files lie that are opened for it.
    let root: PathRoot
    let limits: Limits
    let queue = DispatchQueue(label: "tandem.worker")
    let channel: MessageChannel
    private let process: pid_t
    /// It may fetch by URL.
    let hasNetwork: Bool
    private var reading: (any DispatchSourceRead)?
    private var listening: (any DispatchSourceRead)?
    private var watching: (any DispatchSourceTimer)?
    private var buffer = MessageBuffer()
    private var lastWords: [UInt8] = []
    var task: Task?
    var isDead = false
    private var isReaped = false
    /// Why it was killed, where the supervisor did it.
    private var verdict: String?
    let shown = Guarded(WorkProgress())
    private let onReady: @Sendable (Int32) -> Void
    private let onDeath: @Sendable (WorkerProcess) -> Void

    /// How many jobs and looks it did.
    private(set) var jobsDone = 0

    /// Starts one. `onReady` is told what it could not be kept from; `onDeath` that it is gone.
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
        let ends = try FirstWorker.take() ?? Self.spawn()
        process = ends.process
        channel = MessageChannel(ends.channel)
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(ends.channel, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let ears = ends.words
        _ = fcntl(ears, F_SETFL, O_NONBLOCK)
        let reading = DispatchSource.makeReadSource(fileDescriptor: channel.descriptor, queue: queue)
        let listening = DispatchSource.makeReadSource(fileDescriptor: ears, queue: queue)
        reading.setEventHandler { @Sendable [weak self] in self?.hear() }
        listening.setEventHandler { @Sendable [weak self] in self?.hearWords(ears) }
        listening.setCancelHandler { @Sendable in close(ears) }
        // The channel's descriptor stays open until Dispatch has let go of it.
        let channel = channel
        reading.setCancelHandler { @Sendable in withExtendedLifetime(channel) {} }
        self.reading = reading
        self.listening = listening
        let watching = DispatchSource.makeTimerSource(queue: queue)
        watching.schedule(deadline: .now() + 0.5, repeating: 0.5, leeway: .milliseconds(100))
        watching.setEventHandler { @Sendable [weak self] in self?.watch() }
        self.watching = watching
        // One that is gone already is heard to be.
        _ = channel.send(WorkerMessage.Order.begin(arguments))
        reading.activate()
        listening.activate()
        watching.activate()
    }

    var progress: WorkProgress { shown.withLock { $0 } }

    /// Ends the work on outputs at once, the first of which tells it; it is killed where it doesn't follow. Later work is not
    /// touched.
    func cancel(_ output: TemporaryFile) {
        queue.async { @Sendable in
            guard self.task?.outputs.first === output, self.task?.isCancelled == false else { return }
            self.task?.isCancelled = true
            _ = self.channel.send(WorkerMessage.Order.cancel)
            let done = self.jobsDone
            self.queue.asyncAfter(deadline: .now() + self.limits.grace) { @Sendable in
                if self.task != nil, self.jobsDone == done {
                    self.kill("it did not end when it was cancelled")
                }
            }
        }
    }

    /// Lets it go. It has nothing to do, and nothing that it must put in order.
    func retire() {
        queue.async { @Sendable in
            self.end()
            self.reap(isKilled: true)
        }
    }

    /// The same; its process may still be about to end. Not to be called on the worker's own queue, nor is `bury`.
    func dismiss() { queue.sync { end() } }

    /// Waits for the process of one that was dismissed.
    func bury() { queue.sync { _ = reap(isKilled: true) } }

    // MARK: On `queue`

    private func end() {
        guard !isDead else { return }
        isDead = true
        watching?.cancel()
        reading?.cancel()
        listening?.cancel()
        Glibc.kill(process, SIGKILL)
    }

    /// Reads at a time, so that who says more and more keeps nobody else from the queue.
    private static let readsAtOnce = 64

    /// That the other end is gone Dispatch tells once: where it had said something before, a single read would leave the end unread
    /// behind it, and nobody would ever be called again. So all that is there is read.
    private func hear() {
        for _ in 0..<Self.readsAtOnce {
            // Its descriptor may be another's by now.
            if isDead { return }
            switch buffer.fill(from: channel.descriptor, waits: false) {
            case .end: return die()
            case .nothing: return
            case .some: takeReports()
            }
        }
        queue.async { @Sendable [weak self] in self?.hear() }
    }

    private func takeReports() {
        let descriptors = buffer.takeDescriptors()
        if !descriptors.isEmpty {
            for descriptor in descriptors { close(descriptor) }
            return kill("it sent files, which nobody asked for")
        }
        do {
            while let report = try buffer.next(WorkerMessage.Report.self) { take(report) }
        } catch {
            kill("it said something that is no message")
        }
    }

    private func take(_ report: WorkerMessage.Report) {
        switch report {
        case .ready(let version, let lacking):
            if version == WorkerMessage.version {
                onReady(lacking)
            } else {
                kill("it is of another version: the program was replaced while it ran")
            }
        case .progress(let progress, let activity):
            shown.withLock { $0 = progress }
            if activity != task?.activity {
                task?.activity = activity
                task?.lastActivity = .now()
            }
        case .wants(let place):
            if !give(place) { kill("it asked for a file that is none of its source's") }
        case .done(let outcome):
            guard let task, !task.outputs.isEmpty else { return kill("it ended a job that it did not have") }
            guard
                let outcome = ReplyValidator.checked(
                    outcome, tracks: task.tracks, makesPreview: task.makesPreview)
            else { return kill("it said what can't be of its output") }
            end(task, .done(outcome))
        case .checked(let findings):
            guard let task, task.makesPreview,
                case .finished(let sound)? = ReplyValidator.checked(
                    .finished(findings), tracks: task.tracks, makesPreview: false)
            else { return kill("it said what can't be of its output") }
            self.task?.findings = sound
            task.onChecked()
        case .seen(let sight):
            guard let task, task.outputs.isEmpty else { return kill("it answered what nobody asked") }
            if case .answer(let answer) = sight, !ReplyValidator.holds(answer) {
                return kill("it said what can't be of a source")
            }
            end(task, .seen(sight))
        case .escaped(let findings):
            guard let task, task.isTrial, findings.count <= 1000 else {
                return kill("it answered what nobody asked")
            }
            end(task, .escaped(findings))
        }
    }

    private func end(_ task: Task, _ ending: Ending) {
        self.task = nil
        jobsDone += 1
        task.completion(ending)
    }

    private func hearWords(_ descriptor: Int32) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        // As of what is heard: all that is there.
        for _ in 0..<Self.readsAtOnce {
            let got = read(descriptor, &bytes, bytes.count)
            if got == 0 {
                listening?.cancel()
                // It is closed then, and its number another's.
                listening = nil
            }
            guard got > 0 else { return }
            lastWords = Array((lastWords + bytes.prefix(got)).suffix(4096))
        }
    }

    /// What it takes and whether anything moves in it.
    private func watch() {
        guard let task else { return }
        if let limit = limits.memory, let used = residentMemory, used > limit {
            return kill("it took \(used >> 20) MiB of memory, and \(limit >> 20) is the limit")
        }
        let lasted = Double(DispatchTime.now().uptimeNanoseconds - task.begun.uptimeNanoseconds) / 1e9
        if let patience = task.patience, lasted > patience {
            return kill("it was not done after \(Int(patience)) s")
        }
        let still = Double(DispatchTime.now().uptimeNanoseconds - task.lastActivity.uptimeNanoseconds) / 1e9
        if still > (task.isTrial ? limits.trial : task.outputs.isEmpty ? limits.lookStall : limits.stall) {
            kill("nothing moved in it for \(Int(still)) s")
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
        verdict = verdict ?? why
        Glibc.kill(process, SIGKILL)
        die()
    }

    /// It is gone, or as good as gone.
    func die() {
        guard !isDead else { return }
        isDead = true
        watching?.cancel()
        reading?.cancel()
        if let descriptor = listening?.handle { hearWords(Int32(descriptor)) }
        listening?.cancel()
        let ending = reap()
        onDeath(self)
        guard let task else { return }
        self.task = nil
        if task.isCancelled { return task.completion(.cancelled) }
        let words = String(decoding: lastWords, as: UTF8.self).split(separator: "\n").suffix(3)
        let said = words.isEmpty ? "" : "; its last words: " + words.joined(separator: " / ")
        let why = "\(verdict ?? ending)\(said)"
        // The output is whole; only how it looks is not known.
        if var findings = task.findings {
            for index in findings.outputs.indices {
                var preview = JobPreview()
                preview.problems = ["the worker died while it looked at the output: \(why)"]
                findings.outputs[index].preview = preview
            }
            return task.completion(.done(.finished(findings)))
        }
        task.completion(.died(why, byItself: verdict == nil))
    }

    /// Takes its exit status, once, and tells it in words.
    @discardableResult
    private func reap(isKilled: Bool = false) -> String {
        if isReaped { return "" }
        isReaped = true
        var status: Int32 = 0
        // Its socket is closed: it has ended, or is not to be trusted with going on.
        for _ in 0..<(isKilled ? 0 : 50) {
            if waitpid(process, &status, WNOHANG) == process { return Self.words(status) }
            usleep(2000)
        }
        Glibc.kill(process, SIGKILL)
        waitpid(process, &status, 0)
        return Self.words(status)
    }

    private static func words(_ status: Int32) -> String {
        let signal = status & 0x7f
        if signal == 0 { return "it exited with status \((status >> 8) & 0xff)" }
        return "signal \(signal) (\(String(cString: strsignal(signal))))"
    }
}
