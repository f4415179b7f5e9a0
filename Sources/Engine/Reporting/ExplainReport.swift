internal import Diagnostics
internal import JobPlan
package import JobRun

/// Reasons why the outputs of a job would be made again.
package struct ExplainReport: Sendable {
    /// The report for people: a line per output, and one per reason.
    package let text: String

    /// Describes a job, or one instance of it.
    package init(_ job: String, _ planned: Pipeline.Planned, _ forecast: RunForecast) {
        var lines: [String] = []
        for plan in planned.plan.jobs where plan.id == job || plan.base == job {
            for task in plan.tasks {
                let reasons = forecast.reasons(for: task)
                let verdict =
                    reasons.lines.isEmpty
                    ? "up to date" : reasons.onlyJudges ? "its output stays, and is judged" : "runs"
                lines.append("\(task.name): \(verdict)")
                lines += reasons.lines.map { "  \($0)" }
            }
        }
        text = lines.map { SafeText.line($0) + "\n" }.joined()
    }
}
