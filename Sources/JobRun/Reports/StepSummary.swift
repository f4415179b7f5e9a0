internal import Diagnostics
internal import JobPlan
internal import JobSpec

/// The Markdown report for the step summary of a CI system.
package enum StepSummary {
    /// Renders the outcome counts, then warnings and failures of at most fifty jobs each.
    package static func render(_ report: RunReport) -> String {
        var counts: [RunReport.Job.Outcome: Int] = [:]
        for job in report.jobs { counts[job.outcome, default: 0] += 1 }
        let figures = counts.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            "\($0.value) \($0.key.text)"
        }
        var text = "### Tandem: \(cell(report.files.joined(separator: ", "))) \(report.status.rawValue)\n\n"
        text += "\(counted(report.jobs.count, "job")): \(figures.joined(separator: ", "))\n"
        let warned = report.jobs.filter { !$0.warnings.isEmpty }
        if !warned.isEmpty {
            text += "\n| job | warning |\n| --- | --- |\n"
            for job in warned.prefix(50) {
                text += "| \(cell(job.id)) | \(cell(job.warnings.joined(separator: "; "))) |\n"
            }
            if warned.count > 50 { text += "\nand \(warned.count - 50) more\n" }
        }
        let failed = report.jobs.filter { $0.outcome == .failed }
        if failed.isEmpty { return text }
        text += "\n| job | location | reason |\n| --- | --- | --- |\n"
        for job in failed.prefix(50) {
            // A problem of the whole file has no job.
            let shown = job.job ?? (job.problem == true ? "" : job.id)
            text += "| \(cell(shown)) | \(cell(job.location ?? job.file)) | \(cell(job.reason ?? "")) |\n"
        }
        if failed.count > 50 { text += "\nand \(failed.count - 50) more\n" }
        return text
    }

    /// Escapes characters that end a table cell or begin markup.
    private static func cell(_ text: String) -> String {
        var cell = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if "|<>`*_[]\\".unicodeScalars.contains(scalar) { cell.append("\\") }
            cell.append(SafeText.isHidden(scalar) ? " " : scalar)
        }
        return String(cell)
    }
}
