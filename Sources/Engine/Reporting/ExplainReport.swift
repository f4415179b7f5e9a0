internal import Diagnostics
internal import JobPlan
package import JobRun

/// The reasons why the outputs of a job would be created again, and the search for the settings of those that are up to date.
package struct ExplainReport: Sendable {
    /// Text for the user: a line for each output, followed by its reasons.
    package let text: String

    /// Creates the report of a job with all its instances, or of one instance.
    package init(_ job: String, _ planned: Pipeline.Planned, _ forecast: RunForecast) {
        var lines: [String] = []
        for plan in planned.plan.jobs where plan.id == job || plan.base == job {
            for task in plan.tasks {
                let reasons = forecast.reasons(for: task)
                let verdict =
                    switch reasons.omission {
                    case .declined?: "declined"
                    case .skipped?: "will be skipped"
                    case nil where reasons.lines.isEmpty: "up to date"
                    case nil where reasons.onlyEvaluates:
                        "will evaluate its expectations; the output is kept"
                    case nil: "will run"
                    }
                lines.append("\(task.name): \(verdict)")
                lines += (reasons.lines + [reasons.omission?.reason].compactMap(\.self) + reasons.search).map
                {
                    "  \($0)"
                }
            }
        }
        for skip in planned.plan.skips where skip.id == job || skip.base == job {
            lines += ["\(skip.id): will be skipped", "  \(skip.reason)"]
        }
        text = lines.map { SafeText.line($0) + "\n" }.joined()
    }
}
