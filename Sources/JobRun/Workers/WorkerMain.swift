internal import CLinux
internal import CSandbox
internal import Dispatch
internal import Glibc
internal import JobPlan
internal import LibAV
internal import Locking
internal import Media
internal import Publishing

/// The life of a worker: it locks itself down, then does one job after the other until its supervisor is gone.
///
/// Nothing but `run` may have happened in the process before: Landlock binds the thread that asks for it and those that
/// come after.
package enum WorkerMain {
    /// The first argument of a worker's command line.
    package static let argument = "worker"
    /// The descriptor on which a worker hears and speaks.
    static let descriptor: Int32 = 3

    /// What a worker may do.
    struct Arguments: Codable, Sendable {
        var isLockedDown = true
        var mayUseNetwork = false
        /// Where it may write: what encoders note between two passes.
        var folder = ""
        /// Bytes of memory that it may take; 0 for no limit.
        var memory: Int64 = 0
    }

    /// Ticks five times a second for as long as it is there.
    ///
    /// Unchecked `Sendable`: the timer is made in the initialiser and only cancelled afterwards, which any thread may.
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

    /// What it does.
    private enum Doing {
        case nothing
        case work(JobWork)
        case look
    }

    /// What it does now.
    private final class Current: Sendable {
        let doing = Guarded(Doing.nothing)
        /// What the work under way may ask for.
        struct Images: Sendable {
            let files: [RequestedFiles]
            let requests: FileRequests
            let lent: PassedDescriptors
        }
        let images = Guarded<Images?>(nil)

        /// Files that were asked for. What nobody waits for any more is closed.
        func take(_ descriptors: [Int32], from place: WorkerMessage.ImagePlace) {
            guard let images = images.withLock({ $0 }), images.files.indices.contains(place.sequence)
            else {
                for descriptor in descriptors { close(descriptor) }
                return
            }
            let paths = images.files[place.sequence].paths(from: place.index, most: descriptors.count)
            for descriptor in descriptors.dropFirst(paths.count) { close(descriptor) }
            for (path, descriptor) in zip(paths, descriptors) {
                images.lent.give(descriptor, for: path)
            }
            images.requests.answered()
        }

        /// Says how far it is, where it does anything; false where nobody hears it.
        func report(to channel: MessageChannel) -> Bool {
            let progress: WorkProgress
            switch doing.withLock({ $0 }) {
            case .nothing: return true
            case .work(let job): progress = job.progress
            case .look: progress = WorkProgress()
            }
            return channel.send(WorkerMessage.Report.progress(progress, activity: Activity.count))
        }
    }

    /// Its last words, should it die.
    static func complain(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        write(STDERR_FILENO, bytes, bytes.count)
    }

    /// What of the system encoders, decoders and Dispatch read while they work, and what the loader does.
    private static let readable = [
        "/sys/devices/system/cpu", "/sys/devices/system/node", "/usr/lib", "/usr/lib64", "/usr/local/lib",
        "/lib",
        "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/usr/share/fonts", "/usr/local/share/fonts",
        "/etc/fonts", "/usr/share/fontconfig", "/var/cache/fontconfig",
        "/dev/null", "/dev/zero", "/dev/urandom",
    ]
    /// The same of what a fetch by URL asks a name server and trusts a web server by.
    private static let readableForNetwork = [
        "/etc/ssl", "/usr/share/ca-certificates", "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf",
        "/etc/host.conf", "/etc/gai.conf", "/etc/services",
    ]

    /// Users that nobody is: where workers are started by root, each is one of its own.
    private static let users: (first: UInt32, count: UInt32) = (61_184, 4_000)

    /// Lives. First thing in `main`. `seesOwnThreadsAlone` says that the program's libraries ask for no more of `/proc`
    /// than what is about itself (`tandem_look_at_own_threads`).
    package static func run(seesOwnThreadsAlone: Bool = false) -> Never {
        guard fcntl(descriptor, F_GETFD) >= 0 else {
            complain("a worker is started by a run, not by hand")
            exit(64)
        }
        if let lack = ProcessLimits.lack() {
            complain(lack)
            exit(1)
        }
        // A worker begins with looks.
        tandem_limit_arenas(1)
        tandem_tune_allocator(1)
        for number in [SIGPIPE, SIGXFSZ, SIGINT, SIGHUP] { signal(number, SIG_IGN) }
        limit(RLIMIT_CORE, to: 0)
        limit(RLIMIT_NOFILE, to: 512)
        let channel = MessageChannel(descriptor)
        var buffer = MessageBuffer()
        let arguments = hear(channel, &buffer)
        // What the supervisor's look twice a second may miss: twice what it allows, and room for threads' stacks.
        if arguments.memory > 0 { limit(RLIMIT_DATA, to: rlim_t(clamping: arguments.memory &* 2 &+ 1 << 30)) }
        var lacking: Int32 = 0
        if arguments.isLockedDown {
            FilterGraph.prepareForLocking()
            lacking = lockDown(arguments, seesOwnThreadsAlone: seesOwnThreadsAlone)
            // The way there may be closed, but not the folder.
            if !arguments.folder.isEmpty { PassFiles.base.withLock { $0 = "." } }
        } else {
            PassFiles.base.withLock { $0 = arguments.folder }
        }
        var environment = MediaEnvironment(
            sources: SourceEnvironment(allowsNetwork: arguments.mayUseNetwork),
            // Each may keep a hole of the heap open (`tandem_tune_allocator`): a gigabyte of them at most.
            memory: AssetCache(limit: 500))
        environment.folder = PassFiles.base.withLock { $0 }
        guard channel.send(WorkerMessage.Report.ready(version: WorkerMessage.version, lacking: lacking))
        else {
            exit(1)
        }
        // A thread made from here on is as locked down as this one.
        listen(channel, buffer, environment)
    }

    /// Waits for what it may do, which comes first.
    private static func hear(_ channel: MessageChannel, _ buffer: inout MessageBuffer) -> Arguments {
        while true {
            if case .end = buffer.fill(from: channel.descriptor) { _exit(0) }
            do {
                guard let order = try buffer.next(WorkerMessage.Order.self) else { continue }
                if case .begin(let arguments) = order { return arguments }
            } catch {
                complain("an order can't be read: \(error)")
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

    /// Takes from this process what it doesn't need; what could not be taken, as bits.
    private static func lockDown(_ arguments: Arguments, seesOwnThreadsAlone: Bool) -> Int32 {
        var user = geteuid() == 0 ? users.first + UInt32(getpid()) % users.count : 0
        var folder: UnsafeMutablePointer<CChar>?
        if !arguments.folder.isEmpty {
            folder = strdup("\(arguments.folder)/\(getpid())")
            guard let folder, mkdir(folder, 0o700) == 0 else {
                complain("the folder for two passes can't be made: \(String(cString: strerror(errno)))")
                _exit(1)
            }
            // Root of a container that has no other users: what is lacking is said.
            if user != 0, chown(folder, user, user) != 0 { user = 0 }
        }
        defer { free(folder) }
        let paths =
            readable + [seesOwnThreadsAlone ? "/proc/self" : "/proc"]
            + (arguments.mayUseNetwork ? readableForNetwork : [])
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

    /// This thread hears; it is never busy, so that it notices at once when nobody is there any more. `buffer` has what came
    /// after the first order.
    private static func listen(
        _ channel: MessageChannel, _ buffer: consuming MessageBuffer, _ environment: MediaEnvironment
    ) -> Never {
        let current = Current()
        // Held by name: nothing after it says that it is still needed, as this never returns.
        ticker.withLock { $0 = Ticker { if !current.report(to: channel) { _exit(0) } } }
        while true {
            do {
                while let order = try buffer.next(WorkerMessage.Order.self) {
                    switch order {
                    case .begin: continue
                    case .cancel:
                        if case .work(let job) = current.doing.withLock({ $0 }) { job.cancel() }
                    case .images(let place, let count):
                        current.take(buffer.takeDescriptors(count), from: place)
                    case .work(let work): begin(work, buffer.takeDescriptors(), environment, channel, current)
                    case .look(let look): begin(look, buffer.takeDescriptors(), environment, channel, current)
                    case .escape(let path, let process):
                        if !channel.send(WorkerMessage.Report.escaped(SandboxFinding.all(path, process))) {
                            _exit(0)
                        }
                    }
                }
            } catch {
                complain("an order can't be read: \(error)")
                _exit(1)
            }
            if case .end = buffer.fill(from: channel.descriptor) { _exit(0) }
        }
    }

    private static func begin(
        _ work: WorkerMessage.Work, _ descriptors: [Int32], _ environment: MediaEnvironment,
        _ channel: MessageChannel, _ current: Current
    ) {
        work.fault?.inject(channel)
        let outputs = work.plan.outputs.count
        let own = outputs + (work.hasScratch ? 1 : 0)
        guard work.plan.isSound, descriptors.count == own + work.sources.count else {
            complain("an order without its files")
            _exit(1)
        }
        let files = descriptors.prefix(outputs).map { TemporaryFile(lent: $0) }
        let scratch = work.hasScratch ? TemporaryFile(lent: descriptors[outputs]) : nil
        var environment = environment
        let requested = work.plan.requestedFiles
        let requests = FileRequests(requested) { place in
            channel.send(WorkerMessage.Report.wants(place))
        }
        let lent = PassedDescriptors { requests.fetch($0) }
        current.images.withLock { $0 = Current.Images(files: requested, requests: requests, lent: lent) }
        for file in files { lent.lend(file.descriptor, for: file.reopenPath) }
        for (path, descriptor) in zip(work.sources, descriptors.dropFirst(own)) {
            lent.lend(descriptor, for: path)
        }
        environment.sources.lent = lent
        var order = WorkOrder(
            plan: work.plan, outputs: files, scratch: scratch, makesPreview: work.makesPreview)
        order.isAlone = true
        order.onlyJudges = work.onlyJudges
        let job = JobWork(order, in: environment) { @Sendable findings in
            if !channel.send(WorkerMessage.Report.checked(findings)) { _exit(0) }
            work.fault?.injectAfterOutput()
        }
        current.doing.withLock { $0 = .work(job) }
        job.start { @Sendable outcome in
            current.doing.withLock { $0 = .nothing }
            current.images.withLock { $0 = nil }
            requests.end()
            lent.takeBack()
            for descriptor in descriptors.dropFirst(own) { close(descriptor) }
            withExtendedLifetime((files, scratch)) {}
            let outcome = work.fault?.altered(outcome) ?? outcome
            if !channel.send(WorkerMessage.Report.done(outcome)) { _exit(0) }
        }
    }

    private static let looking = DispatchQueue(label: "tandem.look")

    /// A look is never cancelled: its answer may be of use to others.
    private static func begin(
        _ look: WorkerMessage.Look, _ descriptors: [Int32], _ environment: MediaEnvironment,
        _ channel: MessageChannel, _ current: Current
    ) {
        look.fault?.inject(channel)
        guard descriptors.count == (look.isLent ? 1 : 0) else {
            complain("a question without its file")
            _exit(1)
        }
        var environment = environment
        let lent = PassedDescriptors()
        if let descriptor = descriptors.first, let path = look.question.path {
            lent.lend(descriptor, for: path)
        }
        environment.sources.lent = lent
        let prober = LocalProber(environment)
        current.doing.withLock { $0 = .look }
        looking.async { @Sendable in
            tandem_tune_allocator(1)
            var sight: Sight
            do throws(SourceProblem) {
                sight = .answer(try prober.answer(look.question))
            } catch {
                sight = .problem(error)
            }
            sight = look.fault?.altered(sight) ?? sight
            current.doing.withLock { $0 = .nothing }
            lent.takeBack()
            for descriptor in descriptors { close(descriptor) }
            if !channel.send(WorkerMessage.Report.seen(sight)) { _exit(0) }
        }
    }
}
