internal import Diagnostics
internal import YAMLDocument

/// The entries of a mapping whose keys have been validated. Lookups are linear, because mappings are short.
struct Fields {
    private let entries: [YAMLNode.Entry]
    /// The type that the keys were validated against.
    let type: MappingType
    /// Bitmap of the key lengths modulo 64. With it, most lookups of absent keys need no string comparison.
    private let lengths: UInt64

    fileprivate init(_ entries: [YAMLNode.Entry], as type: MappingType) {
        self.entries = entries
        self.type = type
        var lengths: UInt64 = 0
        for index in entries.indices { lengths |= 1 << UInt64(entries[index].key.utf8.count & 63) }
        self.lengths = lengths
    }

    private func index(of key: String) -> Int? {
        let length = key.utf8.count
        guard lengths & 1 << UInt64(length & 63) != 0 else { return nil }
        WorkCount.add(entries.count)
        for index in entries.indices
        where entries[index].key.utf8.count == length && entries[index].key == key {
            return index
        }
        return nil
    }

    /// Returns the entry of a key; nil if it is absent.
    subscript(key: String) -> YAMLNode.Entry? { index(of: key).map { entries[$0] } }
    func value(_ key: String) -> YAMLNode? { index(of: key).map { entries[$0].value } }
    func has(_ key: String) -> Bool { index(of: key) != nil }
    var isEmpty: Bool { entries.isEmpty }
}

/// Reader of typed values, which reports violations of the job language to its sink.
///
/// A reader is confined to one thread. Several readers decode parts of a file in parallel, each with its own sink.
final class NodeReader {
    var sink = DiagnosticSink()
    /// Remaining bytes that substitution may produce. Limits the memory of nested variables.
    private var budget = 256 << 20
    /// Whether a value was skipped because it is not known yet or is already reported as an error.
    private(set) var hasDeferred = false

    /// Remaining bytes that substitution may scan.
    private var scanBudget = 1 << 30

    /// Subtracts bytes from the scan budget. Returns false if it is exhausted.
    func scan(_ bytes: Int) -> Bool {
        WorkCount.add(bytes)
        scanBudget -= bytes
        return scanBudget >= 0
    }

    /// Subtracts bytes from the substitution budget. Returns false if it is exhausted.
    func spend(_ bytes: Int) -> Bool {
        budget -= bytes
        return budget >= 0
    }

    /// Returns the entries of a mapping after validating the keys against the table: unknown, missing and
    /// mutually exclusive keys. Returns nil if the node isn't a mapping.
    func fields(_ node: YAMLNode, as type: MappingType) -> Fields? {
        WorkCount.add(1)
        guard case .mapping(let entries) = node.content else {
            if !node.isDeferred {
                sink.error(
                    .wrongType, "\(type.title) must be a mapping, not \(node.kind)", at: node.range,
                    help: ForeignWords.example(of: type))
            }
            return nil
        }
        var isUnfinished = false
        for index in entries.indices where !type.has(entries[index].key) {
            let entry = entries[index]
            if entry.key.hasPrefix("x-") { continue }
            if let feature = ForeignWords.missingFeature(entry.key, in: type) {
                sink.error(
                    .notSupported, "\(feature) is not supported in \(type.title)", at: entry.keyRange,
                    help: "remove `\(entry.key)`")
            } else {
                isUnfinished = isUnfinished || ForeignWords.replacesRules(entry.key, in: type)
                sink.error(
                    .unknownKey, "\(type.title) has no key `\(entry.key)`", at: entry.keyRange,
                    help: Self.decimal(at: index, of: entries)
                        ?? Self.intendedKey(of: entry, in: type).map { "did you mean `\($0)`?" }
                        ?? ForeignWords.help(entry.key, in: type)
                        ?? ForeignWords.placement(of: entry, in: type)
                        ?? Self.list(type.keys.map(\.name)))
            }
        }
        let fields = Fields(Self.respelled(entries, as: type), as: type)
        check(fields, of: node, as: type, isUnfinished: isUnfinished)
        return fields
    }

