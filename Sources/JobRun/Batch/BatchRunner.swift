internal import Diagnostics
internal import Dispatch
internal import ExactStrings
public import JobPlan
package import JobSpec
internal import LibAV
internal import Media
internal import Synchronization
internal import Publishing

/// Hears of what happens to a batch. Called on a private queue, one call at a time.
public protocol RunObserver: Sendable {
    /// A job begins.
    func jobStarted(_ plan: JobPlan)
    /// A job ended.
    func jobFinished(_ record: JobRecord)
}

/// A job under way, for progress.
public struct RunningJob: Sendable {
    /// The job's id.
    public var id: String
    /// The job file.
    public var file: String
    /// From 0 to 1.
    public var fraction: Double
    /// Media seconds done.
    public var media: Double
    /// Wall-clock seconds since it began.
    public var elapsed: Double

    /// Media seconds a second.
    public var speed: Double { elapsed > 0 ? media / elapsed : 0 }
    /// Seconds that are left at this speed, where that can be told.
    public var remaining: Double? { fraction > 0.001 ? elapsed / fraction * (1 - fraction) : nil }
}

/// Carries out a batch: several jobs at a time, each job after the ones it waits for, in one dispatch group.
///
/// An actor on a queue of its own: what jobs call back, timers and signals are put on that queue in their order.
package actor BatchRunner {
    private let plan: BatchPlan
    private let files: [JobFile]
    let policy: RunPolicy
    let state: RunState?
    private let performer: any WorkPerformer
    private let prober: any SourceProber
    private let observer: any RunObserver
    private let sources: Set<SourceFileKey>
    private let control = QueueExecutor(label: "tandem.batch")
    /// Its queue (`Actor`).
    package nonisolated var unownedExecutor: UnownedSerialExecutor { control.asUnownedSerialExecutor() }
    private let group = DispatchGroup()
    private var queue: JobQueue
    private var budget: ResourceBudget
    /// Jobs of which a run did not succeed, by the ids that the files have.
    var failures: Set<JobKey> = []
    /// Jobs that have a run, by the ids that the files have.
    let bases: Set<JobKey>
    /// A job under way.
    struct Running {
        let executor: JobExecutor
        let cost: JobCost
        let lane: Int
        let begun: Double
        /// The file systems that its output and its notes fill, and by about how much.
        let fills: [RunPolicy.FreeSpace]
        var attempts = 1
        /// Its work is done, and its output on the way to disk: its processors are others'.
        var isPublishing = false
    }
    var running: [JobKey: Running] = [:]
    /// Jobs whose source, another job's output, is being looked at.
    private var replanning: [JobKey: (job: JobPlan, cost: JobCost)] = [:]
    /// Jobs between two attempts.
    private var pausing: [JobKey: (plan: JobPlan, outcome: JobOutcome)] = [:]
    /// Jobs that will not be begun.
    private var notRun = 0
    var outcomes: [JobKey: JobOutcome] = [:]
    private var records: [JobRecord] = []
    private var started = 0
    private var previewsMade = 0
    /// Why nothing more starts; nil while jobs do.
    private var stop: String?
    private var isCancelled = false
    private let begun = DispatchTime.now()
    /// Folders in which what dead runs left was looked for.
    var cleaned: Set<ExactString> = []
    let namesByFolder: [ExactString: Set<String>]
    /// Seconds of work, as far as they can be foretold: for telling how long the rest takes.
    private let workInAll: Double
    private var workDone = 0.0

    /// A runner of a plan. `files` are the job files it was made of; `performer` does the work and `prober` looks into sources that
    /// jobs made, in this process or in others; `state` remembers.
    package init(
        plan: BatchPlan, files: [JobFile], policy: RunPolicy = RunPolicy(), state: RunState? = nil,
        performer: any WorkPerformer, prober: any SourceProber,
        observer: any RunObserver
    ) {
        self.prober = prober
        self.plan = plan
        // Only what jobs make is planned anew; ten thousand jobs' own words are not kept for nothing.
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
        // Before anybody can cancel.
        for _ in plan.jobs { group.enter() }
        sources = Set(plan.sourceFiles.map { SourceFileKey($0) })
    }

    static func split(_ path: String) -> (folder: String, name: String) {
        let slash = path.lastSlash ?? path.startIndex
        let folder = slash == path.startIndex && path.hasPrefix("/") ? "/" : String(path[..<slash])
        return (folder, String(path[slash...].dropFirst()))
    }

    /// Runs everything; returns what became of each job, in the order they ended.
    package func run() async -> [JobRecord] {
        TemporaryFile.completeInterrupted(namesByFolder, in: prober.environment.root)
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

    /// Does something on the actor's queue, behind what was put there before.
    private nonisolated func later(
        after pause: DispatchTimeInterval? = nil, _ body: @escaping @Sendable (isolated BatchRunner) -> Void
    ) {
        let work = { @Sendable in self.assumeIsolated { body($0) } }
        guard let pause else { return control.queue.async(execute: work) }
        control.queue.asyncAfter(deadline: .now() + pause, execute: work)
    }

    /// No further job is started; running ones go on to their end.
    package nonisolated func stopAdmitting() {
        later { runner in
            runner.stop = runner.stop ?? "the run was interrupted"
            runner.admit()
        }
    }

    /// Cancels what runs and starts nothing more.
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

    /// What runs now, in the order of their starts, with how many jobs have ended (those that never begin don't) and how many
    /// there are, and about how
    /// many seconds all of it still takes.
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
            first?.message ?? "it can't be planned", at: first?.range ?? .startOfFile(refusal.file),
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

    /// Tells everybody of it.
    private func end(_ record: JobRecord) {
        records.append(record)
        observer.jobFinished(record)
        switch record.outcome {
        case .succeeded, .upToDate, .skipped: return
        case .failed(let failure):
            state?.ended(
                record.file, record.id, outcome: "failed", message: failure.message, seconds: record.seconds)
            if policy.failsFast { stop = stop ?? "a job failed, and nothing more is started" }
        case .cancelled:
            state?.ended(record.file, record.id, outcome: "cancelled", message: "", seconds: record.seconds)
        case .notRun(let why):
            state?.ended(record.file, record.id, outcome: "not run", message: why, seconds: 0)
        }
    }

    /// Starts what may start.
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
            // What runs may be smaller than foretold, or make room by replacing.
            if room.lack != nil, !running.isEmpty || !replanning.isEmpty { return }
            queue.takeNext()
            start(job, cost, room)
        }
        if let stop {
            // Nobody waits for another attempt any more.
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
        // Foretold until now; the file is there, and is looked at, which may take its time.
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

    /// What a job reads was looked at. After a cancel nobody waits for it any more.
    private func replanned(
        _ key: JobKey, _ result: Result<JobPlan, PlanningError>, _ room: Room
    ) {
        guard let (job, cost) = replanning.removeValue(forKey: key) else { return }
        switch result {
        case .success(let plan):
            guard let taken = takenName(of: plan, beyond: job) else { return launch(plan, cost, room) }
            refuse(job, cost, "another output of this call goes to \(taken)", .destinationCollision)
        case .failure(let error):
            let first = error.diagnostics.first
            refuse(job, cost, first?.message ?? "\(error)", first?.rule, at: first?.range)
        }
    }

    /// A job whose source was made and doesn't serve.
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

    /// What is left of a job needs no processor.
    private func publishes(_ plan: JobPlan) {
        let key = JobKey(file: plan.file, id: plan.id)
        guard let job = running[key], !job.isPublishing else { return }
        running[key]?.isPublishing = true
        budget.wait(job.cost, for: true)
        admit()
    }

    /// An attempt has ended; one whose reason can pass is made again, in the place that it holds.
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

    /// Seconds since the runner was made.
    private var now: Double {
        Double(DispatchTime.now().uptimeNanoseconds - begun.uptimeNanoseconds) / 1e9
    }
}
