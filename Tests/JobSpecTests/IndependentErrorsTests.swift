import Diagnostics
import Foundation
import JobSpec
import TestSupport
import Testing
import YAMLDocument

/// Diagnostics don't hide each other: if two independent errors of the golden files are combined in one job, exactly
/// both are reported.
///
/// An error is the difference between a file of `err/` with a single diagnostic and a valid job. All pairs of errors
/// that change different parts are combined.
@Suite struct IndependentErrorsTests {
    /// A document without locations.
    indirect enum Value: Equatable {
        case scalar(String, isPlain: Bool)
        case list([Value])
        case map([(key: String, value: Value)])

        init(_ node: YAMLNode) {
            switch node.content {
            case .scalar(let text, let style): self = .scalar(text, isPlain: style == .plain)
            case .sequence(let items): self = .list(items.map(Value.init))
            case .mapping(let entries): self = .map(entries.map { ($0.key, Value($0.value)) })
            }
        }

        static func == (a: Value, b: Value) -> Bool { a.yaml == b.yaml }

        /// The document in YAML flow style.
        var yaml: String {
            switch self {
            case .scalar(let text, let isPlain):
                isPlain && ["", "~", "null"].contains(text) ? "~" : Self.quoted(text)
            case .list(let items): "[" + items.map(\.yaml).joined(separator: ", ") + "]"
            case .map(let entries):
                "{" + entries.map { Self.quoted($0.key) + ": " + $0.value.yaml }.joined(separator: ", ") + "}"
            }
        }

        private static func quoted(_ text: String) -> String {
            "'" + text.replacing("'", with: "''").replacing("\n", with: "\n\n") + "'"
        }

        /// Returns the values to set at paths of `base` to obtain this document; nil if it lacks parts of `base`.
        func changes(of base: Value, at path: [String] = []) -> [(path: [String], value: Value)]? {
            if self == base { return [] }
            switch (self, base) {
            case (.map(let own), .map(let others)):
                guard others.allSatisfy({ other in own.contains { $0.key == other.key } }) else { return nil }
                var changes: [(path: [String], value: Value)] = []
                for entry in own {
                    let path = path + [entry.key]
                    guard let other = others.first(where: { $0.key == entry.key }) else {
                        changes.append((path, entry.value))
                        continue
                    }
                    guard let inner = entry.value.changes(of: other.value, at: path) else {
                        changes.append((path, entry.value))
                        continue
                    }
                    changes += inner
                }
                return changes
            case (.list(let own), .list(let others)) where own.count == others.count:
                var changes: [(path: [String], value: Value)] = []
                for (index, pair) in zip(own, others).enumerated() {
                    let path = path + ["\(index)"]
                    guard let inner = pair.0.changes(of: pair.1, at: path) else {
                        changes.append((path, pair.0))
                        continue
                    }
                    changes += inner
                }
                return changes
            default: return path.isEmpty ? nil : [(path, self)]
            }
        }

        /// Returns the document with `value` set at a path.
        func with(_ value: Value, at path: ArraySlice<String>) -> Value {
            guard let first = path.first else { return value }
            switch self {
            case .map(var entries):
                if let index = entries.firstIndex(where: { $0.key == first }) {
                    entries[index].value = entries[index].value.with(value, at: path.dropFirst())
                } else {
                    entries.append((first, Value.map([]).with(value, at: path.dropFirst())))
                }
                return .map(entries)
            case .list(var items):
                guard let index = Int(first), items.indices.contains(index) else { return self }
                items[index] = items[index].with(value, at: path.dropFirst())
                return .list(items)
            case .scalar: return self
            }
        }
    }

    /// An error: changes to the valid job, and the resulting diagnostic.
    struct Mistake {
        let name: String
        let changes: [(path: [String], value: Value)]
        let finding: Finding

        /// Returns whether neither error changes parts on which the other one depends.
        func isIndependent(of other: Mistake) -> Bool {
            let own = changes.map(\.path)
            let others = other.changes.map(\.path)
            return !Self.overlap(own, others) && !Self.overlap(own, other.context)
                && !Self.overlap(context, others)
        }

