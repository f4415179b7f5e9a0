internal import Diagnostics
internal import ExactStrings
internal import YAMLDocument

/// Substitution of `${…}` in the scalars of a tree.
///
/// Substituted values are not scanned again, so there is no recursion. Variables are already
/// resolved by `VariableResolver`.
struct Substitution {
    let scope: Scope
    let reader: NodeReader

    static let maxLength = YAMLLimits().scalarSize

    /// Returns the tree after substitution. A value that can't be substituted is reported and marked as deferred, so
    /// that typed reading skips it.
    func apply(to node: YAMLNode) -> YAMLNode {
        guard node.hasSubstitution else { return node }
        switch node.content {
        case .scalar(let text, let style): return scalar(node, text, style)
        case .sequence(let items):
            return YAMLNode(.sequence(items.map { apply(to: $0) }), at: node.range)
        case .mapping(let entries):
            return YAMLNode(
                .mapping(
                    entries.map {
                        YAMLNode.Entry(key: $0.key, keyRange: $0.keyRange, value: apply(to: $0.value))
                    }), at: node.range)
        }
    }

    private func scalar(_ node: YAMLNode, _ text: String, _ style: YAMLNode.ScalarStyle) -> YAMLNode {
        var result = ""
        var context = node.range.context
        var steps = 0
        var isDeferred = false
        // Scanned bytes have a budget in addition to substituted ones: many aliases may refer to one long
        // text.
        guard reader.scan(text.utf8.count) else {
            reader.sink.error(
                .yamlLimit, "the total length of texts with variables exceeds the limit", at: node.range)
            return YAMLNode(.scalar(text, style), at: node.range, isFinal: true, isDeferred: true)
        }
        var offsets = ScalarOffsets(text)
        var rest = text[...]
        while let dollar = rest.firstRange(ofASCII: "${") {
            let before = rest[..<dollar.lowerBound]
            if before.last == "$" {
                result += before.dropLast() + "${"
                rest = rest[dollar.upperBound...]
                continue
            }
            result += before
            guard let close = Self.closingBrace(of: rest[dollar.upperBound...]) else {
                reader.sink.error(
                    .substitution, "`${` is not closed by `}`",
                    at: Self.location(node, from: dollar.lowerBound, to: text.endIndex, &offsets),
                    help: "write a literal `${` as `$${`")
                isDeferred = true
                rest = ""
                break
            }
            let name = String(rest[dollar.upperBound..<close])
            do throws(Scope.Failure) {
                let value = try scope.value(of: name)
                result += value.text
                isDeferred = isDeferred || value.isDeferred
                // Diagnostics list at most `maxNotes` locations, and an unlimited chain would grow with the text.
                if let location = value.range, steps < SourceContext.maxNotes {
                    steps += 1
                    context = SourceContext(
                        .value, "`${\(name)}` is `\(Self.shortened(value.text))`, defined here", at: location,
                        after: context)
                }
            } catch {
                guard case .undefined(let why, let help, _) = error else { break }
                reader.sink.error(
                    .undefinedName, why,
                    at: Self.location(node, from: dollar.lowerBound, to: rest.index(after: close), &offsets),
                    help: help)
                isDeferred = true
            }
            rest = rest[rest.index(after: close)...]
            guard result.utf8.count <= Self.maxLength, reader.spend(result.utf8.count) else {
                reader.sink.error(
                    .yamlLimit,
                    "after substitution, the text or the total of all texts exceeds the limit of \(Self.maxLength) bytes",
                    at: node.range)
                isDeferred = true
                break
            }
        }
        result += rest
        // A substituted value is text regardless of quotes, and an empty one is not a missing value.
        return YAMLNode(
            .scalar(result, style == .plain && !result.isEmpty ? .plain : .quoted),
            at: node.range.with(context: context), isFinal: true, isDeferred: isDeferred)
    }

    /// Returns the index of the `}` that closes a name, with nested `${…}` skipped.
    static func closingBrace(of text: Substring) -> String.Index? {
        var depth = 0
        var position = text.startIndex
        while position < text.endIndex {
            if text[position] == "}" {
                if depth == 0 { return position }
                depth -= 1
            } else if text[position...].hasPrefix("${") {
                depth += 1
            }
            position = text.index(after: position)
        }
        return nil
    }

