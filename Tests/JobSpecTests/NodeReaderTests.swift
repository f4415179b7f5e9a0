import Diagnostics
import Media
import TestSupport
import Testing
import YAMLDocument

@testable import JobSpec

/// Values that are read by the table of the language: each value that can't be read has an error at its location.
@Suite struct NodeReaderTests {
    private enum Speed: String, Sendable { case slow }

    private static let type = MappingType(
        "test", "a test", "",
        keys: [KeyInfo("speed", .word(["slow", "fast"]), ""), KeyInfo("name", .string(), "")])

    /// Reads a mapping, and returns the value with the errors and their columns.
    private func read<Value>(
        _ yaml: String, _ read: (NodeReader, Fields) -> Located<Value>?
    ) throws -> (value: Value?, errors: [String]) {
        var sink = DiagnosticSink()
        let node = try #require(YAMLParser.parse(Array(yaml.utf8), file: "test.yaml", into: &sink))
        let reader = NodeReader()
        let fields = try #require(reader.fields(node, as: Self.type))
        let value = read(reader, fields)?.value
        return (value, reader.sink.diagnostics.map { "\($0.range.column): \($0.message)" })
    }

    @Test func wordsOfTheEnumAreRead() throws {
        let (value, errors) = try read("speed: slow") { $0.choice("speed", of: $1, as: Speed.self) }
        #expect(value == .slow && errors == [])
    }

    @Test func wordsThatTheEnumLacksAreErrors() throws {
        let (value, errors) = try read("speed: fast") { $0.choice("speed", of: $1, as: Speed.self) }
        #expect(value == nil && errors == ["8: `speed: fast` is not supported by this version"])
    }

    @Test func wordsThatTheTableLacksAreErrors() throws {
        let (value, errors) = try read("speed: x") { $0.choice("speed", of: $1, as: Speed.self) }
        #expect(value == nil && errors == ["8: `speed` can't be `x`; expected one of slow, fast"])
    }

    /// A key with another type in the table than in the decoder has an error at its value; an absent one has none.
    @Test func keysWithAnotherTypeInTheTableAreErrors() throws {
        let message = "can't be read: the table of the language has no such value"
        let number = try read("name: 3") { $0.value("name", of: $1, as: Int.self) }
        #expect(number.value == nil && number.errors == ["7: `name` of a test \(message)"])
        let word = try read("name: x") { $0.word("name", of: $1) }
        #expect(word.value == nil && word.errors == ["7: `name` of a test \(message)"])
        #expect(try read("speed: slow") { $0.word("name", of: $1) }.errors == [])
    }
}
