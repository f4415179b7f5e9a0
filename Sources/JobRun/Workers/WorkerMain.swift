internal import CLinux
internal import Dispatch
internal import Glibc
internal import LibAV
internal import Locking
internal import Media

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

    /// Writes a message to standard error, which the supervisor reports if the worker dies.
    static func printError(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        write(STDERR_FILENO, bytes, bytes.count)
    }

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
        WorkerSandbox.applyFixedLimits()
        let channel = MessageChannel(descriptor)
        var buffer = MessageBuffer()
        let arguments = receiveArguments(channel, &buffer)
        let sandbox = WorkerSandbox(arguments, seesOwnThreadsAlone: seesOwnThreadsAlone)
        sandbox.limitMemory()
        var lacking: Int32 = 0
        // The files of the control group are inaccessible in the sandbox.
        _ = Processors.current
        if arguments.isLockedDown {
            FilterGraph.prepareForLocking()
            lacking = sandbox.enter()
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

    /// Receives orders on this thread. It executes no work itself, and therefore detects immediately that the
    /// supervisor has exited. `buffer` contains the bytes received after the first message.
    private static func receiveOrders(
        _ channel: MessageChannel, _ buffer: consuming MessageBuffer, _ environment: MediaEnvironment
    ) -> Never {
        let executor = OrderExecutor(environment, channel: channel)
        // Stored in a static property to keep the timer alive: this function never returns.
        ticker.withLock { $0 = Ticker { if !executor.reportProgress() { _exit(0) } } }
        while true {
            do {
                while let order = try buffer.next(WorkerMessage.Order.self) {
                    switch order {
                    case .begin: continue
                    case .cancel: executor.cancel()
                    #if DEBUG
                        case .inject(let fault): executor.setFault(fault)
                    #endif
                    case .images(let position, let count):
                        executor.take(buffer.takeDescriptors(count), from: position)
                    case .work(let work): executor.begin(work, buffer.takeDescriptors())
                    case .probe(let probe): executor.begin(probe, buffer.takeDescriptors())
                    case .testSandbox(let path, let process): executor.testSandbox(path, process)
                    }
                }
            } catch {
                printError("an order can't be read: \(error)")
                _exit(1)
            }
            if case .closed = buffer.fill(from: channel.descriptor) { _exit(0) }
        }
    }
}
