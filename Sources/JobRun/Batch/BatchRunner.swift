internal import Diagnostics
internal import Dispatch
public import JobPlan
package import JobSpec
internal import LibAV
internal import Locking
internal import Media

/// A receiver of a batch's events. Called on a private queue, one call at a time.
public protocol RunObserver: Sendable {
    /// Receives the start of a job.
    func jobStarted(_ plan: JobPlan)
    /// Receives the end of a job.
    func jobFinished(_ record: JobRecord)
}

/// The progress of a running job at one time.
public struct RunningJob: Sendable {
    /// The job's id.
    public var id: String
    /// The job file.
    public var file: String
    /// Completed fraction, from 0 to 1.
    public var fraction: Double
    /// Duration of the media processed so far, in seconds.
    public var media: Double
    /// Wall-clock seconds since the current attempt started.
    public var elapsed: Double

    /// Processing speed as a multiple of real time: seconds of media per second of wall-clock time.
    public var speed: Double { elapsed > 0 ? media / elapsed : 0 }
    /// Estimated seconds until the job ends at this speed; nil while the completed fraction is at most 0.001.
    public var remaining: Double? { fraction > 0.001 ? elapsed / fraction * (1 - fraction) : nil }
}

/// A batch run: executes jobs concurrently, each after its dependencies.
///
/// An actor with its own queue, on which tasks of jobs, timers and signals run in order. Each started job has one task
/// (`carryOut`); jobs that wait for their start have none.
package actor BatchRunner {
    private let plan: BatchPlan
    private let files: [JobFile]
    private let policy: RunPolicy
    private let state: RunState?
    private let performer: any WorkPerformer
    private let prober: any SourceProber
    private let observer: any RunObserver
    private let sources: Set<SourceFileKey>
    private let control = QueueExecutor(label: "tandem.batch")
    /// The executor on which the actor's code runs: its Dispatch queue.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { control.asUnownedSerialExecutor() }
    private var queue: JobQueue
    private var budget: ResourceBudget
    private var space: SpaceReservations
    private var results: DependencyResults
    private var destinations: RunDestinations
    /// Number of planned jobs that haven't ended.
    private var openJobs: Int
    /// Wait of `run` for the end of all jobs.
    private var allJobsEnded: CheckedContinuation<Void, Never>?
    /// The reason why no further jobs start.
    private enum StopReason {
        case interruption
        /// A job failed, and the run fails fast.
        case failure

        var text: String {
            switch self {
            case .interruption: "the run was interrupted"
            case .failure: "a job failed, and `--fail-fast` is set"
            }
        }
    }

    /// A job from its start to its end.
    private struct Running {
        /// Plan of the job; the predicted one until it is replanned.
        var plan: JobPlan
        let cost: JobCost
        /// The task that carries out the job.
        let task: Task<Void, Never>
        /// Whether the outputs of other jobs that the job reads are still being probed.
        var isReplanning: Bool
        /// Wait for the result of replanning; resumed with nil if the job ends before.
        var replanning: CheckedContinuation<Result<BatchPlanner.Replanned, PlanningError>?, Never>?
        /// Start and slot of the first attempt; nil while the job is replanned.
        var launch: (begun: Double, slot: Int)?
        /// Executor of the latest attempt.
        var executor: JobExecutor?
        var attempts = 0
        /// Whether the work is done and the output is being published. The job's processors are available to other
        /// jobs.
        var isPublishing = false
        /// Wait for the next attempt, with the outcome of the latest one. Resumed after the delay, or if the job ends
        /// before.
        var retry: (delay: CheckedContinuation<Void, Never>, outcome: JobOutcome)?
    }
    private var running: [JobKey: Running] = [:]
    private var records: [JobRecord] = []
    private var startedCount = 0
    private var previewCount = 0
    /// Reason why no further jobs start; nil while jobs are still admitted.
    private var stopReason: StopReason?
    private var isCancelled = false
    private let begun = DispatchTime.now()
    /// Estimated seconds of work in all jobs, from which the remaining time is predicted.
    private let totalWork: Double
    private var completedWork = 0.0

    /// Creates a runner for a plan. `files` are the job files of the plan. `performer` executes the work, and `prober`
    /// probes sources that jobs created, in this process or in a worker. `state` records the outputs.
    package init(
        plan: BatchPlan, files: [JobFile], policy: RunPolicy = RunPolicy(), state: RunState? = nil,
        performer: any WorkPerformer, prober: any SourceProber,
        observer: any RunObserver
    ) {
        self.prober = prober
        self.plan = plan
        // The job files, with up to ten thousand jobs, are kept only for replanning, which applies to jobs that read
        // outputs of other jobs.
        let isChained = plan.jobs.contains { !$0.readJobs.isEmpty }
        self.files = isChained ? files : []
        self.policy = policy
        self.state = state
        self.performer = performer
        self.observer = observer
        budget = policy.budget
        let work: (JobPlan) -> Double = { state?.seconds(of: $0) ?? JobCost($0).work }
        queue = JobQueue(plan, work: work)
        totalWork = plan.jobs.reduce(0) { $0 + work($1) }
        space = SpaceReservations(policy)
        results = DependencyResults(plan)
        destinations = RunDestinations(plan)
        openJobs = plan.jobs.count
        sources = Set(plan.sourceFiles.map { SourceFileKey($0) })
    }

    /// Runs all jobs. Returns their records, in the order in which the jobs ended.
    package func run() async -> [JobRecord] {
        completeInterruptedSets()
        for job in plan.upToDateJobs {
            for output in job.outputs { destinations.removeAbandonedFiles(inFolderOf: output.destination) }
            recordUpToDate(job)
        }
        for skip in plan.skips { recordSkip(skip) }
        for refusal in plan.refusals { refuse(refusal) }
        admit()
        if openJobs > 0 { await withCheckedContinuation { allJobsEnded = $0 } }
        return records
    }

    /// Completes or discards sets of files whose publishing a killed run left unfinished. Called before temporary files
    /// of killed runs are removed.
    private func completeInterruptedSets() {
        guard let state else { return }
        let sets = destinations.interruptedSets(beneath: prober.environment.root)
        guard !sets.isEmpty else { return }
        let completion = InterruptedSetCompletion(plan, sources: sources, state: state)
        for set in sets { completion.complete(set) }
    }

    /// Runs `body` on the actor's queue, after previously enqueued calls.
    private nonisolated func enqueue(
        after delay: DispatchTimeInterval? = nil, _ body: @escaping @Sendable (isolated BatchRunner) -> Void
    ) {
        let work = { @Sendable in self.assumeIsolated { body($0) } }
        guard let delay else { return control.queue.async(execute: work) }
        control.queue.asyncAfter(deadline: .now() + delay, execute: work)
    }

    /// Stops admitting jobs. Running jobs continue to their end.
    package nonisolated func stopAdmitting() {
        enqueue { runner in
            runner.stopReason = runner.stopReason ?? .interruption
            runner.admit()
        }
    }

    /// Cancels the running jobs and stops admitting jobs.
    package nonisolated func cancel() { enqueue { $0.cancelAll() } }

    private func cancelAll() {
        stopReason = stopReason ?? .interruption
        isCancelled = true
        for job in running.values {
            job.task.cancel()
            if job.isReplanning { finish(job.plan, .cancelled) }
        }
        admit()
    }

    /// Returns the running jobs in start order, the number of ended jobs (without those that were never started), the
    /// number of all jobs, and the estimated seconds until all have ended.
    package nonisolated func snapshot() -> (
        running: [RunningJob], finished: Int, total: Int, remaining: Double?
    ) {
        control.queue.sync { assumeIsolated { $0.currentProgress } }
    }

    private var currentProgress: (running: [RunningJob], finished: Int, total: Int, remaining: Double?) {
        let executors = running.values.compactMap(\.executor)
        let jobs = executors.sorted { $0.number < $1.number }.map { executor in
            let progress = executor.progress
            return RunningJob(
                id: executor.plan.id, file: executor.plan.file, fraction: progress.fraction,
                media: progress.media, elapsed: executor.elapsed)
        }
        let runningWork = executors.reduce(0) { $0 + $1.progress.fraction * work($1.plan) }
        let done = completedWork + runningWork
        let remaining = done > 0 && now > 2 ? now / done * max(0, totalWork - done) : nil
        return (
            jobs, results.finishedCount,
            plan.jobs.count + plan.upToDateJobs.count + plan.skips.count + plan.refusals.count,
            remaining
        )
    }

    private func refuse(_ refusal: BatchPlan.Refusal) {
        let first = refusal.diagnostics.first { $0.severity == .error }
        let failure = JobFailure(
            first?.message ?? "the job can't be planned", at: first?.range ?? .startOfFile(refusal.file),
            rule: first?.rule)
        results.record(.failed(failure), of: refusal)
        end(JobRecord(id: refusal.id, file: refusal.file, outcome: .failed(failure)))
    }

    private func recordUpToDate(_ job: BatchPlan.UpToDateJob) {
        results.record(.upToDate, of: job)
        var record = JobRecord(id: job.id, file: job.file, outcome: .upToDate)
        record.upToDateOutputs = job.outputs
        end(record)
    }

    private func recordSkip(_ skip: BatchPlan.Skip) {
        results.record(.skipped(skip.reason), of: skip)
        end(JobRecord(id: skip.id, file: skip.file, outcome: .skipped(skip.reason)))
    }

    /// Adds a record and passes it to the observer and the state.
    private func end(_ record: JobRecord) {
        records.append(record)
        observer.jobFinished(record)
        switch record.outcome {
        case .succeeded, .upToDate, .skipped, .declined: return
        case .failed(let failure):
            state?.ended(
                record.file, record.id, outcome: .failed, message: failure.message, seconds: record.seconds)
            if policy.failsFast { stopReason = stopReason ?? .failure }
        case .cancelled:
            state?.ended(record.file, record.id, outcome: .cancelled, message: "", seconds: record.seconds)
        case .notRun(let why):
            state?.ended(record.file, record.id, outcome: .notRun, message: why, seconds: 0)
        }
    }

    /// Starts all jobs that are ready and fit into the budget.
    private func admit() {
        while stopReason == nil {
            queue.bringForward { performer.isPrepared(for: plan.jobs[$0]) }
            guard let index = queue.next else { break }
            let job = plan.jobs[index]
            if let why = results.blockingReason(for: job) {
                queue.takeNext()
                finish(job, .notRun(why))
                continue
            }
            if let why = results.missingSource(of: job) {
                queue.takeNext()
                finish(job, .skipped(why))
                continue
            }
            let cost = JobCost(job, processors: budget.cores)
            guard budget.admits(cost) else { return }
            let needed = space.estimate(for: job) { state?.relation(of: $0).relation ?? .other != .other }
            // A shortage blocks only while other jobs run: they may need less space than predicted, or free space by
            // replacing files.
            if needed.shortage != nil, !running.isEmpty { return }
            queue.takeNext()
            start(job, cost, needed)
        }
        guard let stopReason else { return }
        // No retry is started after a stop.
        for job in running.values {
            guard let outcome = job.retry?.outcome else { continue }
            finish(job.plan, isCancelled ? .cancelled : outcome)
        }
        for index in queue.removeAll() {
            finish(plan.jobs[index], isCancelled ? .cancelled : .notRun(stopReason.text))
        }
    }

    private func start(_ job: JobPlan, _ cost: JobCost, _ needed: SpaceReservations.Estimate) {
        let key = job.key
        budget.reserve(cost)
        space.reserve(needed.usage, for: key)
        let task = Task { await carryOut(job, spaceShortage: needed.shortage) }
        running[key] = Running(plan: job, cost: cost, task: task, isReplanning: !job.readJobs.isEmpty)
    }

    // MARK: The task of a job

    /// Carries out a started job: replans it, makes attempts, and records its outcome. Returns early if a stop of the run
    /// has ended the job.
    private func carryOut(_ job: JobPlan, spaceShortage: String?) async {
        let key = job.key
        do throws(JobFailure) {
            switch try await replanned(job, key) {
            case nil: return
            case .skip(let reason): finish(job, .skipped(reason))
            case .plan(let plan):
                launch(plan, key)
                guard let outcome = await attempts(plan, key, spaceShortage: spaceShortage) else { return }
                finish(plan, outcome)
            }
        } catch {
            finish(job, .failed(error))
        }
        admit()
    }

    /// Returns the plan of a job; nil if the run is cancelled. If the job reads outputs of other jobs, its plan was
    /// predicted before they existed. They are probed now, which may be slow and therefore runs on another queue.
    private func replanned(
        _ job: JobPlan, _ key: JobKey
    ) async throws(JobFailure) -> BatchPlanner.Replanned? {
        guard !job.readJobs.isEmpty else { return .plan(job) }
        if running[key] == nil { return nil }
        let (files, prober) = (files, prober)
        let result = await withCheckedContinuation { continuation in
            running[key]?.replanning = continuation
            DispatchQueue.global().async { @Sendable in
                let result = Result { () throws(PlanningError) in
                    try BatchPlanner.replan(job, in: files, prober: prober)
                }
                self.enqueue { $0.running[key]?.replanning.take()?.resume(returning: result) }
            }
        }
        guard let result, running[key] != nil else { return nil }
        running[key]?.isReplanning = false
        switch result {
        case .success(.skip(let reason)): return .skip(reason)
        case .success(.plan(let plan)):
            guard let conflict = destinations.conflict(of: plan, predicted: job) else { return .plan(plan) }
            throw JobFailure(
                "another output of this run has the destination \(conflict)", at: job.location,
                rule: .destinationCollision)
        case .failure(let error):
            // The source exists, but can't be used.
            let first = error.diagnostics.first
            throw JobFailure(
                first?.message ?? "\(error)", at: first?.range ?? job.location, rule: first?.rule)
        }
    }

    private func launch(_ plan: JobPlan, _ key: JobKey) {
        for output in plan.outputs { destinations.removeAbandonedFiles(inFolderOf: output.destination) }
        let slots = Set(running.values.compactMap(\.launch?.slot))
        running[key]?.plan = plan
        running[key]?.launch = (begun: now, slot: (0...).first { !slots.contains($0) } ?? 0)
    }

    /// Attempts a job until an attempt doesn't fail with a transient error, with delays in between. Returns the
    /// outcome of the last one; nil if a stop of the run has ended the job during a delay.
    private func attempts(_ plan: JobPlan, _ key: JobKey, spaceShortage: String?) async -> JobOutcome? {
        var (attempt, spaceShortage) = (0, spaceShortage)
        while true {
            attempt += 1
            let executor = executor(plan, spaceShortage: spaceShortage.take())
            running[key]?.executor = executor
            running[key]?.attempts = attempt
            let outcome = await executor.run(
                onWork: { @Sendable [attempt] in
                    if attempt == 1 { self.enqueue { $0.observer.jobStarted(plan) } }
                },
                onPublish: { @Sendable in self.enqueue { $0.beginPublishing(key) } })
            guard case .failed(let failure) = outcome, failure.isTransient, stopReason == nil,
                attempt <= plan.scheduling.retries
            else { return outcome }
            endPublishing(key)
            running[key]?.executor = nil
            await withCheckedContinuation { continuation in
                running[key]?.retry = (continuation, outcome)
                enqueue(after: .milliseconds(250 << min(attempt, 7))) {
                    $0.running[key]?.retry.take()?.delay.resume()
                }
            }
            if running[key] == nil { return nil }
            // The run was stopped directly after the delay.
            if stopReason != nil { return isCancelled ? .cancelled : outcome }
        }
    }

    /// Whether other jobs may run at the same time as the next one.
    private var hasOtherJobs: Bool { policy.budget.jobs != 1 && plan.jobs.count - results.count > 1 }

    private func executor(_ plan: JobPlan, spaceShortage: String?) -> JobExecutor {
        startedCount += 1
        return JobExecutor(
            plan: plan, spaceShortage: spaceShortage, sources: sources, number: startedCount,
            keepsFailed: policy.keepsFailed,
            makesPreview: previewCount < policy.maxPreviews,
            sharesProcessors: hasOtherJobs, records: state, performer: performer,
            root: prober.environment.root)
    }

    /// Returns a job's processors to the budget while the job publishes its outputs.
    private func beginPublishing(_ key: JobKey) {
        guard let job = running[key], !job.isPublishing else { return }
        running[key]?.isPublishing = true
        budget.wait(job.cost, for: true)
        admit()
    }

    private func endPublishing(_ key: JobKey) {
        guard let job = running[key], job.isPublishing else { return }
        running[key]?.isPublishing = false
        budget.wait(job.cost, for: false)
    }

    /// Ends a job, which was started or not, and records its outcome.
    private func finish(_ plan: JobPlan, _ outcome: JobOutcome) {
        let key = plan.key
        let job = running.removeValue(forKey: key)
        if let job {
            budget.release(job.cost, afterWaiting: job.isPublishing)
            space.release(key)
            job.replanning?.resume(returning: nil)
            job.retry?.delay.resume()
        }
        completedWork += work(plan)
        if outcome.hasPreview { previewCount += 1 }
        results.record(outcome, of: plan)
        queue.jobEnded(plan)
        let launch = job?.launch
        end(
            JobRecord(
                id: plan.id, file: plan.file, outcome: outcome, plan: plan, begun: launch?.begun,
                seconds: launch.map { now - $0.begun } ?? 0, slot: launch?.slot ?? 0,
                attempts: job?.attempts ?? 0))
        openJobs -= 1
        if openJobs == 0 { allJobsEnded.take()?.resume() }
    }

    private func work(_ plan: JobPlan) -> Double { state?.seconds(of: plan) ?? JobCost(plan).work }

    /// Wall-clock seconds since the runner was created.
    private var now: Double {
        Double(DispatchTime.now().uptimeNanoseconds - begun.uptimeNanoseconds) / 1e9
    }
}
