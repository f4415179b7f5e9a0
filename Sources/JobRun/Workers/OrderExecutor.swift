internal import CLinux
internal import Dispatch
internal import Glibc
internal import JobPlan
internal import LibAV
internal import Locking
internal import Media
internal import Publishing

/// The executor of a worker's orders, one at a time. Shared by the thread that receives orders, the timer and
/// the task itself.
final class OrderExecutor: Sendable {
    private enum CurrentTask {
        case idle
        case work(WorkMonitor, Task<Void, Never>)
        case probe
    }

    private let channel: MessageChannel
    private let environment: MediaEnvironment
    private let task = Guarded(CurrentTask.idle)
    /// Files of the current order.
    private let lent = Guarded<LentFiles?>(nil)
    private let probeQueue = DispatchQueue(label: "tandem.probe")
    #if DEBUG
        /// Fault of the next task.
        private let fault = Guarded<WorkerFault?>(nil)
    #endif

    init(_ environment: MediaEnvironment, channel: MessageChannel) {
        self.environment = environment
        self.channel = channel
    }

    /// Reports progress if a task is running. Returns false if the supervisor has closed the channel.
    func reportProgress() -> Bool {
        let progress: WorkProgress
        switch task.withLock({ $0 }) {
        case .idle: return true
        case .work(let monitor, _): progress = monitor.progress
        case .probe: progress = WorkProgress()
        }
        return channel.send(WorkerMessage.Report.progress(progress, activity: Activity.count))
    }

    /// Cancels the current work. Probes aren't cancelled, because other jobs may need the response.
    func cancel() {
        if case .work(_, let job) = task.withLock({ $0 }) { job.cancel() }
    }

    /// Registers the descriptors of requested files, and closes those that are not needed.
    func take(_ descriptors: [Int32], from position: WorkerMessage.ImageIndex) {
        if let lent = lent.withLock({ $0 }), lent.register(descriptors, from: position) { return }
        for descriptor in descriptors { close(descriptor) }
    }

    // MARK: Faults

    #if DEBUG
        /// Sets the fault of the next task.
        func setFault(_ fault: WorkerFault) { self.fault.withLock { $0 = fault } }

        /// Injects the fault before the task starts. Returns it for later stages of the task.
        private func injectFault() -> WorkerFault? {
            let fault = fault.withLock { $0.take() }
            fault?.inject(channel)
            return fault
        }
    #endif

    // MARK: Tasks

    /// Starts work. `descriptors` are those of outputs, scratch file and sources.
    func begin(_ work: WorkerMessage.Work, _ descriptors: [Int32]) {
        #if DEBUG
            let fault = injectFault()
        #endif
        let outputs = work.plan.outputs.count(where: \.isPublished)
        let own = outputs + (work.hasScratch ? 1 : 0)
        guard work.plan.isValid, descriptors.count == own + work.sources.count else {
            WorkerMain.printError("the work order is invalid, or its number of files is wrong")
            _exit(1)
        }
        let files = descriptors.prefix(outputs).map { TemporaryFile(passed: $0) }
        let scratch = work.hasScratch ? TemporaryFile(passed: descriptors[outputs]) : nil
        let lent = LentFiles(
            written: files + [scratch].compactMap(\.self), sources: Array(descriptors.dropFirst(own)),
            paths: work.sources, requested: work.plan.requestedFiles, channel: channel)
        var order = WorkOrder(
            plan: work.plan, outputs: files, scratch: scratch, makesPreview: work.makesPreview)
        order.ownsProcess = true
        order.task = work.task
        order.sharesProcessors = work.sharesProcessors
        order.onChecked = { @Sendable findings in
            self.send(.checked(findings))
            #if DEBUG
                fault?.injectAfterOutput()
            #endif
        }
        let job = JobWork(order, in: taking(lent))
        // The task can only end after it is stored.
        task.withLock { task in
            task = .work(
                order.monitor,
                Task {
                    let outcome = await job.run()
                    self.end(lent)
                    withExtendedLifetime((files, scratch)) {}
                    #if DEBUG
                        let reported = fault?.altered(outcome) ?? outcome
                    #else
                        let reported = outcome
                    #endif
                    self.send(.done(reported))
                })
        }
    }

    /// Starts a probe. `descriptors` contains that of a local source.
    func begin(_ probe: WorkerMessage.Probe, _ descriptors: [Int32]) {
        #if DEBUG
            let fault = injectFault()
        #endif
        guard descriptors.count == (probe.hasDescriptor ? 1 : 0) else {
            WorkerMain.printError("the request has no file, or one too many")
            _exit(1)
        }
        let lent = LentFiles(
            sources: descriptors, paths: [probe.request.path].compactMap(\.self),
            requested: probe.request.requestedFiles, channel: channel)
        let prober = LocalProber(taking(lent))
        task.withLock { $0 = .probe }
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
            self.end(lent)
            self.send(.probed(reported))
        }
    }

    /// Attempts the actions that the sandbox must deny, on the file at `path` and on `process`, and reports
    /// the results.
    func testSandbox(_ path: String, _ process: Int32) {
        send(.sandboxTested(SandboxFinding.all(path, process)))
    }

    /// Stores the files of the current order, and returns an environment that reads them.
    private func taking(_ files: LentFiles) -> MediaEnvironment {
        lent.withLock { $0 = files }
        var environment = environment
        environment.sources.descriptors = files.descriptors
        return environment
    }

    /// Ends the current task: its progress is no longer reported, and its files are revoked.
    private func end(_ files: LentFiles) {
        task.withLock { $0 = .idle }
        lent.withLock { $0 = nil }
        files.revoke()
    }

    /// Sends a report. Exits if the supervisor has closed the channel.
    private func send(_ report: WorkerMessage.Report) {
        if !channel.send(report) { _exit(0) }
    }
}
