internal import Diagnostics
internal import Media

extension ImagesPlan {
    /// Description of the images' times and layout.
    var text: String {
        var text = counted(stills.count, "image")
        if let first = stills.first, let last = stills.last {
            text += first == last ? " at \(first.time) s" : " from \(first.time) s to \(last.time) s"
        }
        if tolerance.before == nil {
            text += ", keyframes"
        } else if !tolerance.isExact {
            text += ", tolerance \(tolerance.before ?? .zero) s before and \(tolerance.after) s after"
        }
        if let animation {
            text +=
                ", as animated \(animation.rawValue) of \(timing(as: animation).end) s"
        }
        if let sheet {
            text +=
                ", \(sheet.columns) column\(sheet.columns == 1 ? "" : "s") × \(sheet.rows) row\(sheet.rows == 1 ? "" : "s")"
        }
        return text
    }

    package func summary(of output: OutputPlan) -> String { "\(output.container), \(text)" }

    package func expectedText(of output: OutputPlan) -> String { counted(stills.count, "image") }

    /// Returns lines for some of the files; all are in the plan's JSON.
    package func linesBeforeTracks(of output: OutputPlan) -> [String] {
        guard let destination = output.destination else { return [] }
        if let index = sheet?.index { return ["  index      \(index)"] }
        let named = stills.filter { $0.destination != nil }
        guard named.count > 1 else { return [] }
        func line(_ still: Still, _ title: String) -> String {
            "  \(PlanText.pad(title, 10)) \(still.time) s → \(still.destination ?? destination)"
        }
        var lines = named.prefix(3).enumerated().map { line($1, $0 == 0 ? "images" : "") }
        if named.count > 4 { lines.append("  \(PlanText.pad("", 10)) and \(named.count - 4) more, until") }
        if named.count > 3, let last = named.last { lines.append(line(last, "")) }
        return lines
    }
}