    private static func list(_ names: [String]) -> String {
        names.count == 1
            ? "the only key is `\(names[0])`" : "expected one of \(names.joined(separator: ", "))"
    }

    /// Returns help for a number with a decimal comma, which ends a value within `{ }`: `frame_rate: 23,976`.
    private static func decimal(at index: Int, of entries: [YAMLNode.Entry]) -> String? {
        let entry = entries[index]
        // The key may be digits with a unit, such as `5s`.
        let unit = entry.key.utf8.drop { (0x30...0x39).contains($0) }
        guard index > 0, entry.value.isNull, unit.count < entry.key.utf8.count, unit.count <= 3,
            unit.allSatisfy({ (0x61...0x7a).contains($0 | 0x20) }),
            let whole = entries[index - 1].value.text, Int(whole) != nil
        else { return nil }
        return "use a decimal point: `\(entries[index - 1].key): \(whole).\(entry.key)`"
    }

    /// Returns the key that was probably meant by an unknown key; nil if there is no likely one.
    private static func intendedKey(of entry: YAMLNode.Entry, in type: MappingType) -> String? {
        let word = entry.key
        if let key = ForeignWords.key(word, in: type, value: entry.value) { return key }
        // A key of another tool is not a misspelling.
        return ForeignWords.help(word, in: type) == nil
            ? Suggestion.nearest(to: word, among: type.keys.map(\.name)) : nil
    }

    /// Returns the entries, with a copy of each misspelt entry under the correct key. The misspelling then causes only
    /// one message, and its value is validated as well.
    static func respelled(_ entries: [YAMLNode.Entry], as type: MappingType) -> [YAMLNode.Entry] {
        var result = entries
        for entry in entries where !type.has(entry.key) {
            guard !entry.key.hasPrefix("x-"), let key = intendedKey(of: entry, in: type),
                !result.contains(where: { $0.key == key })
            else { continue }
            result.append(YAMLNode.Entry(key: key, keyRange: entry.keyRange, value: entry.value))
        }
        return result
    }

    /// Returns a mapping with a copy of each misspelt entry under the correct key; other nodes as they are.
    static func respelled(_ node: YAMLNode, as type: MappingType) -> YAMLNode {
        guard case .mapping(let entries) = node.content else { return node }
        return YAMLNode(.mapping(respelled(entries, as: type)), at: node.range)
    }

    /// Reports an unsupported `version`.
    func checkVersion(_ fields: Fields) {
        _ = value("version", of: fields, as: Int.self)
    }

    /// Returns the entries of a mapping with user-defined names, and reports invalid names. `what` describes an entry
    /// in messages.
    func named(_ entry: YAMLNode.Entry?, _ what: String) -> [YAMLNode.Entry] {
        guard let entry else { return [] }
        guard case .mapping(let entries) = entry.value.content else {
            if entry.value.isNull {
                sink.error(
                    .missingKey, "`\(entry.key)` is empty", at: entry.keyRange,
                    help: "indent its entries below it")
                return []
            }
            sink.error(
                .wrongType, "`\(entry.key)` must be a mapping of ids, not \(entry.value.kind)",
                at: entry.value.range,
                help: Self.entryExamples[entry.key].map { "\(what) needs a name: `\($0)`" })
            return []
        }
        return entries.filter { item in
            if Identifier.isValid(item.key) { return true }
            sink.error(
                .invalidName,
                "the name of \(what) can't be `\(item.key)`; expected a letter or `_`, followed by letters, digits, `_` and `-`",
                at: item.keyRange, help: ForeignWords.typographicQuotes(item.key))
            return false
        }
    }

    /// Examples of an entry, by the mapping's key.
    private static let entryExamples = [
        "jobs": "web: { asset: a.mp4, export: 1280x720, destination: out/a.mp4 }",
        "outputs": "hd: { export: 1280x720, destination: out/hd.mp4 }",
        "assets": "talk: media/talk.mov", "settings": "web: { codec: h264, crf: 23 }",
    ]

