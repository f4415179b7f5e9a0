internal import Diagnostics
internal import LibAV
internal import Media
internal import YAMLDocument

struct SelectionDecoder {
    let reader: NodeReader
    /// The keys of a selection that is a mapping; an entry of a list always has those of `Language.selection`.
    var language = Language.selection

    /// Decodes one disposition or a list. The text `none` denotes an empty list.
    func dispositions(_ node: YAMLNode, or none: String? = nil) -> [String] {
        if let none, node.text == none { return [] }
        return reader.list(node).compactMap {
            reader.word($0, as: "disposition", of: Language.selection)?.value
        }
    }

    /// Returns the selection; nil after an error is reported. `allowsAll`: whether it, or an entry of a list, may select
    /// several tracks.
    func selection(_ node: YAMLNode, of type: MediaType, allowsAll: Bool = true) -> TrackSelection? {
        guard case .sequence(let items) = node.content else {
            return entry(node, of: type, as: allowsAll ? .whole : .single).map {
                TrackSelection($0.value, at: $0.range)
            }
        }
        guard
            reader.hasItems(
                items, atMost: Language.maxSelections, in: "the list of selections", at: node.range)
        else { return nil }
        let entries = items.compactMap { entry($0, of: type, as: allowsAll ? .list : .listOfSingle) }
        guard entries.count == items.count else { return nil }
        // Values that aren't known yet can't be compared.
        guard items.contains(where: Self.hasDeferredValue) || areReachable(entries, of: type) else {
            return nil
        }
        return TrackSelection(list: entries, at: node.range)
    }

    private static func hasDeferredValue(_ node: YAMLNode) -> Bool {
        switch node.content {
        case .scalar: node.isDeferred
        case .sequence(let items): items.contains(where: hasDeferredValue)
        case .mapping(let entries): entries.contains { hasDeferredValue($0.value) }
        }
    }

    /// Returns whether each entry of a list can be used, and reports those that can't.
    private func areReachable(_ entries: [Located<TrackSelection.Entry>], of type: MediaType) -> Bool {
        var areReachable = true
        for (index, entry) in entries.enumerated() {
            guard
                let earlier = entries[..<index].first(where: { $0.value.covers(entry.value, of: type) })
            else { continue }
            areReachable = false
            reader.sink.error(
                .invalidValue,
                "the entry `\(entry.value.text)` is never used: `\(earlier.value.text)` precedes it, and matches whenever it does",
                at: entry.range,
                notes: [Diagnostic.Note("`\(earlier.value.text)` is here", at: earlier.range)],
                help: "remove the entry, or move it before `\(earlier.value.text)`")
        }
        return areReachable
    }

    /// The position of an entry, which determines the allowed values.
    private enum Position {
        /// The whole selection.
        case whole
        /// The whole selection, of one track.
        case single
        /// A list of alternatives.
        case list
        /// A list of alternatives, each of which selects one track.
        case listOfSingle

        /// The entry in messages.
        var noun: String { isWhole ? "a selection" : "an entry of a selection" }

        /// Whether the entry isn't in a list.
        var isWhole: Bool { self == .whole || self == .single }

        /// Whether the entry may select several tracks.
        var allowsAll: Bool { self == .whole || self == .list }

        /// The values that are allowed.
        var expected: String {
            switch self {
            case .whole: "`first`, `all`, an index from 0, a mapping, or a list of these"
            case .single: "`first`, an index from 0, a mapping, or a list of these"
            case .list: "`first`, `all`, an index from 0, or a mapping"
            case .listOfSingle: "`first`, an index from 0, or a mapping"
            }
        }
    }

    private func entry(
        _ node: YAMLNode, of type: MediaType, as position: Position
    ) -> Located<TrackSelection.Entry>? {
        if node.text != nil, !node.isNull {
            guard let text = reader.text(node, position.noun) else { return nil }
            switch SelectionWord(rawValue: text.value) {
            case .first: return Located(.first, at: node.range)
            case .all where position.allowsAll: return Located(.all, at: node.range)
            case .all, .some(.none), nil: break
            }
            if let index = Language.trackIndex.parse(text.value) {
                return Located(.matching(TrackCriteria(index: index)), at: node.range)
            }
            reader.sink.error(
                .invalidValue, "\(position.noun) can't be `\(text.value)`; expected \(position.expected)",
                at: node.range,
                help: Self.help(text.value, position, type)
                    ?? Suggestion.help(
                        for: text.value,
                        among: position.allowsAll ? SelectionWord.several : SelectionWord.single))
            return nil
        }
        if !position.isWhole, type == .subtitle, case .mapping(let entries) = node.content,
            let asset = entries.first(where: { $0.key == "asset" })
        {
            reader.sink.error(
                .notSupported, "`asset` can't be in a list; each file needs a rule of its own",
                at: asset.keyRange,
                help: "with `optional: true`, a rule without its file is omitted")
            return nil
        }
        if case .sequence = node.content {
            reader.sink.error(
                .wrongType, "\(position.noun) can't be a list; expected \(position.expected)", at: node.range)
            return nil
        }
        let before = reader.sink.errorCount
        guard let fields = reader.fields(node, as: position.isWhole ? language : Language.selection) else {
            return nil
        }
        if fields.isEmpty { return nil }
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
        guard reader.sink.errorCount == before else { return nil }
        // A file without criteria stands for all of its tracks.
        let isAll = fields.has("asset") && criteria == TrackCriteria()
        return Located(isAll ? .all : .matching(criteria), at: node.range)
    }

    /// Returns help for a selection in the syntax of another tool; nil for other words.
    private static func help(_ text: String, _ position: Position, _ type: MediaType) -> String? {
        if type == .subtitle, position.isWhole, text.contains(".") || text.contains("/") {
            return "a subtitle file is `{ asset: \(text) }`"
        }
        switch SelectionWord(rawValue: text) {
        case .some(.none):
            return position == .whole ? "omit the rule; tracks without a rule are dropped" : nil
        case .all: return nil
        case .first, nil: break
        }
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
