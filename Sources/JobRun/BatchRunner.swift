internal import Diagnostics
internal import Dispatch
public import JobPlan
public import JobSpec
internal import Media
internal import Synchronization

/// Hears of what happens to a batch. Called on a private queue, one call at a time.
public protocol RunObserver: Sendable {
    /// A job begins.
    func jobStarted(_ plan: JobPlan)
    /// A job ended.
    func jobFinished(_ id: String, file: String, outcome: JobOutcome)
}

/// A job under way, for progress.
public struct RunningJob: Sendable {
    /// The job's id.
    public var id: String
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
/// Unchecked `Sendable`: everything mutable is touched on `control` only.
public final class BatchRunner: @unchecked Sendable {
    private struct Key: Hashable {
        let file: String
        let id: String
    }

    private let plan: BatchPlan
    private let files: [JobFile]
    private let limit: Int
    private let keepsFailed: Bool
    private let observer: any RunObserver
    private let sources: Set<SourceFileKey>
    private let control = DispatchQueue(label: "tandem.batch")
    private let group = DispatchGroup()
    private var queue: JobQueue
    /// Jobs of which a run did not succeed, by the ids that the files have.
    private var failures: Set<Key> = []
    /// Jobs that have a run, by the ids that the files have.
    private let bases: Set<Key>
    private var running: [Key: JobExecutor] = [:]
    private var outcomes: [Key: JobOutcome] = [:]
    private var order: [Key] = []
    private var started = 0
    private var isAdmitting = true
    private var isCancelled = false

    /// A runner of a plan; at most `limit` jobs at a time. `files` are the job files it was made of.
    /// `keepsFailed`: an output that fails its expectations stays, as `web.failed.mp4`.
    public init(
        plan: BatchPlan, files: [JobFile], limit: Int, keepsFailed: Bool = false, observer: any RunObserver
    ) {
        self.keepsFailed = keepsFailed
        self.plan = plan
        self.files = files
        self.limit = max(1, limit)
        self.observer = observer
        queue = JobQueue(plan)
        bases = Set(
            plan.jobs.map { Key(file: $0.file, id: $0.base) }
                + plan.refusals.map { Key(file: $0.file, id: String($0.id.prefix { $0 != "[" })) })
        sources = Set(
            plan.jobs.compactMap { job -> SourceFileKey? in
                if case .file(_, let identity) = job.source { SourceFileKey(identity) } else { nil }
            })
    }

    /// Runs everything; returns each job's outcome in the order they ended.
    public func run() async -> [(id: String, file: String, outcome: JobOutcome)] {
        await withCheckedContinuation { continuation in
            control.async { @Sendable in
                for _ in self.plan.jobs { self.group.enter() }
                for refusal in self.plan.refusals { self.refuse(refusal) }
                self.admit()
                self.group.notify(queue: self.control) { @Sendable in
                    continuation.resume(
                        returning: self.order.map {
                            ($0.id, $0.file, self.outcomes[$0] ?? .notRun("it was not reached"))
                        })
                }
            }
        }
    }

    /// No further job is started; running ones go on to their end.
    public func stopAdmitting() {
        control.async { @Sendable in
            self.isAdmitting = false
            self.admit()
        }
    }

    /// Cancels what runs and starts nothing more.
    public func cancel() {
        control.async { @Sendable in
            self.isAdmitting = false
            self.isCancelled = true
            for executor in self.running.values { executor.cancel() }
            self.admit()
        }
    }

    /// What runs now, in the order of their starts, with how many jobs have ended and how many there are.
    public func snapshot() -> (running: [RunningJob], finished: Int, total: Int) {
        control.sync {
            let jobs = running.values.sorted { ($0.number, $0.plan.id) < ($1.number, $1.plan.id) }.map {
                executor in
                let (fraction, media) = executor.progress
                return RunningJob(
                    id: executor.plan.id, fraction: fraction, media: media, elapsed: executor.elapsed)
            }
            return (jobs, outcomes.count, plan.jobs.count + plan.refusals.count)
        }
    }

    private func refuse(_ refusal: BatchPlan.Refusal) {
        let key = Key(file: refusal.file, id: refusal.id)
        let first = refusal.diagnostics.first { $0.severity == .error }
        let failure = JobFailure(
            first?.message ?? "it can't be planned", at: first?.range ?? .startOfFile(refusal.file),
            rule: first?.rule)
        outcomes[key] = .failed(failure)
        failures.insert(Key(file: refusal.file, id: String(refusal.id.prefix { $0 != "[" })))
        order.append(key)
        observer.jobFinished(refusal.id, file: refusal.file, outcome: .failed(failure))
    }

    /// Starts what may start; on `control`.
    private func admit() {
        guard isAdmitting else {
            for index in queue.drain() {
                finish(
                    plan.jobs[index], isCancelled ? .cancelled : .notRun("the run was interrupted"),
                    wasStarted: false)
            }
            return
        }
        while running.count < limit, let index = queue.next() {
            let job = plan.jobs[index]
            if let why = obstacle(to: job) {
                finish(job, .notRun(why), wasStarted: false)
            } else {
                start(job)
            }
        }
    }

    /// Why a job can't be done now that everything it waited for has ended; nil where it can.
    private func obstacle(to job: JobPlan) -> String? {
        func failed(_ id: String) -> Bool {
            outcomes[Key(file: job.file, id: id)].map { !$0.isSuccess } ?? false
        }
        if case .job(let id, _) = job.source, failed(id) {
            return "the job `\(id)`, whose output it reads, did not succeed"
        }
        for need in job.needs where !bases.contains(Key(file: job.file, id: need)) {
            return "the job `\(need)`, which it needs, has no run"
        }
        for need in job.needs where failures.contains(Key(file: job.file, id: need)) {
            return "the job `\(need)`, which it needs, did not succeed"
        }
        return nil
    }

    private func start(_ job: JobPlan) {
        var plan = job
        if case .job = job.source {
            do throws(PlanningError) {
                // Foretold until now; the file is there, and is looked at.
                plan = try Planner.replan(job, in: files)
            } catch {
                let first = error.diagnostics.first
                finish(
                    job,
                    .failed(
                        JobFailure(
                            first?.message ?? "\(error)", at: first?.range ?? job.location, rule: first?.rule)
                    ),
                    wasStarted: false)
                return
            }
        }
        started += 1
        let executor = JobExecutor(plan: plan, sources: sources, number: started, keepsFailed: keepsFailed)
        running[Key(file: job.file, id: job.id)] = executor
        observer.jobStarted(plan)
        executor.start { @Sendable outcome in
            self.control.async { @Sendable in self.finish(job, outcome, wasStarted: true) }
        }
    }

    private func finish(_ job: JobPlan, _ outcome: JobOutcome, wasStarted: Bool) {
        let key = Key(file: job.file, id: job.id)
        running[key] = nil
        outcomes[key] = outcome
        if !outcome.isSuccess { failures.insert(Key(file: job.file, id: job.base)) }
        queue.ended(job)
        order.append(key)
        observer.jobFinished(job.id, file: job.file, outcome: outcome)
        group.leave()
        if wasStarted { admit() }
    }
}
