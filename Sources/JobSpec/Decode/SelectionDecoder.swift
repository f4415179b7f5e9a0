internal import Diagnostics
internal import LibAV
internal import Media
internal import YAMLDocument

struct SelectionDecoder {
    let reader: NodeReader

    /// Decodes one disposition or a list. The text `none` denotes an empty list.
    func dispositions(_ node: YAMLNode, or none: String? = nil) -> [String] {
        if let none, node.text == none { return [] }
        return reader.list(node).compactMap {
            reader.word($0, as: "disposition", of: Language.selection)?.value
        }
    }

    /// Returns the selection; nil after an error is reported.
    func selection(_ node: YAMLNode, of type: MediaType) -> Located<TrackSelection>? {
        if node.text != nil, !node.isNull {
            guard let text = reader.text(node, "a selection") else { return nil }
            if text.value == "first" { return Located(.first, at: node.range) }
            if text.value == "all" { return Located(.all, at: node.range) }
            if let index = Language.trackIndex.parse(text.value) {
                return Located(.matching(TrackCriteria(index: index)), at: node.range)
            }
            reader.sink.error(
                .invalidValue,
                "a selection can't be `\(text.value)`; expected `first`, `all`, an index from 0, or a mapping",
                at: node.range,
                help: Self.help(text.value) ?? Suggestion.help(for: text.value, among: ["first", "all"]))
            return nil
        }
        if case .sequence = node.content {
            reader.sink.error(
                .wrongType,
                "a selection can't be a list; expected `first`, `all`, an index from 0, or a mapping",
                at: node.range,
                help: "write a rule for each track, or select by a property: `{ language: eng }`")
            return nil
        }
        guard let fields = reader.fields(node, as: Language.selection) else { return nil }
        if fields.isEmpty { return nil }
        let before = reader.sink.errorCount
        var criteria = TrackCriteria()
        criteria.index = reader.integer("index", of: fields)?.value
        criteria.id = reader.integer("id", of: fields)?.value
        criteria.language = reader.value("language", of: fields, as: String.self)?.value
        criteria.codec =
            type == .data
            ? dataCodec(fields["codec"]) : reader.value("codec", of: fields, as: String.self)?.value
        criteria.disposition = fields["disposition"].map { dispositions($0.value) } ?? []
        if let entry = fields["disposition"], case .sequence(let items) = entry.value.content, items.isEmpty {
            reader.sink.error(.missingKey, "the list of dispositions is empty", at: entry.value.range)
        }
        criteria.characteristic =
            reader.word("characteristic", of: fields)?.value
        criteria.title = fields["title"].flatMap { reader.text($0.value, "`title`") }?.value
        return reader.sink.errorCount == before ? Located(.matching(criteria), at: node.range) : nil
    }

    /// Returns help for a selection in the syntax of another tool; nil for other words.
    private static func help(_ text: String) -> String? {
        if text == "none" { return "omit the rule; tracks without a rule are dropped" }
        // FFmpeg's stream specifiers, such as `a:0` and `0:v:1`.
        if text.contains(":"), let last = text.split(separator: ":").last, let index = Int(last), index >= 0 {
            return "the index counts the tracks of the rule's kind; did you mean `\(index)`?"
        }
        return text.utf8.count == 3 && text.utf8.allSatisfy { (0x61...0x7a).contains($0) }
            ? "did you mean `{ language: \(text) }`?" : nil
    }

    private func dataCodec(_ entry: YAMLNode.Entry?) -> String? {
        guard let name = entry.flatMap({ reader.text($0.value, "`codec`") }) else { return nil }
        let known = ContainerType.dataCodecs
        if known.contains(name.value) { return name.value }
        reader.sink.error(
            .unknownCodec,
            "unknown data codec `\(name.value)`; expected one of \(known.joined(separator: ", "))",
            at: name.range, help: Suggestion.help(for: name.value, among: known))
        return nil
    }
}
