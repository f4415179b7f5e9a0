internal import Diagnostics
internal import Dispatch
internal import ExactStrings
public import JobPlan
package import JobSpec
internal import LibAV
internal import Media
internal import Synchronization
internal import Publishing

/// A receiver of a batch's events. Called on a private queue, one call at a time.
public protocol RunObserver: Sendable {
    /// Receives the start of a job.
    func jobStarted(_ plan: JobPlan)
    /// Receives the end of a job.
    func jobFinished(_ record: JobRecord)
}

/// The progress of a running job.
public struct RunningJob: Sendable {
    /// The job's id.
    public var id: String
    /// The job file.
    public var file: String
    /// Completed fraction, from 0 to 1.
    public var fraction: Double
    /// Processed media in seconds.
    public var media: Double
    /// Wall-clock seconds since the current attempt started.
    public var elapsed: Double

    /// Processed media in seconds per second of wall-clock time.
    public var speed: Double { elapsed > 0 ? media / elapsed : 0 }
    /// Estimated seconds until the job ends at this speed; nil while the completed fraction is at most 0.001.
    public var remaining: Double? { fraction > 0.001 ? elapsed / fraction * (1 - fraction) : nil }
}

/// The run of a batch: several jobs concurrently, each after its dependencies, in one dispatch group.
///
/// An actor with its own queue, on which callbacks of jobs, timers and signals run in order.
package actor BatchRunner {
    let plan: BatchPlan
    private let files: [JobFile]
    let policy: RunPolicy
    let state: RunState?
    private let performer: any WorkPerformer
    let prober: any SourceProber
    private let observer: any RunObserver
    let sources: Set<SourceFileKey>
    private let control = QueueExecutor(label: "tandem.batch")
    /// The executor of the actor's queue (`Actor`).
    package nonisolated var unownedExecutor: UnownedSerialExecutor { control.asUnownedSerialExecutor() }
    private let group = DispatchGroup()
    private var queue: JobQueue
    private var budget: ResourceBudget
    /// Jobs with an instance that did not succeed, by the ids in the job files.
    var failures: Set<JobKey> = []
    /// Jobs that have an instance, by the ids in the job files.
    let bases: Set<JobKey>
    /// A running job.
    struct Running {
        let executor: JobExecutor
        let cost: JobCost
        let lane: Int
        let begun: Double
        /// File systems that the job's output and its two-pass statistics fill, with the estimated bytes.
        let fills: [RunPolicy.FreeSpace]
        var attempts = 1
        /// Whether the work is done and the output is being published: the job's processors are free for other jobs.
        var isPublishing = false
    }
    var running: [JobKey: Running] = [:]
    /// Jobs being replanned: their source is the output of another job and is being probed.
    private var replanning: [JobKey: (job: JobPlan, cost: JobCost)] = [:]
    /// Jobs that wait for their next attempt.
    private var pausing: [JobKey: (plan: JobPlan, outcome: JobOutcome)] = [:]
    /// Number of jobs that ended without being started.
    private var notRun = 0
    var outcomes: [JobKey: JobOutcome] = [:]
    private var records: [JobRecord] = []
    private var started = 0
    private var previewsMade = 0
    /// Reason why no further jobs start; nil while jobs do.
    private var stop: String?
    private var isCancelled = false
    private let begun = DispatchTime.now()
    /// Folders that were already searched for temporary files of dead runs.
    var cleaned: Set<ExactString> = []
    let namesByFolder: [ExactString: Set<String>]
    /// Estimated seconds of work in all jobs, from which the remaining time is predicted.
    private let workInAll: Double
    private var workDone = 0.0

    /// Creates a runner of a plan. `files` are the job files that the plan was created from; `performer`
    /// carries out the work and `prober` probes sources that jobs created, in this process or in others;
    /// `state` records the outputs.
    package init(
        plan: BatchPlan, files: [JobFile], policy: RunPolicy = RunPolicy(), state: RunState? = nil,
        performer: any WorkPerformer, prober: any SourceProber,
        observer: any RunObserver
    ) {
        self.prober = prober
        self.plan = plan
        // Only jobs that read outputs of other jobs are replanned. Otherwise the job files, with up to ten thousand
        // jobs, are not kept.
        let isChained = plan.jobs.contains { !$0.readJobs.isEmpty }
        self.files = isChained ? files : []
        self.policy = policy
        self.state = state
        self.performer = performer
        self.observer = observer
        budget = policy.budget
        let work: (JobPlan) -> Double = { state?.seconds(of: $0) ?? JobCost($0).work }
        queue = JobQueue(plan, work: work)
        workInAll = plan.jobs.reduce(0) { $0 + work($1) }
        var names: [ExactString: Set<String>] = [:]
        let settled = plan.settled.flatMap(\.outputs).flatMap(\.files)
        for path in plan.jobs.flatMap(\.outputs).flatMap(\.files) + settled {
            let (folder, name) = Self.split(path)
            names[folder.exact, default: []].insert(name)
        }
        namesByFolder = names
        bases = Set(
            plan.jobs.map { JobKey(file: $0.file, id: $0.base) }
                + plan.settled.map { JobKey(file: $0.file, id: $0.base) }
                + plan.refusals.map { JobKey(file: $0.file, id: String($0.id.prefix { $0 != "[" })) })
        // Enter before `cancel` can be called.
        for _ in plan.jobs { group.enter() }
        sources = Set(plan.sourceFiles.map { SourceFileKey($0) })
    }

    static func split(_ path: String) -> (folder: String, name: String) {
        let slash = path.lastSlash ?? path.startIndex
        let folder = slash == path.startIndex && path.hasPrefix("/") ? "/" : String(path[..<slash])
        return (folder, String(path[slash...].dropFirst()))
    }

    /// Runs all jobs. Returns their records, in the order in which the jobs ended.
    package func run() async -> [JobRecord] {
        completeInterruptedSets()
        for settled in plan.settled {
            for output in settled.outputs { collectDeadParts(beside: output.destination) }
            note(settled)
        }
        for refusal in plan.refusals { refuse(refusal) }
        admit()
        await withCheckedContinuation { continuation in
            group.notify(queue: control.queue) { @Sendable in continuation.resume() }
        }
        return records
    }

    /// Runs `body` on the actor's queue, after earlier calls.
    private nonisolated func later(
        after pause: DispatchTimeInterval? = nil, _ body: @escaping @Sendable (isolated BatchRunner) -> Void
    ) {
        let work = { @Sendable in self.assumeIsolated { body($0) } }
        guard let pause else { return control.queue.async(execute: work) }
        control.queue.asyncAfter(deadline: .now() + pause, execute: work)
    }

    /// Starts no further job. Running jobs continue to their end.
    package nonisolated func stopAdmitting() {
        later { runner in
            runner.stop = runner.stop ?? "the run was interrupted"
            runner.admit()
        }
    }

    /// Cancels the running jobs and starts no further job.
    package nonisolated func cancel() { later { $0.cancelAll() } }

    private func cancelAll() {
        stop = stop ?? "the run was interrupted"
        isCancelled = true
        for job in running.values { job.executor.cancel() }
        let looked = replanning.values
        replanning = [:]
        for (job, cost) in looked {
            budget.give(back: cost)
            finish(job, .cancelled)
        }
        admit()
    }

    /// Returns the running jobs in the order of their starts, the number of jobs that have ended (without those that
    /// never start), the number of all jobs, and the estimated seconds until all have ended.
    package nonisolated func snapshot() -> (
        running: [RunningJob], finished: Int, total: Int, remaining: Double?
    ) {
        control.queue.sync { assumeIsolated { $0.told } }
    }

    private var told: (running: [RunningJob], finished: Int, total: Int, remaining: Double?) {
        let jobs = running.values.map(\.executor).sorted { $0.number < $1.number }.map { executor in
            let progress = executor.progress
            return RunningJob(
                id: executor.plan.id, file: executor.plan.file, fraction: progress.fraction,
                media: progress.media, elapsed: executor.elapsed)
        }
        let partly = running.values.reduce(0) {
            $0 + $1.executor.progress.fraction * work($1.executor.plan)
        }
        let done = workDone + partly
        let remaining = done > 0 && now > 2 ? now / done * max(0, workInAll - done) : nil
        return (
            jobs, outcomes.count - notRun, plan.jobs.count + plan.settled.count + plan.refusals.count,
            remaining
        )
    }

    private func refuse(_ refusal: BatchPlan.Refusal) {
        let key = JobKey(file: refusal.file, id: refusal.id)
        let first = refusal.diagnostics.first { $0.severity == .error }
        let failure = JobFailure(
            first?.message ?? "the job can't be planned", at: first?.range ?? .startOfFile(refusal.file),
            rule: first?.rule)
        outcomes[key] = .failed(failure)
        failures.insert(JobKey(file: refusal.file, id: String(refusal.id.prefix { $0 != "[" })))
        end(JobRecord(id: refusal.id, file: refusal.file, outcome: .failed(failure)))
    }

    private func note(_ settled: BatchPlan.Settled) {
        outcomes[JobKey(file: settled.file, id: settled.id)] = .upToDate
        var record = JobRecord(id: settled.id, file: settled.file, outcome: .upToDate)
        record.settled = settled.outputs
        end(record)
    }

    /// Adds a record, and passes it to the observer and the state.
    private func end(_ record: JobRecord) {
        records.append(record)
        observer.jobFinished(record)
        switch record.outcome {
        case .succeeded, .upToDate, .skipped: return
        case .failed(let failure):
            state?.ended(
                record.file, record.id, outcome: "failed", message: failure.message, seconds: record.seconds)
            if policy.failsFast { stop = stop ?? "a job failed, and `--fail-fast` is set" }
        case .cancelled:
            state?.ended(record.file, record.id, outcome: "cancelled", message: "", seconds: record.seconds)
        case .notRun(let why):
            state?.ended(record.file, record.id, outcome: "not run", message: why, seconds: 0)
        }
    }

    /// Starts all jobs that may start.
    private func admit() {
        while stop == nil {
            queue.bringForward { performer.isPrepared(for: plan.jobs[$0]) }
            guard let index = queue.next else { break }
            let job = plan.jobs[index]
            if let why = obstacle(to: job) {
                queue.takeNext()
                finish(job, .notRun(why))
                continue
            }
            let cost = JobCost(job)
            guard budget.admits(cost) else { return }
            let room = self.room(for: job)
            // The running jobs may fill less than predicted, or free space by replacing files.
            if room.lack != nil, !running.isEmpty || !replanning.isEmpty { return }
            queue.takeNext()
            start(job, cost, room)
        }
        if let stop {
            // No retry is started after a stop.
            let given = pausing.values
            pausing = [:]
            for (plan, outcome) in given { finish(plan, isCancelled ? .cancelled : outcome) }
            for index in queue.drain() {
                finish(plan.jobs[index], isCancelled ? .cancelled : .notRun(stop))
            }
        }
    }

    private func start(_ job: JobPlan, _ cost: JobCost, _ room: Room) {
        budget.take(cost)
        guard !job.readJobs.isEmpty else { return launch(job, cost, room) }
        // The plan was a prediction until now. The file exists, and probing it may take time.
        let key = JobKey(file: job.file, id: job.id)
        replanning[key] = (job, cost)
        let (files, prober) = (files, prober)
        DispatchQueue.global().async { @Sendable in
            let result = Result { () throws(PlanningError) in
                try BatchPlanner.replan(job, in: files, prober: prober)
            }
            self.later { $0.replanned(key, result, room) }
        }
    }

    /// Continues with a job whose source was probed. Does nothing after a cancel.
    private func replanned(
        _ key: JobKey, _ result: Result<JobPlan, PlanningError>, _ room: Room
    ) {
        guard let (job, cost) = replanning.removeValue(forKey: key) else { return }
        switch result {
        case .success(let plan):
            guard let taken = takenName(of: plan, beyond: job) else { return launch(plan, cost, room) }
            refuse(
                job, cost, "another output of this run has the destination \(taken)", .destinationCollision)
        case .failure(let error):
            let first = error.diagnostics.first
            refuse(job, cost, first?.message ?? "\(error)", first?.rule, at: first?.range)
        }
    }

    /// Fails a job whose source was created but can't be used.
    private func refuse(
        _ job: JobPlan, _ cost: JobCost, _ why: String, _ rule: Rule?, at place: SourceRange? = nil
    ) {
        budget.give(back: cost)
        finish(job, .failed(JobFailure(why, at: place ?? job.location, rule: rule)))
        admit()
    }

    private func launch(_ plan: JobPlan, _ cost: JobCost, _ room: Room) {
        for output in plan.outputs { collectDeadParts(beside: output.destination) }
        let lanes = Set(running.values.map(\.lane))
        let lane = (0...).first { !lanes.contains($0) } ?? 0
        begin(
            plan,
            Running(
                executor: executor(plan, lack: room.lack), cost: cost, lane: lane, begun: now,
                fills: room.fills))
    }

    private func executor(_ plan: JobPlan, lack: String?) -> JobExecutor {
        started += 1
        return JobExecutor(
            plan: plan, lack: lack, sources: sources, number: started, keepsFailed: policy.keepsFailed,
            makesPreview: previewsMade < policy.previews, state: state, performer: performer,
            root: prober.environment.root)
    }

    private func begin(_ plan: JobPlan, _ job: Running) {
        running[JobKey(file: plan.file, id: plan.id)] = job
        if isCancelled { job.executor.cancel() }
        job.executor.start(
            onWork: { @Sendable in
                if job.attempts == 1 { self.later { $0.observer.jobStarted(plan) } }
            },
            onPublish: { @Sendable in self.later { $0.publishes(plan) } },
            completion: { @Sendable outcome in self.later { $0.ended(plan, outcome) } })
    }

    /// Frees the processors of a job that only has to publish its outputs.
    private func publishes(_ plan: JobPlan) {
        let key = JobKey(file: plan.file, id: plan.id)
        guard let job = running[key], !job.isPublishing else { return }
        running[key]?.isPublishing = true
        budget.wait(job.cost, for: true)
        admit()
    }

    /// Ends an attempt. A transient failure is retried in the job's lane.
    private func ended(_ plan: JobPlan, _ outcome: JobOutcome) {
        guard let job = running[JobKey(file: plan.file, id: plan.id)] else { return }
        guard case .failed(let failure) = outcome, failure.isTransient, stop == nil,
            job.attempts <= plan.scheduling.retries
        else { return finish(plan, outcome) }
        let key = JobKey(file: plan.file, id: plan.id)
        if job.isPublishing { budget.wait(job.cost, for: false) }
        running[key]?.isPublishing = false
        pausing[key] = (plan, outcome)
        let pause = DispatchTimeInterval.milliseconds(250 << min(job.attempts, 7))
        later(after: pause) { runner in
            guard runner.pausing.removeValue(forKey: key) != nil else { return }
            runner.begin(
                plan,
                Running(
                    executor: runner.executor(plan, lack: nil), cost: job.cost, lane: job.lane,
                    begun: job.begun, fills: job.fills, attempts: job.attempts + 1))
        }
    }

    private func finish(_ plan: JobPlan, _ outcome: JobOutcome) {
        let key = JobKey(file: plan.file, id: plan.id)
        let job = running.removeValue(forKey: key)
        if let job { budget.give(back: job.cost, afterWaiting: job.isPublishing) }
        workDone += work(plan)
        if outcome.hasPreview { previewsMade += 1 }
        outcomes[key] = outcome
        if case .notRun = outcome { notRun += 1 }
        if !outcome.isSuccess { failures.insert(JobKey(file: plan.file, id: plan.base)) }
        queue.ended(plan)
        end(
            JobRecord(
                id: plan.id, file: plan.file, outcome: outcome, plan: plan, begun: job?.begun,
                seconds: job.map { now - $0.begun } ?? 0, lane: job?.lane ?? 0, attempts: job?.attempts ?? 0))
        group.leave()
        if job != nil { admit() }
    }

    private func work(_ plan: JobPlan) -> Double { state?.seconds(of: plan) ?? JobCost(plan).work }

    /// Seconds since the runner was created.
    private var now: Double {
        Double(DispatchTime.now().uptimeNanoseconds - begun.uptimeNanoseconds) / 1e9
    }
}