        /// Further paths on which the diagnostic depends.
        private var context: [[String]] {
            let paths = changes.map(\.path)
            var context: [[String]] = []
            // The validity of settings depends on the codec, and vice versa.
            for path in paths {
                guard let encode = path.firstIndex(of: "encode") else { continue }
                let encoding = Array(path[...encode])
                if path.last == "codec", finding.rule != .unknownCodec {
                    context.append(encoding)
                } else if Self.ofCodec.contains(finding.rule) {
                    context += [encoding + ["codec"], encoding + ["crf"], encoding + ["use"]]
                }
            }
            // A name in `${…}` is an error only if it is undefined.
            let texts = changes.map(\.value.yaml).filter { $0.contains("${") }
            if finding.rule == .undefinedName, !texts.isEmpty {
                context.append(["vars"])
                context += ["asset", "matrix"].filter { name in texts.contains { $0.contains("${\(name).") } }
                    .map { ["jobs", "web", $0] }
            }
            // Containers support certain codecs and settings.
            if Self.ofContainer.contains(finding.rule) || paths.contains(["jobs", "web", "limit"]) {
                context += [["jobs", "web", "destination"], ["jobs", "web", "container"], ["defaults"]]
            }
            if paths.contains(where: { ["destination", "container"].contains($0.last) }),
                finding.rule != .unknownContainer
            {
                context += ["0", "1"].flatMap { track in
                    [["encode", "codec"], ["attachment"]].map { ["jobs", "web", "tracks", track] + $0 }
                }
            }
            return context
        }

        private static let ofCodec: Set<Rule> = [
            .codecSetting, .encoderOption, .missingKey, .conflictingKeys,
        ]
        private static let ofContainer: Set<Rule> = [
            .containerCodec, .containerSetting, .unknownContainer,
        ]

        private static func overlap(_ some: [[String]], _ others: [[String]]) -> Bool {
            some.contains { one in
                others.contains { one.starts(with: $0) || $0.starts(with: one) }
            }
        }
    }

    struct Finding: Hashable {
        let rule: Rule
        let message: String
    }

    private static let correct = """
        version: 1
        jobs:
          web:
            asset: media/a.mp4
            tracks:
              - video: first
                encode: { codec: h264, crf: 23 }
              - audio: first
                encode: { codec: aac, bitrate: 128k }
            destination: out/web.mp4
        """

    private static func document(_ yaml: String) -> Value? {
        var sink = DiagnosticSink()
        let root = YAMLParser.parse(Array(yaml.utf8), file: "x.yaml", into: &sink)
        return sink.hasErrors ? nil : root.map(Value.init)
    }

    private static func findings(_ document: Value) -> [Finding] {
        decode(document.yaml, file: "x.yaml", directory: GoldenTests.folder + "/err").sink.diagnostics.map {
            Finding(rule: $0.rule, message: $0.message)
        }
    }

    private static func mistakes(in base: Value) throws -> [Mistake] {
        try GoldenTests.files("err").compactMap { name in
            let text = try Data(contentsOf: URL(fileURLWithPath: GoldenTests.folder + "/err/" + name))
            guard let document = document(String(decoding: text, as: UTF8.self)),
                let changes = document.changes(of: base), !changes.isEmpty
            else { return nil }
            let whole = changes.reduce(base) { $0.with($1.value, at: $1.path[...]) }
            let found = findings(whole)
            guard found.count == 1, let finding = found.first else { return nil }
            return Mistake(name: String(name.dropLast(5)), changes: changes, finding: finding)
        }
    }

    @Test func twoIndependentErrorsAreBothReported() throws {
        let base = try #require(Self.document(Self.correct))
        #expect(Self.findings(base).isEmpty)
        let mistakes = try Self.mistakes(in: base)
        var (pairs, wrong) = (0, [String]())
        for (index, first) in mistakes.enumerated() {
            for second in mistakes[(index + 1)...] where first.isIndependent(of: second) {
                let document = (first.changes + second.changes).reduce(base) {
                    $0.with($1.value, at: $1.path[...])
                }
                pairs += 1
                let found = Self.findings(document)
                if Set(found) != [first.finding, second.finding] {
                    let missing = [first, second].filter { !found.contains($0.finding) }.map(\.name)
                    let new = found.filter { $0 != first.finding && $0 != second.finding }.map(\.message)
                    wrong.append("\(first.name) + \(second.name): missing \(missing), new \(new)")
                }
            }
        }
        print("measured: \(mistakes.count) mistakes, \(pairs) pairs")
        #expect(wrong.isEmpty, "\(wrong.count):\n\(wrong.joined(separator: "\n"))")
    }
}
