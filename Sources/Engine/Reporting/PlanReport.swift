package import Diagnostics
package import JobPlan
package import JobRun

/// The JSON output of `tandem plan`: the plan, the outputs that would be created, and the diagnostics.
package struct PlanReport: Encodable, Sendable {
    /// The prediction for an output. Without `reasons`, it is up to date.
    struct Run: Encodable, Sendable {
        let id: String
        let file: String
        let reasons: [String]
        /// Whether the output is kept and only its changed expectations are evaluated.
        let onlyEvaluates: Bool
        /// Reason why an earlier run declined the output; nil for any other output.
        let declined: String?
        /// Reason why the job is skipped; nil for any other output.
        let skipped: String?
    }

    let plan: BatchPlan
    let runs: [Run]
    let diagnostics: [Diagnostic]

    package init(_ plan: BatchPlan, _ forecast: RunForecast, _ diagnostics: DiagnosticSink) {
        self.plan = plan
        self.diagnostics = diagnostics.diagnostics
        runs = plan.jobs.flatMap(\.tasks).map { task in
            let reasons = forecast.reasons(for: task)
            return Run(
                id: task.name, file: task.file, reasons: reasons.lines, onlyEvaluates: reasons.onlyEvaluates,
                declined: reasons.omission.flatMap { if case .declined(let why) = $0 { why } else { nil } },
                skipped: reasons.omission.flatMap { if case .skipped(let why) = $0 { why } else { nil } })
        }
    }
}
