package import Diagnostics
package import JobPlan
package import JobRun

/// The JSON form of `tandem plan`: the plan, what of it would run, and the diagnostics.
package struct PlanReport: Encodable, Sendable {
    /// Whether an output would be made; an empty `reasons` means that it is up to date.
    struct Run: Encodable, Sendable {
        let id: String
        let file: String
        let reasons: [String]
        /// Whether the output is kept and only new expectations are evaluated.
        let onlyJudges: Bool
    }

    let plan: BatchPlan
    let runs: [Run]
    let diagnostics: [Diagnostic]

    /// Combines a plan with its forecast.
    package init(_ plan: BatchPlan, _ forecast: RunForecast, _ diagnostics: DiagnosticSink) {
        self.plan = plan
        self.diagnostics = diagnostics.diagnostics
        runs = plan.jobs.flatMap(\.tasks).map { task in
            let reasons = forecast.reasons(for: task)
            return Run(
                id: task.name, file: task.file, reasons: reasons.lines, onlyJudges: reasons.onlyJudges)
        }
    }
}