    /// Reports missing and mutually exclusive keys. `isUnfinished` states that the mapping has reserved keys or keys of
    /// other tools, which may replace required ones.
    private func check(
        _ fields: Fields, of node: YAMLNode, as type: MappingType, isUnfinished: Bool = false
    ) {
        for name in type.requiredNames where !fields.has(name) && !isUnfinished {
            sink.error(
                .missingKey, "the key `\(name)` is missing\(Self.described(name, type))",
                at: start(of: node), help: name == "version" ? "add `version: \(Language.version)`" : nil)
        }
        guard type.hasAlternatives else { return }
        for group in type.alternatives {
            // `EncodeDecoder` reports a missing codec once named settings are merged.
            if group.keys == ["codec", "use"] { continue }
            let present = group.keys.count { fields.has($0) }
            if present > 1, group.isExclusive {
                let sorted = group.keys.compactMap { fields[$0] }.sorted { $0.keyRange < $1.keyRange }
                for other in sorted.dropFirst() {
                    sink.error(
                        .conflictingKeys, "`\(other.key)` can't be combined with `\(sorted[0].key)`",
                        at: other.keyRange,
                        notes: [Diagnostic.Note("`\(sorted[0].key)` is here", at: sorted[0].keyRange)])
                }
            }
            if present == 0, group.isRequired, !isUnfinished {
                // Keys that can't be combined with a present key are not suggested.
                let excluded = type.alternatives.filter { other in
                    other.isExclusive && other.keys.contains { fields.has($0) }
                }
                let possible = group.keys.filter { key in !excluded.contains { $0.keys.contains(key) } }
                let names = (possible.isEmpty ? group.keys : possible).map { "`\($0)`" }
                let problem =
                    group.keys.count == type.keys.count && !group.isExclusive && names.count > 2
                    ? "\(type.title) is empty; expected at least one of \(names.joined(separator: ", "))"
                    : names.count == 1
                        ? "\(names[0]) is missing"
                        : "one of \(names.dropLast().joined(separator: ", ")) or \(names[names.count - 1]) is missing"
                sink.error(
                    .missingKey, problem, at: start(of: node),
                    help: group.keys.starts(with: ["encode", "copy"])
                        ? "`copy: true` keeps the packets, `encode: { codec: … }` converts them" : nil)
            }
        }
    }

    /// Returns a colon and the summary of a key; an empty string if the summary only repeats the name.
    private static func described(_ name: String, _ type: MappingType) -> String {
        let summary = lowercasingFirstLetter(type.key(name)?.summary ?? "")
        return summary.isEmpty || summary == name ? "" : ": " + summary
    }

    /// Returns the location at which a missing key is reported: the first key of the mapping, or its first character.
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

    /// Reads the text of a scalar after substitution.
    func text(_ node: YAMLNode, _ what: String) -> Located<String>? {
        guard let text = node.text else {
            sink.error(
                .wrongType, "\(what) must be a single value, not \(node.kind)", at: node.range,
                help: ForeignWords.scalar(what))
            return nil
        }
        if node.isDeferred {
            hasDeferred = true
            return nil
        }
        if node.isNull {
            sink.error(
                .wrongType, "\(what) has no value", at: node.range, help: ForeignWords.empty(what))
            return nil
        }
        if text.utf8.contains(0) {
            sink.error(.invalidValue, "\(what) contains a NUL character", at: node.range)
            return nil
        }
        return Located(text, at: node.range)
    }

    /// Reports a path in typographic quotes, which would be part of a file name. Quoted and block scalars may contain
    /// them intentionally.
    func hasTypographicQuotes(_ node: YAMLNode, path: Located<String>) -> Bool {
        guard case .scalar(_, .plain) = node.content, let help = ForeignWords.typographicQuotes(path.value)
        else { return false }
        sink.error(
            .invalidValue, "the path `\(path.value)` is in typographic quotes", at: path.range, help: help)
        return true
    }

