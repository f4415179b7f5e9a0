internal import CLinux
internal import Diagnostics
internal import Dispatch
internal import ExactStrings
internal import FileSystem
internal import FoundationEssentials
internal import Glibc
package import JobPlan
package import LibAV
internal import Locking
internal import Media
internal import Publishing

/// A pool of worker processes that execute jobs and probe sources. Each worker is reused for many jobs. If a worker
/// dies, only its job fails.
package final class WorkerPool: WorkPerformer, SourceProber, Sendable {
    package struct Options: Sendable {
        /// Whether workers are sandboxed (Landlock, seccomp, `no_new_privs`).
        package var isLockedDown = true
        /// Maximum resident memory of a worker in bytes; nil for no limit.
        package var memory: Int64?
        /// Whether workers only probe sources and therefore need no writable folder.
        package var onlyProbes = false
        /// Number of jobs after which a worker is replaced by a new one.
        package var jobsPerWorker = 1000
        package init() {}
    }

    private struct Workers: Sendable {
        var idle: [WorkerProcess] = []
        var all: [ObjectIdentifier: WorkerProcess] = [:]
        /// Worker that last probed each source, and has its contents cached.
        var workersByProbedPath: [ExactString: ObjectIdentifier] = [:]

        /// Removes and returns an idle worker with or without network access: preferably the one that probed the
        /// source.
        mutating func takeIdle(for path: String?, network: Bool) -> WorkerProcess? {
            if let path, let worker = workersByProbedPath.removeValue(forKey: path.exact),
                let index = idle.lastIndex(where: {
                    ObjectIdentifier($0) == worker && $0.hasNetwork == network
                })
            {
                return idle.remove(at: index)
            }
            return idle.firstIndex { $0.hasNetwork == network }.map { idle.remove(at: $0) }
        }
        var missingParts: Int32?
        var isClosed = false
    }

    private let options: Options
    /// Access to sources, and the root beneath which all files must be.
    package let environment: SourceEnvironment
    /// Cache of settings that were validated against an encoder.
    package let trials = SettingsValidationCache()
    private let limits: WorkerLimits
    #if DEBUG
        private let faults: WorkerFaultQueue
    #endif
    /// Folder in which workers may write two-pass statistics; empty if they only probe.
    package let folder: String
    private let workers: Guarded<Workers>
    private let firstWorkerReady = DispatchSemaphore(value: 0)

    /// Creates a pool without workers. Two-pass statistics are written to the state folder, which only this run uses;
    /// files of earlier workers there are removed. Without a state they are written to the system's temporary folder.
    package init(
        _ options: Options, environment: SourceEnvironment, in state: StateFolder?
    ) throws(StateError) {
        self.options = options
        self.environment = environment
        let base = state?.absolute ?? SystemFolders.temporary
        if let state {
            for name in (try? FileManager.default.contentsOfDirectory(atPath: state.path)) ?? []
            where name.hasPrefix("workers-") {
                try? FileManager.default.removeItem(atPath: state.path + "/" + name)
            }
        }
        if options.onlyProbes {
            folder = ""
        } else {
            var template = Array("\(base)/workers-XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else {
                throw StateError(
                    "a folder for workers in \(base) can't be created: \(String(cString: strerror(errno)))")
            }
            folder = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        }
        #if DEBUG
            var limits = WorkerLimits(memory: options.memory)
            faults = WorkerFaultQueue(&limits)
        #else
            let limits = WorkerLimits(memory: options.memory)
        #endif
        workers = Guarded(Workers())
        self.limits = limits
    }

    /// Starts an idle worker, so that it is ready for the first job.
    package func prestart() {
        guard workers.withLock({ $0.all.isEmpty }), let worker = try? start(network: false) else { return }
        workers.withLock { $0.idle.append(worker) }
    }

    /// Ends all workers, which must be idle, without waiting for their processes.
    package func dismiss() {
        let all = workers.withLock { workers in
            workers.isClosed = true
            workers.idle = []
            return Array(workers.all.values)
        }
        for worker in all { worker.dismiss() }
    }

    /// Ends all workers and waits for their processes.
    package func close() {
        dismiss()
        for worker in workers.withLock({ Array($0.all.values) }) { worker.waitForExit() }
        if !folder.isEmpty { try? FileManager.default.removeItem(atPath: folder) }
    }

    /// Executes the work in a worker (`WorkPerformer`). If the worker dies before it receives the order, another one is
    /// tried.
    package nonisolated(nonsending) func perform(_ order: WorkOrder) async -> WorkOutcome {
        func failed(_ why: String) -> WorkOutcome {
            .failed(JobFailure(why, at: order.plan.location, rule: .workerDied, isTransient: true))
        }
        #if DEBUG
            let fault = faults.next(for: order.plan.id)
        #endif
        for _ in 0..<Self.maxDeliveries {
            let worker: WorkerProcess
            do {
                worker = try take(for: order.plan.sourcePaths.first, network: order.plan.readsRemote)
            } catch {
                return failed("\(error)")
            }
            #if DEBUG
                if let fault { worker.inject(fault) }
            #endif
            guard let outcome = await worker.perform(order) else { continue }
            returnToPool(worker)
            return outcome
        }
        return failed(Self.noWorkerStarts)
    }

    /// Maximum number of workers to which an order is sent, if they exit before they receive it.
    private static let maxDeliveries = 5
    private static let noWorkerStarts = "workers exit before they start"

    /// Returns true if the worker that probed the job's source is idle, or if no worker has probed it
    /// (`WorkPerformer`).
    package func isPrepared(for job: JobPlan) -> Bool {
        guard let path = job.sourcePaths.first else { return true }
        return workers.withLock { workers in
            guard let worker = workers.workersByProbedPath[path.exact] else { return true }
            return workers.idle.contains { ObjectIdentifier($0) == worker }
        }
    }

    /// Probes a source in a worker (`SourceProber`).
    package func respond(to request: ProbeRequest) throws(SourceProblem) -> ProbeResponse {
        var hasDied = false
        for _ in 0..<Self.maxDeliveries {
            let worker: WorkerProcess
            do {
                let network = request.path.map(SourceLocation.isRemote) ?? false
                worker = try take(for: nil, network: network)
            } catch {
                throw SourceProblem("\(error)")
            }
            #if DEBUG
                if let fault = faults.next(for: request.path?.pathParts.last ?? "trial") {
                    worker.inject(fault)
                }
            #endif
            switch Self.ending(of: { worker.probe(request, completion: $0) }) {
            case .notDelivered, .done, .cancelled, .sandboxTested: continue
            case .died(_, byItself: true) where !hasDied:
                // Another process may have killed the worker. If a second one dies as well, the source is assumed to be
                // the cause.
                hasDied = true
            case .died(let why, _):
                throw SourceProblem(
                    request.path == nil
                        ? "the worker that validated it died: \(why)"
                        : "the worker that probed it died: \(why)")
            case .probed(let reply):
                if let path = request.path {
                    workers.withLock { $0.workersByProbedPath[path.exact] = ObjectIdentifier(worker) }
                }
                returnToPool(worker)
                switch reply {
                case .response(let response): return response
                case .failure(let problem): throw problem
                }
            }
        }
        throw SourceProblem(Self.noWorkerStarts)
    }

    /// Starts an assignment and blocks the caller until it has ended.
    private static func ending(
        of start: (_ completion: @escaping @Sendable (WorkerAssignment.Ending) -> Void) -> Void
    ) -> WorkerAssignment.Ending {
        let result = Guarded(WorkerAssignment.Ending.notDelivered)
        let ended = DispatchSemaphore(value: 0)
        start { @Sendable ending in
            result.withLock { $0 = ending }
            ended.signal()
        }
        ended.wait()
        return result.withLock { $0 }
    }

    private func returnToPool(_ worker: WorkerProcess) {
        let isUsedUp = worker.completedTasks >= options.jobsPerWorker
        let isKept = workers.withLock { workers in
            guard workers.all[ObjectIdentifier(worker)] != nil, !workers.isClosed, !isUsedUp else {
                return false
            }
            workers.idle.append(worker)
            return true
        }
        if !isKept {
            workers.withLock { _ = $0.all.removeValue(forKey: ObjectIdentifier(worker)) }
            worker.retire()
        }
    }

    /// Takes an idle worker or starts one. Workers with network access only fetch URLs, so that a worker that reads
    /// local files can't send them.
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

    private func ready(_ missing: Int32) {
        let isFirst = workers.withLock { workers in
            defer { workers.missingParts = missing }
            return workers.missingParts == nil
        }
        if isFirst { firstWorkerReady.signal() }
    }

    /// Returns the names of the sandbox parts that could not be enabled; nil if no worker has reported them yet. Waits
    /// for the first worker for at most `seconds`.
    package func missingSandboxParts(within seconds: Double) -> [String]? {
        if seconds > 0, workers.withLock({ $0.missingParts }) == nil {
            _ = firstWorkerReady.wait(timeout: .now() + seconds)
        }
        guard let bits = workers.withLock({ $0.missingParts }) else { return nil }
        return SandboxParts(rawValue: bits).partNames
    }

    /// Attempts the actions that a sandbox must deny in a worker, on a file to which it has no access. Returns nil if
    /// no worker can be started, or if it dies.
    package func testSandbox(from path: String, network: Bool = false) -> [SandboxFinding]? {
        guard let worker = try? take(for: nil, network: network) else { return nil }
        let ending = Self.ending { worker.testSandbox(from: path, completion: $0) }
        returnToPool(worker)
        if case .sandboxTested(let findings) = ending { return findings }
        return nil
    }
}
