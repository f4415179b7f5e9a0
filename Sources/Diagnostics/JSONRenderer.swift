package import FoundationEssentials

/// Renders messages for programs: one JSON object with a version, messages and counts.
package enum JSONRenderer {
    private struct Report: Codable {
        var version = 1
        var diagnostics: [Diagnostic]
        var errors: Int
        var warnings: Int
    }

    /// All messages as JSON, keys sorted.
    package static func render(_ sink: DiagnosticSink) throws -> Data {
        try JSONForm.data(
            of: Report(
                diagnostics: sink.diagnostics, errors: sink.errorCount, warnings: sink.warningCount))
    }
}
