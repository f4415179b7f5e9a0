internal import CLinux
internal import CSandbox
internal import Dispatch
internal import Glibc
internal import JobPlan
internal import LibAV
internal import Locking
internal import Media
internal import Publishing

/// The main function of a worker. It enters the sandbox and executes orders in sequence until the supervisor closes the
/// channel.
///
/// No other code may run in the process before `run`: Landlock restricts only the calling thread and threads that it
/// creates later.
package enum WorkerMain {
    /// First argument of a worker's command line.
    package static let argument = "worker"
    /// Descriptor on which a worker receives and sends messages.
    static let descriptor: Int32 = 3

    /// The permissions and limits of a worker, sent with the first message.
    struct Arguments: Codable, Sendable {
        var isLockedDown = true
        var mayUseNetwork = false
        /// Folder in which the worker may write two-pass statistics; empty for no access.
        var folder = ""
        /// Maximum memory in bytes; 0 for no limit.
        var memory: Int64 = 0
    }

    /// A timer that fires five times a second as long as the object exists.
    ///
    /// Unchecked `Sendable`: the timer is created in the initializer and afterwards only cancelled, which is
    /// thread-safe.
    private final class Ticker: @unchecked Sendable {
        private let timer: any DispatchSourceTimer

        init(_ tick: @escaping @Sendable () -> Void) {
            timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "tandem.worker.progress"))
            timer.schedule(
                deadline: .now() + .milliseconds(200), repeating: .milliseconds(200),
                leeway: .milliseconds(20))
            timer.setEventHandler(handler: tick)
            timer.activate()
        }

        deinit { timer.cancel() }
    }

    private static let ticker = Guarded<Ticker?>(nil)

    private enum CurrentTask {
        case idle
        case work(WorkMonitor, Task<Void, Never>)
        case probe
    }

    /// State of the current task, shared by the thread that receives orders, the timer and the task itself.
    private final class TaskState: Sendable {
        let task = Guarded(CurrentTask.idle)
        /// Files that the current work may request.
        struct Images: Sendable {
            let files: [RequestedFiles]
            let requests: FileRequests
            let lent: PassedDescriptors
        }
        let images = Guarded<Images?>(nil)
        #if DEBUG
            /// Fault of the next task.
            let fault = Guarded<WorkerFault?>(nil)

            /// Injects the fault before the task starts. Returns it for later stages of the task.
            func injectFault(_ channel: MessageChannel) -> WorkerFault? {
                let fault = fault.withLock { $0.take() }
                fault?.inject(channel)
                return fault
            }
        #endif

        /// Registers the descriptors of requested files, and closes those that are not needed.
        func take(_ descriptors: [Int32], from position: WorkerMessage.ImageIndex) {
            guard let images = images.withLock({ $0 }), images.files.indices.contains(position.sequence)
            else {
                for descriptor in descriptors { close(descriptor) }
                return
            }
            let paths = images.files[position.sequence].paths(from: position.index, most: descriptors.count)
            for descriptor in descriptors.dropFirst(paths.count) { close(descriptor) }
            for (path, descriptor) in zip(paths, descriptors) {
                images.lent.addOwned(descriptor, for: path)
            }
            images.requests.replyReceived()
        }

        /// Reports progress if a task is running. Returns false if the supervisor has closed the channel.
        func report(to channel: MessageChannel) -> Bool {
            let progress: WorkProgress
            switch task.withLock({ $0 }) {
            case .idle: return true
            case .work(let monitor, _): progress = monitor.progress
            case .probe: progress = WorkProgress()
            }
            return channel.send(WorkerMessage.Report.progress(progress, activity: Activity.count))
        }
    }

    /// Writes a message to standard error, which the supervisor reports if the worker dies.
    static func printError(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        write(STDERR_FILENO, bytes, bytes.count)
    }

    /// System paths that encoders, decoders, Dispatch and the dynamic linker read.
    private static let readablePaths = [
        "/sys/devices/system/cpu", "/sys/devices/system/node", "/usr/lib", "/usr/lib64", "/usr/local/lib",
        "/lib",
        "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/usr/share/fonts", "/usr/local/share/fonts",
        "/etc/fonts", "/usr/share/fontconfig", "/var/cache/fontconfig",
        "/dev/null", "/dev/zero", "/dev/urandom",
    ]
    /// Additional system paths for fetching URLs: name resolution and certificates.
    private static let networkReadablePaths = [
        "/etc/ssl", "/usr/share/ca-certificates", "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf",
        "/etc/host.conf", "/etc/gai.conf", "/etc/services",
    ]

    /// Range of unassigned user ids. Workers that root starts run under different ids of it.
    private static let userIDs: (first: UInt32, count: UInt32) = (61_184, 4_000)

    /// Runs the worker. Must be called first in `main`. `seesOwnThreadsAlone`: whether the program's libraries read
    /// only the process's own files in `/proc` (`tandem_look_at_own_threads`).
    package static func run(seesOwnThreadsAlone: Bool = false) -> Never {
        guard fcntl(descriptor, F_GETFD) >= 0 else {
            printError("workers are started by `tandem`, not by users")
            exit(64)
        }
        if let shortage = ProcessLimits.shortage() {
            printError(shortage)
            exit(1)
        }
        // The first tasks of a worker are usually probes.
        tandem_limit_arenas(1)
        tandem_tune_allocator(1)
        for number in [SIGPIPE, SIGXFSZ, SIGINT, SIGHUP] { signal(number, SIG_IGN) }
        limit(RLIMIT_CORE, to: 0)
        limit(RLIMIT_NOFILE, to: 512)
        let channel = MessageChannel(descriptor)
        var buffer = MessageBuffer()
        let arguments = receiveArguments(channel, &buffer)
        // The supervisor checks the memory only twice a second. This limit bounds the use in between: twice the allowed
        // memory, and space for the threads' stacks.
        if arguments.memory > 0 { limit(RLIMIT_DATA, to: rlim_t(clamping: arguments.memory &* 2 &+ 1 << 30)) }
        var lacking: Int32 = 0
        // The files of the control group are inaccessible in the sandbox.
        _ = Processors.current
        if arguments.isLockedDown {
            FilterGraph.prepareForLocking()
            lacking = lockDown(arguments, seesOwnThreadsAlone: seesOwnThreadsAlone)
            // The path of the folder may be inaccessible in the sandbox, so the working directory is used.
            if !arguments.folder.isEmpty { PassFiles.base.withLock { $0 = "." } }
        } else {
            PassFiles.base.withLock { $0 = arguments.folder }
        }
        var environment = MediaEnvironment(
            sources: SourceEnvironment(allowsNetwork: arguments.mayUseNetwork),
            // Each entry may prevent the heap from shrinking (`tandem_tune_allocator`), by at most one gigabyte in
            // total.
            cache: AssetCache(limit: 500))
        environment.folder = PassFiles.base.withLock { $0 }
        guard channel.send(WorkerMessage.Report.ready(version: WorkerMessage.version, lacking: lacking))
        else {
            exit(1)
        }
        // Threads that are created from now on inherit the sandbox.
        receiveOrders(channel, buffer, environment)
    }

    /// Waits for the first message, which contains the arguments.
    private static func receiveArguments(_ channel: MessageChannel, _ buffer: inout MessageBuffer)
        -> Arguments
    {
        while true {
            if case .closed = buffer.fill(from: channel.descriptor) { _exit(0) }
            do {
                guard let order = try buffer.next(WorkerMessage.Order.self) else { continue }
                if case .begin(let arguments) = order { return arguments }
            } catch {
                printError("an order can't be read: \(error)")
            }
            _exit(1)
        }
    }

    private static func limit(_ resource: __rlimit_resource, to value: rlim_t) {
        var bounds = rlimit()
        guard getrlimit(__rlimit_resource_t(resource.rawValue), &bounds) == 0 else { return }
        bounds.rlim_max = min(bounds.rlim_max, value)
        bounds.rlim_cur = bounds.rlim_max
        setrlimit(__rlimit_resource_t(resource.rawValue), &bounds)
    }

    /// Enters the sandbox. Returns the parts that could not be enabled, as bits.
    private static func lockDown(_ arguments: Arguments, seesOwnThreadsAlone: Bool) -> Int32 {
        var user = geteuid() == 0 ? userIDs.first + UInt32(getpid()) % userIDs.count : 0
        var folder: UnsafeMutablePointer<CChar>?
        if !arguments.folder.isEmpty {
            folder = strdup("\(arguments.folder)/\(getpid())")
            guard let folder, mkdir(folder, 0o700) == 0 else {
                printError("the folder for two passes can't be created: \(String(cString: strerror(errno)))")
                _exit(1)
            }
            // In a container without other users, root can't change the owner; the missing part is reported.
            if user != 0, chown(folder, user, user) != 0 { user = 0 }
        }
        defer { free(folder) }
        let paths =
            readablePaths + [seesOwnThreadsAlone ? "/proc/self" : "/proc"]
            + (arguments.mayUseNetwork ? networkReadablePaths : [])
        return withPaths(paths) { readable in
            var wanted = tandem_sandbox()
            wanted.readable = readable
            wanted.folder = folder.map { UnsafePointer($0) }
            wanted.network = arguments.mayUseNetwork ? 1 : 0
            wanted.own_processes_only = seesOwnThreadsAlone ? 1 : 0
            wanted.user = user
            return tandem_enter_sandbox(&wanted)
        }
    }

    private static func withPaths<Result>(
        _ paths: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        let texts = paths.map { strdup($0) }
        defer { for text in texts { free(text) } }
        return (texts.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { body($0.baseAddress!) }
    }

    /// Receives orders on this thread. It executes no work itself, and therefore detects immediately that the
    /// supervisor has exited. `buffer` contains the bytes received after the first message.
    private static func receiveOrders(
        _ channel: MessageChannel, _ buffer: consuming MessageBuffer, _ environment: MediaEnvironment
    ) -> Never {
        let current = TaskState()
        // Stored in a static property to keep the timer alive: this function never returns.
        ticker.withLock { $0 = Ticker { if !current.report(to: channel) { _exit(0) } } }
        while true {
            do {
                while let order = try buffer.next(WorkerMessage.Order.self) {
                    switch order {
                    case .begin: continue
                    case .cancel:
                        if case .work(_, let job) = current.task.withLock({ $0 }) { job.cancel() }
                    #if DEBUG
                        case .inject(let fault): current.fault.withLock { $0 = fault }
                    #endif
                    case .images(let position, let count):
                        current.take(buffer.takeDescriptors(count), from: position)
                    case .work(let work): begin(work, buffer.takeDescriptors(), environment, channel, current)
                    case .probe(let probe):
                        begin(probe, buffer.takeDescriptors(), environment, channel, current)
                    case .testSandbox(let path, let process):
                        if !channel.send(
                            WorkerMessage.Report.sandboxTested(SandboxFinding.all(path, process)))
                        {
                            _exit(0)
                        }
                    }
                }
            } catch {
                printError("an order can't be read: \(error)")
                _exit(1)
            }
            if case .closed = buffer.fill(from: channel.descriptor) { _exit(0) }
        }
    }

    private static func begin(
        _ work: WorkerMessage.Work, _ descriptors: [Int32], _ environment: MediaEnvironment,
        _ channel: MessageChannel, _ current: TaskState
    ) {
        #if DEBUG
            let fault = current.injectFault(channel)
        #endif
        let outputs = work.plan.outputs.count(where: \.isPublished)
        let own = outputs + (work.hasScratch ? 1 : 0)
        guard work.plan.isValid, descriptors.count == own + work.sources.count else {
            printError("the work order is invalid, or its number of files is wrong")
            _exit(1)
        }
        let files = descriptors.prefix(outputs).map { TemporaryFile(passed: $0) }
        let scratch = work.hasScratch ? TemporaryFile(passed: descriptors[outputs]) : nil
        var environment = environment
        let requested = work.plan.requestedFiles
        let requests = FileRequests(requested) { index in
            channel.send(WorkerMessage.Report.requestFile(index))
        }
        let lent = PassedDescriptors { requests.fetch($0) }
        current.images.withLock { $0 = TaskState.Images(files: requested, requests: requests, lent: lent) }
        for file in Array(files) + [scratch].compactMap(\.self) {
            lent.add(file.descriptor, for: file.reopenPath)
        }
        for (path, descriptor) in zip(work.sources, descriptors.dropFirst(own)) {
            lent.add(descriptor, for: path)
        }
        environment.sources.descriptors = lent
        var order = WorkOrder(
            plan: work.plan, outputs: files, scratch: scratch, makesPreview: work.makesPreview)
        order.ownsProcess = true
        order.task = work.task
        order.sharesProcessors = work.sharesProcessors
        order.onChecked = { @Sendable findings in
            if !channel.send(WorkerMessage.Report.checked(findings)) { _exit(0) }
            #if DEBUG
                fault?.injectAfterOutput()
            #endif
        }
        let job = JobWork(order, in: environment)
        // The task can only end after it is stored.
        current.task.withLock { task in
            task = .work(
                order.monitor,
                Task {
                    let outcome = await job.run()
                    current.task.withLock { $0 = .idle }
                    current.images.withLock { $0 = nil }
                    requests.end()
                    lent.revoke()
                    for descriptor in descriptors.dropFirst(own) { close(descriptor) }
                    withExtendedLifetime((files, scratch)) {}
                    #if DEBUG
                        let reported = fault?.altered(outcome) ?? outcome
                    #else
                        let reported = outcome
                    #endif
                    if !channel.send(WorkerMessage.Report.done(reported)) { _exit(0) }
                })
        }
    }

    private static let probeQueue = DispatchQueue(label: "tandem.probe")

    /// Starts a probe. Probes aren't cancelled, because other jobs may need the response.
    private static func begin(
        _ probe: WorkerMessage.Probe, _ descriptors: [Int32], _ environment: MediaEnvironment,
        _ channel: MessageChannel, _ current: TaskState
    ) {
        #if DEBUG
            let fault = current.injectFault(channel)
        #endif
        guard descriptors.count == (probe.hasDescriptor ? 1 : 0) else {
            printError("the request has no file, or one too many")
            _exit(1)
        }
        var environment = environment
        let requested = probe.request.requestedFiles
        let requests = FileRequests(requested) { index in
            channel.send(WorkerMessage.Report.requestFile(index))
        }
        let lent = PassedDescriptors { requests.fetch($0) }
        current.images.withLock { $0 = TaskState.Images(files: requested, requests: requests, lent: lent) }
        if let descriptor = descriptors.first, let path = probe.request.path {
            lent.add(descriptor, for: path)
        }
        environment.sources.descriptors = lent
        let prober = LocalProber(environment)
        current.task.withLock { $0 = .probe }
        probeQueue.async { @Sendable in
            tandem_tune_allocator(1)
            let reply: ProbeReply
            do throws(SourceProblem) {
                reply = .response(try prober.respond(to: probe.request))
            } catch {
                reply = .failure(error)
            }
            #if DEBUG
                let reported = fault?.altered(reply) ?? reply
            #else
                let reported = reply
            #endif
            current.task.withLock { $0 = .idle }
            current.images.withLock { $0 = nil }
            requests.end()
            lent.revoke()
            for descriptor in descriptors { close(descriptor) }
            if !channel.send(WorkerMessage.Report.probed(reported)) { _exit(0) }
        }
    }
}
