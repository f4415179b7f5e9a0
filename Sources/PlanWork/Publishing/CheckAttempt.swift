internal import JobPlan
internal import Media

/// An attempt at a check, which publishes nothing.
struct CheckAttempt {
    private let plan: JobPlan
    private let task: OutputTask
    private let records: (any OutputRecords)?
    private let digest: PlanDigest?
    private let relation: PlanDigest.Relation

    /// Creates an attempt at the check `task` of a plan. `records` are nil if none are kept.
    init(_ task: OutputTask, of plan: JobPlan, records: (any OutputRecords)?) {
        self.plan = plan
        self.task = task
        self.records = records
        (digest, relation) = records?.relation(of: task) ?? (nil, .other)
    }

    /// Records the check as passed if the source has already passed it. Returns false if the check must run.
    func recordIfUpToDate() -> Bool {
        guard relation == .current, let digest else { return false }
        records?.passed(task, digest: digest, seconds: records?.seconds(of: task) ?? 0)
        return true
    }

    /// Runs the check, and records that the source passed it. Throws if it didn't. `elapsed` returns the
    /// seconds since the start of the attempt.
    nonisolated(nonsending) func run(
        by performer: any WorkPerformer, _ monitor: WorkMonitor, elapsed: () -> Double
    ) async throws -> JobResult {
        let order = WorkOrder(plan: plan, outputs: [], scratch: nil, monitor: monitor)
        let findings = try await performer.findings(of: order)
        guard findings.outputs.count == 1, let found = findings.outputs.first else {
            throw MediaError.internalError("\(findings.outputs.count) findings of a check")
        }
        try SourceCheck(plan).check(when: "while it was read")
        if let failure = findings.expectationFailure(keptNote: { _ in nil }) { throw failure }
        let warnings = JobWarnings(task: task, findings: found)
        let digest = warnings.reportsDamage ? digest?.afterDamage : digest
        if let digest { records?.passed(task, digest: digest, seconds: elapsed()) }
        let result = OutputResult(
            id: nil, destination: nil, size: 0, output: digest?.value.text ?? "",
            duration: found.tracks.map(\.end).max() ?? .zero, tracks: found.tracks,
            warnings: warnings.lines, expectations: found.expectations)
        return JobResult(outputs: [result], seconds: elapsed())
    }

    /// Records that the source failed the check.
    func recordFailure() { records?.failed(check: task) }
}
