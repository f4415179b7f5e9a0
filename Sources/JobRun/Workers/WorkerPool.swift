internal import CLinux
internal import Diagnostics
internal import Dispatch
internal import ExactStrings
internal import FoundationEssentials
internal import Glibc
package import JobPlan
package import LibAV
internal import Locking
internal import Media
internal import Publishing

/// Does work, and looks into sources, in processes of its own, each kept for many jobs: what brings one of them down is
/// that job's failure.
package final class WorkerPool: WorkPerformer, SourceProber, Sendable {
    /// How workers are kept.
    package struct Options: Sendable {
        /// They take from themselves what they don't need (`no_new_privs`, Landlock).
        package var isLockedDown = true
        /// Bytes of memory that one may take; nil for no limit.
        package var memory: Int64?
        /// They only look into sources: nothing is ever written.
        package var onlyLooks = false
        /// A worker is replaced after so many jobs.
        package var jobsEach = 1000
        /// As usual.
        package init() {}
    }

    private struct Workers: Sendable {
        var idle: [WorkerProcess] = []
        var all: [ObjectIdentifier: WorkerProcess] = [:]
        /// Which worker looked into a source: it need not find out again what it is.
        var lookers: [ExactString: ObjectIdentifier] = [:]

        /// One that waits, the one that knows a source where that can be; with the network or without.
        mutating func takeIdle(for path: String?, network: Bool) -> WorkerProcess? {
            if let path, let looker = lookers.removeValue(forKey: path.exact),
                let index = idle.lastIndex(where: {
                    ObjectIdentifier($0) == looker && $0.hasNetwork == network
                })
            {
                return idle.remove(at: index)
            }
            return idle.firstIndex { $0.hasNetwork == network }.map { idle.remove(at: $0) }
        }
        var lacking: Int32?
        var isClosed = false
    }

    private let options: Options
    /// Through what sources are reached, and beneath what everything lies.
    package let environment: SourceEnvironment
    /// What was found of settings.
    package let trials = TrialCache()
    private let limits: WorkerProcess.Limits
    private let faults: WorkerFaultQueue
    /// What workers may write in: their encoders' notes. Empty where they only look.
    package let folder: String
    private let workers: Guarded<Workers>
    private let firstIsReady = DispatchSemaphore(value: 0)

    /// A pool without workers. What encoders note between two passes lies in the state's folder, which only this run
    /// uses: what dead ones left there is removed. Without one it lies where temporary files do.
    package init(
        _ options: Options, environment: SourceEnvironment, in state: StateFolder?
    ) throws(StateError) {
        self.options = options
        self.environment = environment
        let told = getenv("TMPDIR").map { String(cString: $0) }
        let base = state?.absolute ?? told.flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        if let state {
            for name in (try? FileManager.default.contentsOfDirectory(atPath: state.path)) ?? []
            where name.hasPrefix("workers-") {
                try? FileManager.default.removeItem(atPath: state.path + "/" + name)
            }
        }
        if options.onlyLooks {
            folder = ""
        } else {
            var template = Array("\(base)/workers-XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else {
                throw StateError(
                    "a folder for workers in \(base) can't be made: \(String(cString: strerror(errno)))")
            }
            folder = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        }
        var limits = WorkerProcess.Limits(memory: options.memory)
        faults = WorkerFaultQueue(&limits)
        workers = Guarded(Workers())
        self.limits = limits
    }

    /// Starts a worker that waits, so that it is there when the first job is.
    package func warm() {
        guard workers.withLock({ $0.all.isEmpty }), let worker = try? start(network: false) else { return }
        workers.withLock { $0.idle.append(worker) }
    }

    /// Lets all workers go, which have nothing to do any more; their processes end beside what comes until `close`.
    package func dismiss() {
        let all = workers.withLock { workers in
            workers.isClosed = true
            workers.idle = []
            return Array(workers.all.values)
        }
        for worker in all { worker.dismiss() }
    }

    /// Lets all workers go, and waits for their processes.
    package func close() {
        dismiss()
        for worker in workers.withLock({ Array($0.all.values) }) { worker.bury() }
        if !folder.isEmpty { try? FileManager.default.removeItem(atPath: folder) }
    }

    /// Begins; see `WorkPerformer`.
    package func perform(
        _ order: WorkOrder, completion: @escaping @Sendable (WorkOutcome) -> Void
    ) -> any WorkHandle {
        let handle = PooledWork()
        let fault = faults.next(for: order.plan.id)
        assign(order, fault: fault, to: handle, attempt: 1, completion)
        return handle
    }

    /// See `WorkPerformer`.
    package func isPrepared(for job: JobPlan) -> Bool {
        guard let path = job.sourcePaths.first else { return true }
        return workers.withLock { workers in
            guard let looker = workers.lookers[path.exact] else { return true }
            return workers.idle.contains { ObjectIdentifier($0) == looker }
        }
    }

    /// Looks into a source; see `SourceProber`.
    package func answer(_ question: ProbeRequest) throws(SourceProblem) -> ProbeResponse {
        let name = question.path?.pathParts.last ?? "trial"
        var hasDied = false
        for _ in 0..<5 {
            let fault = faults.next(for: name)
            let worker: WorkerProcess
            do {
                let network = question.path.map(SourceLocation.isRemote) ?? false
                worker = try take(for: nil, network: network)
            } catch {
                throw SourceProblem("\(error)")
            }
            let found = Guarded(WorkerProcess.LookEnding.notTaken)
            let ended = DispatchSemaphore(value: 0)
            worker.look(question, fault: fault) { @Sendable ending in
                found.withLock { $0 = ending }
                ended.signal()
            }
            ended.wait()
            switch found.withLock({ $0 }) {
            case .notTaken: continue
            case .died(_, byItself: true) where !hasDied:
                // Somebody may have killed it; whom a second one follows, it is the source.
                hasDied = true
            case .died(let why, _):
                throw SourceProblem(
                    question.path == nil
                        ? "the worker that tried it died: \(why)"
                        : "the worker that looked into it died: \(why)")
            case .seen(let sight):
                if let path = question.path {
                    workers.withLock { $0.lookers[path.exact] = ObjectIdentifier(worker) }
                }
                takeBack(worker)
                switch sight {
                case .answer(let answer): return answer
                case .problem(let problem): throw problem
                }
            }
        }
        throw SourceProblem("workers die before they begin")
    }

    /// A worker that was dead before it took the order is no failure of the job.
    private func assign(
        _ order: WorkOrder, fault: WorkerFault?, to handle: PooledWork, attempt: Int,
        _ completion: @escaping @Sendable (WorkOutcome) -> Void
    ) {
        let worker: WorkerProcess
        guard let output = order.outputs.first else {
            return completion(.failed(JobFailure("an order without an output", at: order.plan.location)))
        }
        do {
            let paths = order.plan.sourcePaths
            worker = try take(for: paths.first, network: order.plan.readsRemote)
        } catch {
            return completion(
                .failed(JobFailure("\(error)", at: order.plan.location, rule: .workerDied, isTransient: true))
            )
        }
        handle.begin(worker, output)
        worker.perform(order, fault: fault) { @Sendable outcome in
            guard let outcome else {
                if attempt < 5 {
                    return self.assign(order, fault: fault, to: handle, attempt: attempt + 1, completion)
                }
                return completion(
                    .failed(
                        JobFailure(
                            "workers die before they begin", at: order.plan.location, rule: .workerDied,
                            isTransient: true)))
            }
            handle.end()
            self.takeBack(worker)
            completion(outcome)
        }
        handle.follow(worker, output)
    }

    private func takeBack(_ worker: WorkerProcess) {
        let isWorn = worker.jobsDone >= options.jobsEach
        let stays = workers.withLock { workers in
            guard workers.all[ObjectIdentifier(worker)] != nil, !workers.isClosed, !isWorn else {
                return false
            }
            workers.idle.append(worker)
            return true
        }
        if !stays {
            workers.withLock { _ = $0.all.removeValue(forKey: ObjectIdentifier(worker)) }
            worker.retire()
        }
    }

    /// A worker that has nothing to do. Those that fetch by URL do nothing else: what reads a file has no network.
    private func take(for path: String?, network: Bool) throws -> WorkerProcess {
        try workers.withLock { $0.takeIdle(for: path, network: network) } ?? start(network: network)
    }

    private func start(network: Bool) throws -> WorkerProcess {
        var arguments = WorkerMain.Arguments()
        arguments.isLockedDown = options.isLockedDown
        arguments.mayUseNetwork = network && environment.allowsNetwork
        arguments.folder = folder
        arguments.memory = limits.memory ?? 0
        let worker = try WorkerProcess(
            arguments, root: environment.root, limits: limits,
            onReady: { @Sendable [weak self] in self?.ready($0) },
            onDeath: { @Sendable [weak self] worker in
                self?.workers.withLock { workers in
                    workers.all[ObjectIdentifier(worker)] = nil
                    workers.idle.removeAll { $0 === worker }
                }
            })
        workers.withLock { $0.all[ObjectIdentifier(worker)] = worker }
        return worker
    }

    private func ready(_ lacking: Int32) {
        let isFirst = workers.withLock { workers in
            defer { workers.lacking = lacking }
            return workers.lacking == nil
        }
        if isFirst { firstIsReady.signal() }
    }

    /// What workers could not be kept from, in words; nil while none has said so. Waits for the first at most so long.
    package func lacking(within seconds: Double) -> [String]? {
        if seconds > 0, workers.withLock({ $0.lacking }) == nil {
            _ = firstIsReady.wait(timeout: .now() + seconds)
        }
        guard let bits = workers.withLock({ $0.lacking }) else { return nil }
        return SandboxParts(rawValue: bits).words
    }

    /// Has a worker try what its sandbox forbids, on a file that it was not given; nil where none could be started.
    package func escape(from path: String, network: Bool = false) -> [SandboxFinding]? {
        guard let worker = try? take(for: nil, network: network) else { return nil }
        let found = Guarded<[SandboxFinding]?>(nil)
        let ended = DispatchSemaphore(value: 0)
        worker.escape(from: path) { @Sendable findings in
            found.withLock { $0 = findings }
            ended.signal()
        }
        ended.wait()
        takeBack(worker)
        return found.withLock { $0 }
    }
}

/// Work that some worker of a pool does.
private final class PooledWork: WorkHandle, Sendable {
    private struct State: Sendable {
        var worker: WorkerProcess?
        /// Tells the work from others that the worker does later.
        var output: TemporaryFile?
        var isCancelled = false
        var hasEnded = false
    }
    private let state = Guarded(State())

    /// Before the worker gets the work: what it answers at once comes later than this.
    func begin(_ worker: WorkerProcess, _ output: TemporaryFile) {
        state.withLock { state in
            if !state.hasEnded { (state.worker, state.output) = (worker, output) }
        }
    }

    /// After it got it: a cancel that came before went nowhere.
    func follow(_ worker: WorkerProcess, _ output: TemporaryFile) {
        if state.withLock({ $0.isCancelled && !$0.hasEnded }) { worker.cancel(output) }
    }

    func end() {
        state.withLock { state in
            state.hasEnded = true
            (state.worker, state.output) = (nil, nil)
        }
    }

    func cancel() {
        let (worker, output) = state.withLock { state in
            state.isCancelled = true
            return (state.worker, state.output)
        }
        if let worker, let output { worker.cancel(output) }
    }

    var progress: WorkProgress { state.withLock { $0.worker }?.progress ?? WorkProgress() }
}
