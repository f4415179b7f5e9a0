internal import Diagnostics
internal import Dispatch
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Media

/// Execution of checks, which publish nothing.
extension JobExecutor {
    /// Runs a check, unless the source has already passed it. `completion` is called on `queue`.
    func check(
        _ task: OutputTask, _ onWork: @Sendable () -> Void,
        _ completion: @escaping @Sendable (JobOutcome) -> Void
    ) {
        let (digest, relation) = state?.relation(of: task) ?? (nil, .other)
        if relation == .current, let digest {
            state?.passed(task, digest: digest, seconds: state?.seconds(of: task) ?? 0)
            return completion(.upToDate)
        }
        startTimeout()
        onWork()
        let order = WorkOrder(plan: plan, outputs: [], scratch: nil)
        let work = performer.perform(order) { @Sendable outcome in
            self.queue.async { @Sendable in completion(self.end(check: task, digest, outcome)) }
        }
        attach(work)
    }

    private func end(check task: OutputTask, _ digest: PlanDigest?, _ outcome: WorkOutcome) -> JobOutcome {
        do {
            let findings = try findings(of: outcome)
            guard findings.outputs.count == 1, let found = findings.outputs.first else {
                throw MediaError.internalError("\(findings.outputs.count) findings of a check")
            }
            try SourceCheck(plan).check(when: "while it was read")
            if let failure = failure(of: findings, keptNote: { _ in nil }) { throw failure }
            let warnings = JobWarnings(task: task, findings: found)
            let digest = warnings.reportsDamage ? digest?.afterDamage : digest
            if let digest { state?.passed(task, digest: digest, seconds: elapsed) }
            let result = OutputResult(
                id: nil, destination: nil, size: 0, output: digest?.value.text ?? "",
                duration: found.tracks.map(\.end).max() ?? .zero, tracks: found.tracks,
                warnings: warnings.lines, expectations: found.expectations)
            return .succeeded(JobResult(outputs: [result], seconds: elapsed))
        } catch {
            let outcome = self.outcome(of: error)
            if case .failed = outcome { state?.failed(check: task) }
            return outcome
        }
    }
}
