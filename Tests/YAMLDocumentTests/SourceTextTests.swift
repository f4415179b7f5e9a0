import Diagnostics
import Foundation
import TestSupport
import Testing
import YAMLDocument

/// Encodings of job files that libyaml detects by their byte order mark.
private enum FileEncoding: CaseIterable {
    case utf8, utf8WithMark, utf16LittleEndian, utf16BigEndian

    func bytes(of text: String) -> [UInt8] {
        switch self {
        case .utf8: Array(text.utf8)
        case .utf8WithMark: [0xef, 0xbb, 0xbf] + text.utf8
        case .utf16LittleEndian: [0xff, 0xfe] + text.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
        case .utf16BigEndian: [0xfe, 0xff] + text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
        }
    }
}

/// Tests that messages show the part of the file that they refer to, in every encoding and with every line end.
@Suite struct SourceTextTests {
    private static func messages(_ bytes: [UInt8]) -> (sink: DiagnosticSink, text: String) {
        var sink = DiagnosticSink()
        _ = YAMLParser.parse(bytes, file: "t.yaml", into: &sink)
        var texts = SourceTexts()
        texts.add(bytes, of: "t.yaml")
        return (sink, TextRenderer(sources: texts).render(sink))
    }

    /// A character whose bytes in UTF-16 look like line feeds, before an error in the second line.
    @Test(arguments: FileEncoding.allCases) private func excerptsHaveTheFilesEncoding(
        _ encoding: FileEncoding
    ) {
        let (_, text) = Self.messages(encoding.bytes(of: "ਊਊ: größe\nkey: 1\nkey: 2\n"))
        #expect(
            text == """
                t.yaml:3:1: error[duplicate-key]: duplicate key `key`
                 3 | key: 2
                   | ^~~
                  note: t.yaml:2:1: the first one is here
                 2 | key: 1
                   | ^~~
                1 error

                """)
    }

    @Test(arguments: ["\n", "\r", "\r\n", "\u{85}", "\u{2028}"])
    func helpWithSyntaxIsIndependentOfLineEnds(_ end: String) {
        let (sink, _) = Self.messages(Array("a: 1\(end)b: x: y\(end)c: 3\(end)".utf8))
        #expect(sink.diagnostics.map(\.range.line) == [2])
        #expect(
            sink.diagnostics.map(\.help) == ["a value that contains `: ` needs quotes: b: \"x: y\""])
    }

    @Test func invalidBytesAreLocatedByTheirLine() {
        let utf8 = Self.messages(Array("a: 1\r\nb: ö".utf8) + [0xff])
        #expect(utf8.sink.diagnostics.map(\.range.description) == ["t.yaml:2:5"])
        // A low surrogate without its high surrogate.
        let utf16 = Self.messages(FileEncoding.utf16LittleEndian.bytes(of: "a: 1\r\nb: ö") + [0x00, 0xdc])
        #expect(utf16.sink.diagnostics.map(\.range.description) == ["t.yaml:2:5"])
    }

    /// Generated texts of items that each contain an error. The locations are equal in every encoding and within the
    /// text, and the lines are those that were joined.
    @Test(arguments: 0..<200) func locationsAreIndependentOfTheEncoding(_ seed: Int) throws {
        var random = SeededGenerator(UInt64(seed))
        let ends = ["\n", "\r", "\r\n", "\u{85}", "\u{2028}", "\u{2029}"]
        let characters = ["a", "ö", "ਊ", "字", "🎬", "\t", "e\u{301}", "\u{feff}", " "]
        var lines: [String] = []
        var text = ""
        for index in 0..<Int.random(in: 1...12, using: &random) {
            let filler = (0..<Int.random(in: 0...300, using: &random)).map { _ in
                characters.randomElement(using: &random) ?? ""
            }.joined()
            let line = "k\(index): { \"x\(filler)\": 1, k: 1, k: 2 }"
            lines.append(line)
            text += line + (ends.randomElement(using: &random) ?? "")
        }
        var locations: Set<[SourceRange]> = []
        for encoding in FileEncoding.allCases {
            let bytes = encoding.bytes(of: text)
            let source = SourceText(bytes)
            #expect(source.lines == lines + [""])
            let (sink, rendered) = Self.messages(bytes)
            #expect(sink.diagnostics.count == lines.count)
            #expect(sink.diagnostics.allSatisfy { source.contains($0.range) })
            #expect(rendered.split(separator: "\n").count == lines.count * 6 + 1)
            locations.insert(sink.diagnostics.map(\.range))
        }
        #expect(locations.count == 1)
    }

    /// Locations of another text, which may be outside this one, are rendered without an excerpt or with a part of it.
    @Test(arguments: 0..<500) func anyLocationCanBeRendered(_ seed: Int) {
        var random = SeededGenerator(UInt64(seed))
        let alphabet: [UInt8] = [0x0a, 0x0d, 0x20, 0x61, 0xc3, 0xb6, 0xe2, 0x80, 0xa8, 0xff]
        let bytes = (0..<Int.random(in: 0...600, using: &random)).map { _ in
            alphabet.randomElement(using: &random) ?? 0
        }
        var texts = SourceTexts()
        texts.add(bytes, of: "t.yaml")
        for _ in 0..<50 {
            let numbers = (0..<4).map { _ in
                [0, 1, 2, 30, 61, 201, 300, .max].randomElement(using: &random) ?? 0
            }
            let range = SourceRange(
                file: "t.yaml", line: numbers[0], column: numbers[1], endLine: numbers[2],
                endColumn: numbers[3])
            var sink = DiagnosticSink()
            sink.error(.yamlSyntax, "a problem", at: range)
            #expect(!TextRenderer(sources: texts).render(sink).isEmpty)
        }
    }
}
