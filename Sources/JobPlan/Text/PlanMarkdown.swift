internal import Diagnostics
internal import Media

/// Plans and their differences as Markdown, for comments on changes at GitHub and GitLab.
///
/// Names, paths and messages are untrusted: they are in `<code>` elements, in which mentions, references and markup have no
/// effect. The text is limited in length; jobs that don't fit are counted.
package enum PlanMarkdown {
    /// Maximum length in bytes. GitHub's comments have at most 65,536 characters; the rest is for the caller.
    package static let defaultLimit = 64_000
    /// Maximum number of differences that are displayed of a job.
    private static let maxRows = 40

    /// Renders the outputs of a plan as a table. `reasons` returns the reasons why an output would be created, `path` the
    /// form in which paths are displayed.
    package static func render(
        _ plan: BatchPlan, reasons: (OutputTask) -> RunReasons, limit: Int = defaultLimit,
        path: (String) -> String
    ) -> String {
        let totals = PlanComparison.Totals(plan)
        var text = BoundedMarkdown(limit: limit)
        text.append(
            "### Tandem plan: \(counted(totals.jobs, "job")), \(counted(totals.outputs, "output"))\n\n"
                + "\(PlanText.time(totals.duration)) of media, \(totals.sizeText)\n")
        let rows = plan.jobs.flatMap(\.tasks).map { task in
            let output = PlanComparison.Output(task)
            let why = reasons(task)
            let state =
                why.omission.map(\.word)
                ?? (why.lines.isEmpty ? "up to date" : why.onlyEvaluates ? "check" : "run")
            return [[code(task.name), state] + cells(output, path: path)]
        }
        text.append(table: ["output", "state", "source", "destination", "expected"], groups: rows)
        let skips = plan.skips.map { [[code($0.id), code($0.file), code($0.reason)]] }
        text.append(heading: "Skipped", table: ["job", "file", "reason"], groups: skips)
        let refusals = plan.refusals.map { refusal in
            [[code(refusal.id), code(refusal.file), code(refusal.diagnostics.first?.message ?? "")]]
        }
        text.append(heading: "Rejected", table: ["job", "file", "reason"], groups: refusals)
        return text.finished
    }

    /// Renders the differences of a plan. `remarks` are sentences about the earlier plan; `path` returns the form in which
    /// paths are displayed.
    package static func render(
        _ comparison: PlanComparison, remarks: [String] = [], limit: Int = defaultLimit,
        path: (String) -> String
    ) -> String {
        var text = BoundedMarkdown(limit: limit)
        text.append("### Tandem plan: \(comparison.isEmpty ? "no changes" : comparison.counts)\n")
        for remark in remarks { text.append("\n\(code(remark))\n") }
        if comparison.isEmpty {
            text.append("\n\(counted(comparison.unchanged, "job")) unchanged\n")
            return text.finished
        }
        text.append(
            table: ["total", "before", "now"],
            groups: [
                comparison.totals.map { total in
                    [total.name, total.before, total.now + (total.relation.map { " (\($0))" } ?? "")]
                }
            ])
        let changed = comparison.changed.map { rows(of: $0, path: path) }
        text.append(heading: "Changed", table: ["job", "value", "before", "now"], groups: changed)
        let head = ["job", "source", "destination", "expected"]
        text.append(
            heading: "Added", table: head, groups: comparison.added.map { rows(of: $0, path: path) })
        text.append(
            heading: "Removed", table: head, groups: comparison.removed.map { rows(of: $0, path: path) })
        return text.finished
    }

    private static func rows(of job: PlanComparison.Job, path: (String) -> String) -> [[String]] {
        let name = code(job.key.id)
        if let rejection = job.rejection { return [[name, "rejected: \(code(rejection))", "", ""]] }
        if let skip = job.skip { return [[name, "skipped: \(code(skip))", "", ""]] }
        return limited(job.outputs) { index, output in
            let id = output.id.map { " / \(code($0))" } ?? ""
            return [(index == 0 ? name : "") + id] + cells(output, path: path)
        }
    }

    private static func rows(of job: PlanComparison.JobChange, path: (String) -> String) -> [[String]] {
        struct Row {
            var output: String?
            var cells: [String]
        }
        func row(_ difference: PlanComparison.Difference, of output: String?) -> Row {
            let words = difference.words(path: path)
            let now = words.now.map(code) ?? ""
            return Row(
                output: output,
                cells: [
                    code(words.name), words.before.map(code) ?? "",
                    now + (words.relation.map { " (\($0))" } ?? ""),
                ])
        }
        var rows: [Row] = []
        for (name, change) in [("rejection", job.rejection), ("skip", job.skip)] {
            guard let change else { continue }
            rows.append(Row(cells: [name, change.before.map(code) ?? "", change.now.map(code) ?? ""]))
        }
        rows += job.differences.map { row($0, of: nil) }
        for output in job.outputs {
            switch output {
            case .added(let output):
                rows.append(Row(output: output.id, cells: ["added", "", place(output, path: path)]))
            case .removed(let output):
                rows.append(Row(output: output.id, cells: ["removed", place(output, path: path), ""]))
            case .changed(let id, let differences): rows += differences.map { row($0, of: id) }
            }
        }
        return limited(rows) { index, row in
            let id = row.output.map { " / \(code($0))" } ?? ""
            return [(index == 0 ? code(job.key.id) : "") + id] + row.cells
        }
    }

    /// Returns the rows of the first elements, and one with the number of the others.
    private static func limited<Element>(
        _ elements: [Element], row: (Int, Element) -> [String]
    ) -> [[String]] {
        var rows = elements.prefix(maxRows).enumerated().map { row($0, $1) }
        if elements.count > maxRows { rows.append(["", "and \(elements.count - maxRows) more", "", ""]) }
        return rows
    }

    private static func cells(_ output: PlanComparison.Output, path: (String) -> String) -> [String] {
        [output.source.map { code(path($0)) } ?? "", place(output, path: path), output.extent]
    }

    private static func place(_ output: PlanComparison.Output, path: (String) -> String) -> String {
        output.destination.map { code(path($0)) } ?? ""
    }

    private static func code(_ text: String) -> String { SafeText.markdownCode(text) }
}

/// Markdown of a limited length, which is cut off between rows of tables.
private struct BoundedMarkdown {
    let limit: Int
    private var text = ""
    private var omitted = 0
    /// Length in bytes of the sentence about omitted jobs.
    private static let reserve = 100

    init(limit: Int) { self.limit = limit }

    private func fits(_ more: Int) -> Bool { text.utf8.count + more + Self.reserve <= limit }

    /// Appends a part that is written as a whole or not at all.
    @discardableResult
    mutating func append(_ part: String) -> Bool {
        guard fits(part.utf8.count) else { return false }
        text += part
        return true
    }

    /// Appends a table, unless it is empty. The rows of a group are written together or not at all.
    mutating func append(heading: String? = nil, table head: [String], groups: [[[String]]]) {
        if groups.isEmpty { return }
        let lines = [head, head.map { _ in "---" }].map(Self.line).joined()
        guard append("\n" + (heading.map { "#### \($0)\n\n" } ?? "") + lines) else {
            omitted += groups.count
            return
        }
        for group in groups where !append(group.map(Self.line).joined()) { omitted += 1 }
    }

    private static func line(_ cells: [String]) -> String { "| \(cells.joined(separator: " | ")) |\n" }

    /// The text, with the number of omitted jobs.
    var finished: String {
        omitted == 0 ? text : text + "\n\(omitted) more not shown\n"
    }
}
