/// A renderer of messages as GitHub's workflow commands, which create annotations. Errors come first. GitHub drops
/// annotations beyond the limit, so that the last one of a severity reports the number of omitted messages.
package enum GitHubRenderer {
    /// Maximum number of annotations that GitHub displays per severity and step.
    private static let limit = 10

    /// Renders all messages, one line each. `path` maps a file's name to its path in the repository.
    package static func render(_ sink: DiagnosticSink, path: (String) -> String = { $0 }) -> String {
        var text = ""
        let all = sink.diagnostics
        for severity in Severity.allCases {
            let some = all.filter { $0.severity == severity }
            // One annotation is reserved for the total.
            let shown = some.count > limit ? limit - 1 : some.count
            for diagnostic in some.prefix(shown) { text += line(diagnostic, path) }
            if shown < some.count {
                text +=
                    "::\(command(severity)) title=tandem::\(some.count - shown) more of this kind are in the log\n"
            }
        }
        return text
    }

    private static func command(_ severity: Severity) -> String {
        switch severity {
        case .error: "error"
        case .warning: "warning"
        case .note: "notice"
        }
    }

    private static func line(_ diagnostic: Diagnostic, _ path: (String) -> String) -> String {
        let range = diagnostic.range
        var properties: [String] = []
        if !range.isArgument {
            properties.append("file=\(SafeText.workflowProperty(path(range.file)))")
            properties.append("line=\(range.line),endLine=\(range.endLine)")
            if range.line == range.endLine {
                properties.append("col=\(range.column),endColumn=\(max(range.column, range.endColumn))")
            }
        }
        properties.append("title=\(SafeText.workflowProperty("tandem " + diagnostic.rule.rawValue))")
        var message = diagnostic.message
        for note in diagnostic.notes {
            message += "\n" + (note.range.map { "\($0): " } ?? "") + note.message
        }
        if let jobs = diagnostic.jobsSentence { message += "\n" + jobs }
        if let help = diagnostic.help { message += "\n" + help }
        return
            "::\(command(diagnostic.severity)) \(properties.joined(separator: ","))::\(SafeText.workflowData(message))\n"
    }
}
