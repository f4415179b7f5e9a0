internal import Diagnostics
internal import YAMLDocument

/// Reads typed values out of nodes and reports whatever is not as the language says, all of it.
struct NodeReader {
    var sink = DiagnosticSink()

    /// The keys of a mapping by name, after checking them against the table: unknown ones, missing ones,
    /// ones that exclude each other. Nil where the node is no mapping.
    mutating func entries(_ node: YAMLNode, as type: MappingType) -> [String: YAMLNode.Entry]? {
        guard case .mapping(let entries) = node.content else {
            sink.error(
                .wrongType, "\(Self.article(type.name)) is a mapping, not \(node.kind)", at: node.range)
            return nil
        }
        var known: [String: YAMLNode.Entry] = [:]
        for entry in entries {
            if entry.key.hasPrefix("x-") { continue }
            if type.keys.contains(where: { $0.name == entry.key }) {
                known[entry.key] = entry
            } else if type.laterKeys.contains(entry.key) {
                sink.error(
                    .notSupported,
                    "`\(entry.key)` is part of the job language, but this version of tandem doesn't have it yet",
                    at: entry.keyRange)
            } else {
                let names = type.keys.map(\.name)
                sink.error(
                    .unknownKey, "\(Self.article(type.name)) has no key `\(entry.key)`", at: entry.keyRange,
                    help: Suggestion.help(for: entry.key, among: names)
                        ?? "its keys are \(names.joined(separator: ", "))")
            }
        }
        check(known, of: node, as: type)
        return known
    }

    private mutating func check(_ known: [String: YAMLNode.Entry], of node: YAMLNode, as type: MappingType) {
        for key in type.keys where key.isRequired && known[key.name] == nil {
            sink.error(
                .missingKey, "the key `\(key.name)` is missing: \(Self.lowered(key.summary))",
                at: start(of: node))
        }
        for group in type.alternatives {
            let present = group.keys.compactMap { known[$0] }.sorted { $0.keyRange < $1.keyRange }
            if present.count > 1, let first = present.first {
                for other in present.dropFirst() {
                    sink.error(
                        .conflictingKeys, "`\(other.key)` and `\(first.key)` exclude each other",
                        at: other.keyRange,
                        notes: [Diagnostic.Note("`\(first.key)` stands here", at: first.keyRange)])
                }
            }
            if present.isEmpty, group.isRequired {
                let names = group.keys.map { "`\($0)`" }.joined(separator: " or ")
                sink.error(.missingKey, "one of \(names) is missing", at: start(of: node))
            }
        }
    }

    /// The first line of a mapping, so that a missing key isn't underlined over pages.
    private func start(of node: YAMLNode) -> SourceRange {
        var range = node.range
        if case .mapping(let entries) = node.content, let first = entries.first,
            first.keyRange.line == range.line
        {
            range = first.keyRange
        } else if range.endLine > range.line {
            range.endLine = range.line
            range.endColumn = range.column + 1
        }
        return range
    }

    /// Text after checking that it is a single value. Substitution is not part of this version.
    mutating func text(_ node: YAMLNode, _ what: String) -> Located<String>? {
        guard let text = node.text else {
            sink.error(.wrongType, "\(what) is a single value, not \(node.kind)", at: node.range)
            return nil
        }
        if node.isNull {
            sink.error(.wrongType, "\(what) has no value", at: node.range)
            return nil
        }
        if text.contains("\0") {
            sink.error(.invalidValue, "\(what) has a NUL character in it", at: node.range)
            return nil
        }
        let escaped = text.replacing("$${", with: "\u{0}")
        if escaped.contains("${") {
            sink.error(
                .notSupported,
                "substitution (`${…}`) is part of the job language, but this version of tandem doesn't have it yet",
                at: node.range, help: "a literal `${` is written `$${`")
            return nil
        }
        return Located(escaped.replacing("\u{0}", with: "${"), at: node.range)
    }

    mutating func value<Value: Sendable>(
        _ node: YAMLNode?, _ what: String, _ allowed: String, _ parse: (String) -> Value?
    ) -> Located<Value>? {
        guard let node, let text = text(node, what) else { return nil }
        guard let value = parse(text.value) else {
            sink.error(.invalidValue, "\(what) can't be `\(text.value)`; \(allowed)", at: text.range)
            return nil
        }
        return Located(value, at: text.range)
    }

    mutating func boolean(_ node: YAMLNode?, _ what: String) -> Located<Bool>? {
        value(node, what, "it is `true` or `false`") { $0 == "true" ? true : $0 == "false" ? false : nil }
    }

    mutating func integer(_ node: YAMLNode?, _ what: String, in range: ClosedRange<Int>) -> Located<Int>? {
        value(node, what, "it is a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            Int(text).flatMap { range.contains($0) && !text.hasPrefix("+") ? $0 : nil }
        }
    }

    mutating func word(_ node: YAMLNode?, _ what: String, of words: [String]) -> Located<String>? {
        guard let node, let text = text(node, what) else { return nil }
        if words.contains(text.value) { return text }
        sink.error(
            .invalidValue, "\(what) can't be `\(text.value)`; it is one of \(words.joined(separator: ", "))",
            at: text.range,
            help: Suggestion.help(for: text.value, among: words))
        return nil
    }

    mutating func time(_ node: YAMLNode?, _ what: String) -> Located<TimeExpression>? {
        value(node, what, "a time is written like 90.5, 1500ms, 1:30.5, 250f, 25%, -5s, end or chapter:2") {
            TimeExpression($0)
        }
    }

    static func isIdentifier(_ text: String) -> Bool {
        guard let first = text.utf8.first else { return false }
        func isLetter(_ byte: UInt8) -> Bool {
            (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || byte == 0x5f
        }
        return isLetter(first)
            && text.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x2d }
            && text.utf8.count <= 200
    }

    static func article(_ name: String) -> String {
        let words: [String: String] = [
            "batch": "a job file", "patternAsset": "a test signal", "fileAsset": "a file asset",
            "jobAsset": "a job's output",
            "videoEncode": "video `encode`", "audioEncode": "audio `encode`",
            "videoTrack": "a video track rule",
            "audioTrack": "an audio track rule", "selection": "a selection", "metadata": "`metadata`",
            "destination": "a destination", "range": "a range", "job": "a job",
        ]
        return words[name] ?? name
    }

    private static func lowered(_ sentence: String) -> String {
        var text = sentence
        if text.hasSuffix(".") { text.removeLast() }
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}
