internal import FoundationEssentials
internal import JobPlan
package import JobRun
package import JobStages

/// The output of `tandem plan` as text or Markdown: the plan, or its differences from an earlier one.
package struct PlanListing: Sendable {
    private let planned: Pipeline.Planned
    private let earlier: EarlierPlan?
    /// Paths beneath this folder are displayed relative to it.
    private let folder: String

    /// Creates the listing of a plan; with `earlier`, of its differences from that plan.
    package init(_ planned: Pipeline.Planned, since earlier: EarlierPlan?) {
        self.planned = planned
        self.earlier = earlier
        folder = FileManager.default.currentDirectoryPath
    }

    /// Returns the text for a terminal.
    /// - Throws: errors of encoding the plans' values.
    package func text(_ forecast: RunForecast) throws -> String {
        guard let earlier else { return PlanText.render(planned.plan, reasons: forecast.reasons) }
        let comparison = try PlanComparison(of: planned.plan, since: earlier.plan)
        return PlanComparisonText.render(comparison, remarks: earlier.remarks, path: shown)
    }

    /// Returns the Markdown for a comment on a change.
    /// - Throws: errors of encoding the plans' values.
    package func markdown(_ forecast: RunForecast) throws -> String {
        guard let earlier else {
            return PlanMarkdown.render(planned.plan, reasons: forecast.reasons, path: shown)
        }
        let comparison = try PlanComparison(of: planned.plan, since: earlier.plan)
        return PlanMarkdown.render(comparison, remarks: earlier.remarks, path: shown)
    }

    private func shown(_ path: String) -> String {
        let prefix = folder == "/" ? "/" : folder + "/"
        return path.utf8.starts(with: prefix.utf8) ? String(path.dropFirst(prefix.count)) : path
    }
}
