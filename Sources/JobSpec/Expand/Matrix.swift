internal import Diagnostics
internal import ExactStrings
internal import YAMLDocument

/// The combinations of a job's `matrix`.
enum Matrix {
    typealias Combination = [(key: String, value: Scope.Value)]

    /// Returns all combinations, at most `limit`, with the last key changing fastest; one empty combination
    /// without a matrix. Returns nil after an error is reported.
    static func combinations(
        _ node: YAMLNode?, limit: Int, scope: Scope, reader: NodeReader
    ) -> [Combination]? {
        guard let node else { return [[]] }
        guard case .mapping(let entries) = node.content else {
            reader.sink.error(
                .wrongType, "`matrix` must be a mapping of keys to lists, not \(node.kind)", at: node.range,
                help: "write it as `matrix: { crf: [20, 26] }`")
            return nil
        }
        var axes: [Axis] = []
        var rows: [String: [YAMLNode]] = [:]
        var count = 1
        for entry in entries where !entry.key.hasPrefix("x-") {
            if let mappings = mappings(of: entry) {
                rows[entry.key] = mappings
                continue
            }
            guard Identifier.isValid(entry.key) else {
                reader.sink.error(
                    .invalidName,
                    "a matrix key can't be `\(entry.key)`; expected a letter or `_`, followed by letters, digits, `_` and `-`",
                    at: entry.keyRange)
                return nil
            }
            let values = values(of: entry, scope: scope, reader: reader)
            guard let values else { return nil }
            let (product, overflow) = count.multipliedReportingOverflow(by: values.count)
            guard !overflow, product <= limit else {
                reader.sink.error(
                    .fanOut, "the matrix has more than \(limit) combinations", at: node.range)
                return nil
            }
            count = product
            axes.append(Axis(key: entry.key, values: values))
        }
        guard !axes.isEmpty || rows["include"] != nil else {
            reader.sink.error(.missingKey, "the matrix is empty; expected at least one key", at: node.range)
            return nil
        }
        var combinations: [Combination] =
            axes.isEmpty
            ? []
            : axes.reduce([[]]) { done, axis in
                done.flatMap { combination in axis.values.map { combination + [(axis.key, $0)] } }
            }
        let editor = MatrixRows(axes: axes, scope: scope, reader: reader, limit: limit)
        guard editor.exclude(rows["exclude"] ?? [], from: &combinations),
            editor.include(rows["include"] ?? [], in: &combinations)
        else { return nil }
        if combinations.isEmpty {
            reader.sink.error(.missingKey, "`exclude` omits all combinations of the matrix", at: node.range)
            return nil
        }
        return combinations
    }

    /// A key with the values that are combined with those of other keys.
    struct Axis {
        let key: String
        let values: [Scope.Value]
    }

    /// Returns the mappings of `exclude` and `include`; nil for an axis, whose values are scalars, including one with such a
    /// name.
    private static func mappings(of entry: YAMLNode.Entry) -> [YAMLNode]? {
        guard ["exclude", "include"].contains(entry.key), case .sequence(let items) = entry.value.content,
            items.contains(where: { if case .mapping = $0.content { true } else { false } })
        else { return nil }
        return items
    }

    /// Warns of keys that no value of a job refers to: instances that differ only in such a key have equal outputs.
    /// `${index}` distinguishes them, as for repeated measurements.
    static func reportUnusedKeys(of job: YAMLNode, in definition: BatchDefinition, reader: NodeReader) {
        guard case .mapping(let entries) = job.content,
            case .mapping(let written)? = job[key: "matrix"]?.content
        else { return }
        var identifiers: Set<String> = []
        for entry in entries where entry.key != "matrix" {
            Substitution.addIdentifiers(of: entry.value, to: &identifiers)
        }
        // An undefined key, which is reported as such, is often the misspelt name of the unused one.
        let axes = keys(of: written)
        let keys = Set(axes.map { "matrix.\($0.key)" })
        let isMisspelt = identifiers.contains { $0.hasPrefix("matrix.") && !keys.contains($0) }
        if isMisspelt || identifiers.contains("index") { return }
        for axis in axes
        where !axis.key.hasPrefix("x-") && !identifiers.contains(axis.key)
            && !definition.settingsIdentifiers.contains(axis.key)
        {
            reader.sink.warning(
                .unusedMatrixKey,
                "the matrix key `\(axis.key)` is unused: no value of the job contains `${matrix.\(axis.key)}`",
                at: axis.keyRange, help: "remove the key, or use it in a value, such as the destination")
        }
    }

    /// Returns the keys of all values: those of the axes, and those of the rows of `include`, each once.
    private static func keys(of entries: [YAMLNode.Entry]) -> [YAMLNode.Entry] {
        var keys: [YAMLNode.Entry] = []
        for entry in entries {
            guard let rows = mappings(of: entry) else {
                keys.append(entry)
                continue
            }
            for case .mapping(let values) in rows.map(\.content) where entry.key == "include" {
                keys += values.filter { value in !keys.contains { $0.key == value.key } }
            }
        }
        return keys
    }

    /// Returns help for several values in one text, separated by commas.
    private static func list(of text: String, key: String) -> String {
        let items = text.split(separator: ",").map { $0.filter { $0 != " " } }
        return "write several values as a list: `\(key): [\(items.joined(separator: ", "))]`"
    }

    private static func values(
        of entry: YAMLNode.Entry, scope: Scope, reader: NodeReader
    ) -> [Scope.Value]? {
        let node = Substitution(scope: scope, reader: reader).apply(to: entry.value)
        var seen: [ExactString: SourceRange] = [:]
        var values: [Scope.Value] = []
        let before = reader.sink.errorCount
        for item in reader.list(node) {
            guard let text = reader.text(item, "a value of `\(entry.key)`") else { continue }
            if let first = seen[text.value.exact] {
                reader.sink.error(
                    .duplicateKey, "duplicate value `\(text.value)` of `\(entry.key)`", at: text.range,
                    notes: [Diagnostic.Note("the first one is here", at: first)])
                continue
            }
            // Several values in one text are more likely than a value with commas.
            if case .sequence = node.content {
            } else if text.value.contains(",") {
                reader.sink.error(
                    .invalidValue, "`\(entry.key)` has one value with commas, not several values",
                    at: text.range, help: list(of: text.value, key: entry.key))
                continue
            }
            seen[text.value.exact] = text.range
            values.append(Scope.Value(text: text.value, range: text.range))
        }
        if values.isEmpty, reader.sink.errorCount == before {
            reader.sink.error(
                .missingKey, "`\(entry.key)` is empty; expected at least one value", at: entry.keyRange)
        }
        return reader.sink.errorCount == before && !reader.hasDeferred ? values : nil
    }
}
