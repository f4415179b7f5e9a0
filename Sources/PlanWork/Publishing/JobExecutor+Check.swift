internal import Diagnostics
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Media

/// Execution of checks, which publish nothing.
extension JobExecutor {
    /// Runs a check, unless the source has already passed it.
    func check(_ task: OutputTask, _ onWork: @Sendable () -> Void) async throws -> JobOutcome {
        let (digest, relation) = records?.relation(of: task) ?? (nil, .other)
        if relation == .current, let digest {
            records?.passed(task, digest: digest, seconds: records?.seconds(of: task) ?? 0)
            return .upToDate
        }
        startTimeout()
        onWork()
        do {
            let order = WorkOrder(plan: plan, outputs: [], scratch: nil, monitor: monitor)
            return .succeeded(try result(of: task, digest, try await perform(order)))
        } catch {
            let outcome = outcome(of: error)
            if case .failed = outcome { records?.failed(check: task) }
            return outcome
        }
    }

    /// Returns the result of a check that the source passed, and records it. Throws if the source didn't pass.
    private func result(
        of task: OutputTask, _ digest: PlanDigest?, _ findings: WorkFindings
    ) throws -> JobResult {
        guard findings.outputs.count == 1, let found = findings.outputs.first else {
            throw MediaError.internalError("\(findings.outputs.count) findings of a check")
        }
        try SourceCheck(plan).check(when: "while it was read")
        if let failure = failure(of: findings, keptNote: { _ in nil }) { throw failure }
        let warnings = JobWarnings(task: task, findings: found)
        let digest = warnings.reportsDamage ? digest?.afterDamage : digest
        if let digest { records?.passed(task, digest: digest, seconds: elapsed) }
        let result = OutputResult(
            id: nil, destination: nil, size: 0, output: digest?.value.text ?? "",
            duration: found.tracks.map(\.end).max() ?? .zero, tracks: found.tracks,
            warnings: warnings.lines, expectations: found.expectations)
        return JobResult(outputs: [result], seconds: elapsed)
    }
}
