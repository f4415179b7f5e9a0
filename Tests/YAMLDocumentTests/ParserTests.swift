import Diagnostics
import Foundation
import Testing
import YAMLDocument

/// Parses a YAML text. Returns the root node and the diagnostics.
private func parse(_ text: String) -> (node: YAMLNode?, sink: DiagnosticSink) {
    var sink = DiagnosticSink()
    return (YAMLParser.parse(Array(text.utf8), file: "t.yaml", into: &sink), sink)
}

@Suite struct ParserTests {
    @Test func scalarsKeepTheirText() throws {
        let (node, sink) = parse("a: on\nb: 012\nc: 1:30\nd: NO\ne: \"x\"\n")
        #expect(sink.diagnostics.isEmpty)
        guard case .mapping(let entries) = try #require(node).content else { throw CancellationError() }
        #expect(entries.map(\.value.text) == ["on", "012", "1:30", "NO", "x"])
        #expect(
            entries[2].value.range
                == SourceRange(file: "t.yaml", line: 3, column: 4, endLine: 3, endColumn: 8))
    }

    @Test func columnsCountCodePoints() throws {
        let (_, sink) = parse("größe: { ä: 1, ä: 2 }\n")
        #expect(sink.diagnostics.first?.range.column == 16)
        let (_, bom) = parse("\u{feff}a: 1\r\na: 2\r\n")
        #expect(
            bom.diagnostics.first?.range
                == SourceRange(file: "t.yaml", line: 2, column: 1, endLine: 2, endColumn: 2))
    }

    @Test func mergeKeysResolveAliases() throws {
        let (node, sink) = parse("base: &b { x: 1, y: 2 }\nuse: { <<: *b, y: 3 }\n")
        #expect(sink.diagnostics.isEmpty)
        guard case .mapping(let entries) = try #require(node).content,
            case .mapping(let use) = entries[1].value.content
        else {
            throw CancellationError()
        }
        #expect(
            Dictionary(uniqueKeysWithValues: use.map { ($0.key, $0.value.text ?? "") }) == [
                "x": "1", "y": "3",
            ])
    }

    @Test(arguments: [
        ("a: 1\na: 2\n", Rule.duplicateKey), ("a: *nope\n", .yamlSyntax),
        ("a: !!python/object 1\n", .yamlSyntax),
        ("a: [1\n", .yamlSyntax), ("a: 1\n---\nb: 2\n", .yamlSyntax), ("a: \u{1}\n", .yamlSyntax),
        ("? [a]\n: 1\n", .wrongType),
        ("<<: 1\n", .wrongType),
    ])
    func malformedDocumentsReportTheirRule(_ text: String, _ rule: Rule) {
        let (_, sink) = parse(text)
        #expect(sink.diagnostics.first?.rule == rule)
    }

    /// Deep nesting, alias expansion, long scalars and bytes that aren't text exceed a limit or are syntax errors.
    @Test func hostileFilesAreDiagnosed() {
        let deep = String(repeating: "[", count: 100_000)
        #expect(parse(deep).sink.diagnostics.first?.rule == .yamlLimit)
        var bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for i in 1..<12 {
            bomb +=
                "a\(i): &a\(i) [" + Array(repeating: "*a\(i - 1)", count: 10).joined(separator: ", ") + "]\n"
        }
        #expect(parse(bomb).sink.diagnostics.first?.rule == .yamlLimit)
        #expect(
            parse("a: " + String(repeating: "x", count: 70_000)).sink.diagnostics.first?.rule == .yamlLimit)
        #expect(parse("a: \"x\0y\"").sink.diagnostics.first?.rule == .yamlSyntax)
        var sink = DiagnosticSink()
        #expect(YAMLParser.parse([0x61, 0x3a, 0x20, 0xff, 0xfe], file: "t.yaml", into: &sink) == nil)
        #expect(sink.diagnostics.first?.rule == .yamlSyntax)
    }
}
