internal import Diagnostics
internal import Media

extension PlanText {
    /// Returns a description of the images' times and layout.
    static func described(_ images: ImagesPlan) -> String {
        var text = counted(images.stills.count, "image")
        if let first = images.stills.first, let last = images.stills.last {
            text += first == last ? " at \(first.time) s" : " from \(first.time) s to \(last.time) s"
        }
        let tolerance = images.tolerance
        if tolerance.before == nil {
            text += ", keyframes"
        } else if !tolerance.isExact {
            text += ", tolerance \(tolerance.before ?? .zero) s before and \(tolerance.after) s after"
        }
        if let animation = images.animation {
            text +=
                ", as animated \(animation.rawValue) of \(images.timing(as: animation).end) s"
        }
        if let sheet = images.sheet {
            text +=
                ", \(sheet.columns) column\(sheet.columns == 1 ? "" : "s") × \(sheet.rows) row\(sheet.rows == 1 ? "" : "s")"
        }
        return text
    }

    /// Returns lines for some of the files; all are in the plan's JSON.
    static func files(_ images: ImagesPlan, of output: OutputPlan) -> [String] {
        guard let destination = output.destination else { return [] }
        if let index = images.sheet?.index { return ["  index      \(index)"] }
        let named = images.stills.filter { $0.destination != nil }
        guard named.count > 1 else { return [] }
        func line(_ still: ImagesPlan.Still, _ title: String) -> String {
            "  \(pad(title, 10)) \(still.time) s → \(still.destination ?? destination)"
        }
        var lines = named.prefix(3).enumerated().map { line($1, $0 == 0 ? "images" : "") }
        if named.count > 4 { lines.append("  \(pad("", 10)) and \(named.count - 4) more, until") }
        if named.count > 3, let last = named.last { lines.append(line(last, "")) }
        return lines
    }
}
