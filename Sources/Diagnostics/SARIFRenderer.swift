internal import ExactStrings
package import FoundationEssentials

/// A renderer of messages as SARIF 2.1.0, which code-scanning services read.
package enum SARIFRenderer {
    private struct Log: Encodable {
        let schema = "https://json.schemastore.org/sarif-2.1.0.json"
        let version = "2.1.0"
        let runs: [Run]
        enum CodingKeys: String, CodingKey {
            case schema = "$schema"
            case version
            case runs
        }
    }
    private struct Run: Encodable {
        let tool: Tool
        let columnKind = "unicodeCodePoints"
        let results: [Result]
    }
    private struct Tool: Encodable { let driver: Driver }
    private struct Driver: Encodable {
        let name = "tandem"
        let version: String
        let rules: [RuleInfo]
        enum CodingKeys: CodingKey { case name, version, rules }
    }
    private struct RuleInfo: Encodable {
        let id: String
        let shortDescription: Message
    }
    private struct Message: Encodable { let text: String }
    private struct Result: Encodable {
        let ruleId: String
        let ruleIndex: Int
        let level: String
        let message: Message
        let locations: [Location]
        let relatedLocations: [Location]?
    }
    private struct Location: Encodable {
        let physicalLocation: PhysicalLocation
        let message: Message?
    }
    private struct PhysicalLocation: Encodable {
        let artifactLocation: ArtifactLocation
        let region: Region
    }
    private struct ArtifactLocation: Encodable { let uri: String }
    private struct Region: Encodable {
        let startLine: Int
        let startColumn: Int
        let endLine: Int
        let endColumn: Int
    }

    /// Renders all messages as a SARIF log with a single run.
    package static func render(_ sink: DiagnosticSink, version: String) throws -> Data {
        let diagnostics = sink.diagnostics
        let rules = Set(diagnostics.map(\.rule)).sorted { $0.rawValue < $1.rawValue }
        let numbers = Dictionary(uniqueKeysWithValues: rules.enumerated().map { ($0.element, $0.offset) })
        let results = diagnostics.map { diagnostic in
            let related = diagnostic.notes.compactMap { note in note.range.map { location($0, note.message) }
            }
            return Result(
                ruleId: diagnostic.rule.rawValue, ruleIndex: numbers[diagnostic.rule] ?? 0,
                level: diagnostic.severity.rawValue, message: Message(text: text(diagnostic)),
                locations: diagnostic.range.isArgument ? [] : [location(diagnostic.range, nil)],
                relatedLocations: related.isEmpty ? nil : related)
        }
        let driver = Driver(
            version: version,
            rules: rules.map { RuleInfo(id: $0.rawValue, shortDescription: Message(text: $0.summary)) })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return SafeText.json(
            try encoder.encode(Log(runs: [Run(tool: Tool(driver: driver), results: results)])))
    }

    private static func text(_ diagnostic: Diagnostic) -> String {
        [diagnostic.message, diagnostic.jobsSentence.map { "(\($0))" }, diagnostic.help.map { "(\($0))" }]
            .compactMap { $0 }.joined(separator: " ")
    }

    private static func location(_ range: SourceRange, _ message: String?) -> Location {
        Location(
            physicalLocation: PhysicalLocation(
                artifactLocation: ArtifactLocation(uri: uri(range.file)),
                region: Region(
                    startLine: max(1, range.line), startColumn: max(1, range.column),
                    endLine: max(1, range.endLine), endColumn: max(1, range.endColumn))),
            message: message.map { Message(text: $0) })
    }

    /// Returns a path as a URI reference, with percent-encoding of characters that aren't allowed in one.
    private static func uri(_ path: String) -> String {
        let text = PercentEncoding.path(path)
        return path.hasPrefix("/") ? "file://" + text : text
    }
}