    /// Returns the items of a list; a single value counts as a list of one item.
    func list(_ node: YAMLNode) -> [YAMLNode] {
        if case .sequence(let items) = node.content { return items }
        return [node]
    }

    /// Returns whether a list has at least one item and not too many, and reports one that hasn't. `list` names it in
    /// messages, such as "the list of values".
    func hasItems(_ items: [YAMLNode], atMost limit: Int, in list: String, at location: SourceRange) -> Bool {
        if items.isEmpty {
            sink.error(.missingKey, "\(list) is empty; expected at least one entry", at: location)
        } else if items.count > limit {
            sink.error(.yamlLimit, "\(list) has more than \(limit) entries", at: location)
        }
        return (1...limit).contains(items.count)
    }

    /// Reports a scalar that isn't a value of its key.
    func refuse(_ text: Located<String>, _ problem: InvalidValue) {
        sink.error(
            problem.rule, problem.message, at: text.range,
            help: problem.help ?? Self.variable(text.value) ?? ForeignWords.typographicQuotes(text.value))
    }

    /// Returns help for a variable in the syntax of other tools, such as `$crf` or `{{ crf }}`; nil for other texts.
    private static func variable(_ text: String) -> String? {
        let inner =
            text.hasPrefix("{{") && text.hasSuffix("}}")
            ? text.dropFirst(2).dropLast(2) : text.hasPrefix("$") ? text.dropFirst() : ""
        let name = inner.filter { $0 != " " }
        return Identifier.isValid(name) ? "write a variable as `${\(name)}`" : nil
    }

    func boolean(_ node: YAMLNode?, _ what: String) -> Located<Bool>? {
        value(node, what, Language.boolean)
    }

    /// Reads a value that must be one of `list`. `orMapping` adds a mapping to the alternatives in the message. A text
    /// returned by `help` takes precedence over suggestions.
    func word(
        _ node: YAMLNode?, _ what: String, of list: @autoclosure () -> [String], orMapping: Bool = false,
        help: ((String, [String]) -> String?)? = nil
    ) -> Located<String>? {
        guard let node, let text = text(node, what) else { return nil }
        let words = list()
        if words.contains(text.value) { return text }
        sink.error(
            .invalidValue,
            "\(what) can't be `\(text.value)`; expected \(words.count == 1 ? "" : "one of ")\(words.joined(separator: ", "))\(orMapping ? ", or a mapping" : "")",
            at: text.range,
            help: help?(text.value, words) ?? Self.variable(text.value)
                ?? Self.onOffHelp(text.value, among: words)
                ?? Suggestion.help(for: text.value, among: words))
        return nil
    }

    /// Returns a suggestion of `off` for `no` and `false`, or of `on` for `yes` and `true`, if `words` contains it;
    /// otherwise nil.
    private static func onOffHelp(_ text: String, among words: [String]) -> String? {
        let word =
            switch text.lowercased() {
            case "no", "false", "never", "disabled": "off"
            case "yes", "true", "always", "enabled": "on"
            default: ""
            }
        return words.contains(word) ? "did you mean `\(word)`?" : nil
    }

    /// Reads a mapping of tags, in order.
    func tags(_ entry: YAMLNode.Entry?) -> [(key: Located<String>, value: String)] {
        guard let entry else { return [] }
        guard case .mapping(let entries) = entry.value.content else {
            sink.error(
                .wrongType, "`\(entry.key)` must be a mapping of tags, not \(entry.value.kind)",
                at: entry.value.range, help: "write it as `\(entry.key): { title: … }`")
            return []
        }
        return entries.compactMap { entry in
            text(entry.value, "`\(entry.key)`").map { (Located(entry.key, at: entry.keyRange), $0.value) }
        }
    }

    private static func lowercasingFirstLetter(_ sentence: String) -> String {
        var text = sentence
        if text.hasSuffix(".") { text.removeLast() }
        // A word such as `LUFS` keeps its capitals.
        if text.dropFirst().first?.isUppercase == true { return text }
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}
