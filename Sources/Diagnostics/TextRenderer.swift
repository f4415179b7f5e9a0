/// A renderer of messages for a terminal: `file:line:column: error[rule]: …`, the line, and a caret under the range.
package struct TextRenderer: Sendable {
    private let sources: SourceTexts
    private let usesColor: Bool

    /// Creates a renderer. `sources` contains the files that messages refer to.
    package init(sources: SourceTexts, usesColor: Bool = false) {
        self.sources = sources
        self.usesColor = usesColor
    }

    /// Renders all messages in order, followed by their counts.
    package func render(_ sink: DiagnosticSink) -> String {
        var text = ""
        for diagnostic in sink.diagnostics { text += render(diagnostic) }
        let (errors, warnings) = (sink.errorCount, sink.warningCount)
        if sink.omitted > 0 { text += "\(sink.omitted) more are not shown\n" }
        var counts: [String] = []
        if errors > 0 { counts.append("\(errors) error\(errors == 1 ? "" : "s")") }
        if warnings > 0 { counts.append("\(warnings) warning\(warnings == 1 ? "" : "s")") }
        if !counts.isEmpty { text += counts.joined(separator: ", ") + "\n" }
        return text
    }

    /// Renders a message with its excerpt, notes and help.
    package func render(_ diagnostic: Diagnostic) -> String {
        let range = diagnostic.range
        var text =
            bold("\(Self.printable(range.description)): ")
            + paint("\(diagnostic.severity.rawValue)[\(diagnostic.rule.rawValue)]", diagnostic.severity)
            + bold(": ")
            + Self.printable(diagnostic.message) + "\n"
        text += excerpt(range, severity: diagnostic.severity)
        for note in diagnostic.notes {
            text += "  note: "
            if let location = note.range { text += Self.printable(location.description) + ": " }
            text += Self.printable(note.message) + "\n"
            if let location = note.range { text += excerpt(location, severity: .note) }
        }
        if let jobs = diagnostic.jobsSentence {
            text += "  note: \(Self.printable(jobs))\n"
        } else if diagnostic.repetitions > 0 {
            let locations =
                diagnostic.repetitions == 1 ? "1 other use" : "\(diagnostic.repetitions) other uses"
            text += "  note: also applies to \(locations)\n"
        }
        if let help = diagnostic.help { text += "  help: " + Self.printable(help) + "\n" }
        return text
    }

    private func excerpt(_ range: SourceRange, severity: Severity) -> String {
        // The excerpt begins near the start of the range. Columns count code points from 1.
        let start = max(0, range.column - 1)
        guard
            let excerpt = sources.excerpt(
                ofLine: range.line, max(0, start - 200)..<start + 200, of: range.file)
        else { return "" }
        let (shown, caret) = Self.window(excerpt, range)
        guard !shown.isEmpty else { return "" }
        let number = "\(range.line)"
        let margin = String(repeating: " ", count: number.count)
        return " \(number) | \(shown)\n \(margin) | \(paint(caret, severity))\n"
    }

    /// Returns the part of a line around the range, and the carets below the range. Both contain the same tabs.
    private static func window(_ excerpt: SourceText.Excerpt, _ range: SourceRange) -> (String, String) {
        let (line, first) = (excerpt.characters, excerpt.first)
        let count = first + line.count
        let start = max(first, min(range.column - 1, count))
        let end =
            range.endLine == range.line
            ? max(start + 1, min(range.endColumn - 1, count)) : max(start + 1, count)
        let from = max(first, start > 60 ? start - 40 : 0)
        let to = min(count, max(from + 110, min(end, start + 100)))
        let isCut = to < count || excerpt.isCut
        let part = from < to ? String(line[(from - first)..<(to - first)]) : ""
        let shown = (from > 0 ? "…" : "") + printable(part) + (isCut ? "…" : "")
        var caret = from > 0 ? " " : ""
        for i in from..<max(from, start) {
            let character = i - first < line.count ? line[i - first] : " "
            caret += character == "\t" ? "\t" : spaces(for: character)
        }
        caret += "^" + String(repeating: "~", count: max(0, min(end, max(to, start + 1)) - start - 1))
        return (shown, caret)
    }

    /// Returns the spaces that are as wide as a character on a terminal: two for wide characters, otherwise one.
    private static func spaces(for character: Character) -> String {
        let isWide = character.unicodeScalars.contains { scalar in
            switch scalar.value {
            case 0x1100...0x115f, 0x2e80...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe4f,
                0xff00...0xff60,
                0x1f300...0x1f64f, 0x1f900...0x1f9ff, 0x20000...0x3fffd:
                true
            default: false
            }
        }
        return isWide ? "  " : " "
    }

    /// Returns a text with its hidden characters replaced, so that a job file can't send control characters to a
    /// terminal.
    package static func printable(_ text: String) -> String { SafeText.line(text) }

    private func bold(_ text: String) -> String { usesColor ? "\u{1b}[1m\(text)\u{1b}[0m" : text }

    private func paint(_ text: String, _ severity: Severity) -> String {
        guard usesColor else { return text }
        let code =
            switch severity {
            case .error: "31"
            case .warning: "33"
            case .note: "36"
            }
        return "\u{1b}[1;\(code)m\(text)\u{1b}[0m"
    }
}
