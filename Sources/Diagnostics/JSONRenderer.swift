package import FoundationEssentials

/// A renderer of messages for programs: one JSON object with a version, messages and counts.
package enum JSONRenderer {
    private struct Report: Codable {
        var version = 1
        var diagnostics: [Diagnostic]
        var errors: Int
        var warnings: Int
    }

    /// Renders all messages as JSON with sorted keys.
    package static func render(_ sink: DiagnosticSink) throws -> Data {
        try JSONFormat.data(
            of: Report(
                diagnostics: sink.diagnostics, errors: sink.errorCount, warnings: sink.warningCount))
    }
}