    /// Returns whether a node contains a name that differs between the instances of a job.
    static func dependsOnInstance(_ node: YAMLNode) -> Bool {
        guard node.hasSubstitution else { return false }
        switch node.content {
        case .scalar(let text, _):
            return names(in: text).contains { name in
                Scope.builtIn.contains(name)
                    || ["matrix.", "asset.", "image."].contains(where: name.hasPrefix)
            }
        case .sequence(let items): return items.contains(where: dependsOnInstance)
        case .mapping(let entries): return entries.contains { dependsOnInstance($0.value) }
        }
    }

    /// Returns the names in the `${…}` of a text in order, without defaults. Stops at an unclosed `${`.
    static func names(in text: String) -> [String] {
        guard text.utf8.contains(0x24) else { return [] }
        WorkCount.add(text.utf8.count)
        var names: [String] = []
        var rest = text[...]
        while let dollar = rest.firstRange(ofASCII: "${") {
            if rest[..<dollar.lowerBound].last == "$" {
                rest = rest[dollar.upperBound...]
                continue
            }
            guard let close = closingBrace(of: rest[dollar.upperBound...]) else { break }
            let name = rest[dollar.upperBound..<close]
            names.append(String(name.firstRange(ofASCII: ":-").map { name[..<$0.lowerBound] } ?? name))
            rest = rest[rest.index(after: close)...]
        }
        return names
    }

    /// Adds the identifiers in texts that contain `$` or `{`: of variables, and of misspelt ones such as `{{crf}}`.
    /// `matrix.crf` counts as an identifier, as do its parts.
    static func addIdentifiers(of node: YAMLNode, to identifiers: inout Set<String>) {
        switch node.content {
        case .scalar(let text, _):
            WorkCount.add(text.utf8.count)
            guard text.utf8.contains(where: { $0 == 0x24 || $0 == 0x7b }) else { return }
            let names = text.split { !$0.isASCII || !($0.isLetter || $0.isNumber || "._-".contains($0)) }
            for name in names {
                identifiers.insert(String(name))
                for part in name.split(separator: ".") { identifiers.insert(String(part)) }
            }
        case .sequence(let items): for item in items { addIdentifiers(of: item, to: &identifiers) }
        case .mapping(let entries): for entry in entries { addIdentifiers(of: entry.value, to: &identifiers) }
        }
    }

    private static func shortened(_ text: String) -> String {
        text.count > 60 ? text.prefix(60) + "…" : text
    }

    /// A converter of indices to offsets in code points, efficient for ascending indices.
    struct ScalarOffsets {
        private let text: String
        private var position: String.Index
        private var offset = 0
        private var total: Int?

        init(_ text: String) {
            self.text = text
            position = text.startIndex
        }

        /// Returns the number of code points of the text.
        mutating func count() -> Int {
            let count = total ?? text.unicodeScalars.count
            total = count
            return count
        }

        /// Returns the offset of an index. Counting continues at the previous index, or restarts if `index` is smaller.
        mutating func offset(of index: String.Index) -> Int {
            if index < position { (position, offset) = (text.startIndex, 0) }
            let steps = text.unicodeScalars.distance(from: position, to: index)
            WorkCount.add(steps)
            (position, offset) = (index, offset + steps)
            return offset
        }
    }

    /// Returns the location of a part of a scalar if the file contains the text unchanged on one line;
    /// otherwise the location of the whole scalar.
    static func location(
        _ node: YAMLNode, from: String.Index, to: String.Index, _ offsets: inout ScalarOffsets
    ) -> SourceRange {
        guard case .scalar(_, let style) = node.content, node.range.line == node.range.endLine else {
            return node.range
        }
        let length = offsets.count()
        let width = node.range.endColumn - node.range.column
        let quote = style == .quoted ? 1 : 0
        guard style != .block, width == length + 2 * quote else { return node.range }
        let start = offsets.offset(of: from)
        let stop = offsets.offset(of: to)
        var range = SourceRange(
            source: node.range.source, line: node.range.line, column: node.range.column + quote + start,
            endLine: node.range.line, endColumn: node.range.column + quote + stop)
        range.context = node.range.context
        return range
    }
}
