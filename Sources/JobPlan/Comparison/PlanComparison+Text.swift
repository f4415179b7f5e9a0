internal import Diagnostics
internal import JobSpec
internal import Media

extension PlanComparison.Difference {
    /// The difference as words. They may contain untrusted text.
    struct Words {
        var name: String
        var before: String?
        var now: String?
        /// Relation of two numbers, such as `+20 %`; nil for other values.
        var relation: String?
    }

    /// Returns the difference as words. `path` returns the form in which paths are displayed.
    func words(path: (String) -> String) -> Words {
        func words<Value>(
            _ name: String, _ change: PlanComparison.Change<Value>, _ text: (Value) -> String
        ) -> Words { Words(name: name, before: change.before.map(text), now: change.now.map(text)) }
        switch self {
        case .source(let change): return words("source", change, path)
        case .destination(let change): return words("destination", change, path)
        case .ifExists(let change): return words("if_exists", change, \.rawValue)
        case .value(let name, let change): return words(name, change) { $0 }
        case .expectation(let change): return words("expectation", change) { $0 }
        case .note(let change): return words("note", change) { $0 }
        case .duration(let change): return words("duration", change, PlanText.time)
        case .size(let change):
            var size = words("size", change) { "about \(PlanText.bytes($0))" }
            size.relation = PlanComparison.relation(change.before, change.now)
            return size
        }
    }
}

extension PlanComparison {
    /// Returns the change of a number in percent, such as `+20 %`; nil if there is no relation or no change.
    static func relation(_ before: Int64?, _ now: Int64?) -> String? {
        guard let before, let now, before > 0, now >= 0 else { return nil }
        let percent = ((Double(now) / Double(before) - 1) * 100).rounded()
        guard percent != 0, percent.magnitude < 1_000_000 else { return nil }
        return (percent > 0 ? "+" : "−") + "\(Int(percent.magnitude)) %"
    }

    /// The counts of jobs in one line, such as `1 added, 2 changed, 5 unchanged`.
    var counts: String {
        let parts = [
            (added.count, "added"), (changed.count, "changed"), (removed.count, "removed"),
            (unchanged, "unchanged"),
        ]
        let shown = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return shown.isEmpty ? "no jobs" : shown.joined(separator: ", ")
    }

    /// The totals that both plans have: name, value before, value now.
    var totals: [(name: String, before: String, now: String, relation: String?)] {
        var rows: [(String, String, String, String?)] = [
            ("jobs", "\(before.jobs)", "\(now.jobs)", nil),
            ("outputs", "\(before.outputs)", "\(now.outputs)", nil),
        ]
        if before.rejected + now.rejected > 0 {
            rows.append(("rejected jobs", "\(before.rejected)", "\(now.rejected)", nil))
        }
        if before.skipped + now.skipped > 0 {
            rows.append(("skipped jobs", "\(before.skipped)", "\(now.skipped)", nil))
        }
        rows.append(("duration", PlanText.time(before.duration), PlanText.time(now.duration), nil))
        rows.append(("size", before.sizeText, now.sizeText, Self.relation(before.size, now.size)))
        return rows
    }
}

extension PlanComparison.Totals {
    /// Predicted size, with the number of outputs of unknown size.
    var sizeText: String {
        "about \(PlanText.bytes(size))"
            + (outputsWithoutSize > 0 ? " and \(outputsWithoutSize) of unknown size" : "")
    }
}

extension PlanComparison.Output {
    /// Duration and predicted size as text; empty if unknown.
    var extent: String {
        [duration.map(PlanText.time), size.map { "about \(PlanText.bytes($0))" }].compactMap(\.self)
            .joined(separator: ", ")
    }
}

/// The text form of the differences between two plans, for a terminal.
package enum PlanComparisonText {
    /// Renders the differences and the totals. `remarks` are lines about the earlier plan.
    package static func render(
        _ comparison: PlanComparison, remarks: [String] = [], path: (String) -> String
    ) -> String {
        var lines: [String] = []
        for job in comparison.added { lines += self.lines(of: job, "added", path: path) }
        for job in comparison.changed {
            lines.append("\(job.key.id) of \(job.key.file): changed")
            if let rejection = job.rejection { lines.append(state("rejected", rejection)) }
            if let skip = job.skip { lines.append(state("skipped", skip)) }
            lines += job.differences.map { line($0, indent: 2, path: path) }
            for output in job.outputs { lines += self.lines(of: output, path: path) }
        }
        for job in comparison.removed { lines += self.lines(of: job, "removed", path: path) }
        lines += remarks
        lines.append(comparison.counts)
        if !comparison.isEmpty {
            for total in comparison.totals where total.before != total.now {
                let relation = total.relation.map { " (\($0))" } ?? ""
                lines.append("\(PlanText.pad(total.name, 13)) \(total.before) → \(total.now)\(relation)")
            }
        }
        return lines.map { SafeText.line($0) + "\n" }.joined()
    }

    private static func lines(
        of job: PlanComparison.Job, _ state: String, path: (String) -> String
    ) -> [String] {
        ["\(job.key.id) of \(job.key.file): \(state)"]
            + (job.rejection.map { ["  rejected: \($0)"] } ?? [])
            + (job.skip.map { ["  skipped: \($0)"] } ?? [])
            + job.outputs.map { "  " + text($0, path: path) }
    }

    private static func lines(
        of output: PlanComparison.OutputChange, path: (String) -> String
    ) -> [String] {
        switch output {
        case .added(let output): ["  added: " + text(output, path: path)]
        case .removed(let output): ["  removed: " + text(output, path: path)]
        case .changed(nil, let differences): differences.map { line($0, indent: 2, path: path) }
        case .changed(let id?, let differences):
            ["  output \(id)"] + differences.map { line($0, indent: 4, path: path) }
        }
    }

    private static func text(_ output: PlanComparison.Output, path: (String) -> String) -> String {
        let target = output.destination.map { "→ \(path($0))" }
        let parts = [output.id.map { "\($0):" }, output.source.map(path), target].compactMap(\.self)
        return parts.joined(separator: " ") + (output.extent.isEmpty ? "" : ", \(output.extent)")
    }

    private static func state(_ name: String, _ change: PlanComparison.Change<String>) -> String {
        change.now.map { "  \(name): \($0)" } ?? "  no longer \(name)"
    }

    private static func line(
        _ difference: PlanComparison.Difference, indent: Int, path: (String) -> String
    ) -> String {
        let words = difference.words(path: path)
        let margin = String(repeating: " ", count: indent)
        let change =
            switch (words.before, words.now) {
            case (let before?, let now?): "\(before) → \(now)"
            case (nil, let now?): "added \(now)"
            case (let before?, nil): "removed \(before)"
            case (nil, nil): ""
            }
        return "\(margin)\(words.name): \(change)" + (words.relation.map { " (\($0))" } ?? "")
    }
}
