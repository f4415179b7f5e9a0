internal import FileSystem
internal import JobPlan

/// The entries that the results of a part contain.
struct PartClaims: Sendable {
    /// Entries by the name of the output, or of the job for one that failed as a whole, in the order of the runs.
    private var claims: [OutputKey: [RunReport.Job]] = [:]

    /// Adds the entries of a later run. `delay` is the time in seconds from the start of the batch to that of the run, to
    /// which the entries' times are relative.
    mutating func add(_ report: RunReport, delay: Double) {
        for var job in report.jobs {
            job.begun = job.begun.map { $0 + delay }
            claims[job.key, default: []].append(job)
        }
    }

    /// Returns the outcome of the part: for each output the best result that the plan and the files confirm.
    func outcome(of part: PlanFile, in folder: ShardFolder) -> PartOutcome {
        let chunks = part.shard?.chunks
        let planned = chunks == nil ? part.plan.jobs : []
        let entriesOfJobs = planned.map { entries(of: $0, beneath: folder.root) }
        let open = zip(planned, entriesOfJobs).filter { $1.contains { !$0.isDone } }.map(\.0.key)
        // Other parts repeat the skipped jobs that theirs need.
        let skips = part.shard?.index == 0 ? part.plan.skips : []
        return PartOutcome(
            jobs: entriesOfJobs.flatMap(\.self), openJobs: Set(open), chunks: chunks,
            hasChunks: chunks.map(folder.exists) ?? false, chunkFailure: chunks == nil ? nil : failure,
            others: part.plan.refusals.map { RunReport.Job(refused: $0) }
                + skips.map { RunReport.Job(skipped: $0) })
    }

    /// The reason of a failure of the latest run of a part with one job; nil if it didn't fail.
    private var failure: String? {
        let latest = claims.values.compactMap(\.last).last
        return latest.flatMap { $0.outcome == .failed ? $0.reason ?? "" : nil }
    }

    /// Returns the entries of a job's outputs.
    private func entries(of plan: JobPlan, beneath root: PathRoot) -> [RunReport.Job] {
        let entries = plan.tasks.map { task in
            Self.best(
                claims[OutputKey(file: plan.file, id: task.name)] ?? [], for: task, in: plan, beneath: root)
        }
        // A failed job with several outputs has one entry. Only failures are reported for a job as a whole.
        if plan.outputs.count > 1, entries.contains(where: { $0 == nil }),
            let whole = claims[OutputKey(file: plan.file, id: plan.id)]?.last(where: { !$0.isDone })
        {
            return entries.compactMap(\.self) + [whole]
        }
        return zip(plan.tasks, entries).map { task, job in
            job ?? RunReport.Job(missing: task, reason: "no result of this job exists")
        }
    }

    /// Returns the best of an output's results. Confirmed results are preferred, first the result of the run that created
    /// the output, which has the most details; then failures. If there is neither, the returned entry states why no
    /// result is confirmed. Returns nil if there is no result.
    private static func best(
        _ claims: [RunReport.Job], for task: OutputTask, in plan: JobPlan, beneath root: PathRoot
    ) -> RunReport.Job? {
        // No file confirms the result of an output that isn't published, so the latest result counts.
        var claims = claims
        if !task.output.isPublished {
            let ended = claims.filter { $0.outcome != .cancelled && $0.outcome != .notRun }
            claims = Array((ended.isEmpty ? claims : ended).suffix(1))
        }
        var mismatch: String?
        var failed: RunReport.Job?
        var confirmed: RunReport.Job?
        for claim in claims {
            guard claim.isDone else {
                failed = claim
                continue
            }
            if let found = claim.mismatch(with: task, of: plan, beneath: root) {
                mismatch = found
            } else if confirmed == nil || claim.outcome == .succeeded {
                confirmed = claim
            }
        }
        return confirmed ?? failed ?? mismatch.map { RunReport.Job(missing: task, reason: $0) }
    }
}
