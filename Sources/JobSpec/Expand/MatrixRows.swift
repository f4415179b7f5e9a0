internal import Diagnostics
internal import ExactStrings
internal import YAMLDocument

/// The rows of `exclude` and `include`, which change the combinations of a matrix.
struct MatrixRows {
    let axes: [Matrix.Axis]
    let scope: Scope
    let reader: NodeReader
    /// Maximum number of combinations.
    let limit: Int
    /// Maximum number of rows of `exclude`, each of which is compared with all combinations.
    static let maxExclusions = 1000

    /// Removes the combinations that have all values of a row. Returns false after an error is reported.
    func exclude(_ rows: [YAMLNode], from combinations: inout [Matrix.Combination]) -> Bool {
        guard rows.count <= Self.maxExclusions else {
            reader.sink.error(
                .fanOut, "`exclude` has more than \(Self.maxExclusions) entries",
                at: rows[Self.maxExclusions].range)
            return false
        }
        var isValid = true
        for row in rows {
            guard let values = values(of: row, in: "exclude") else {
                isValid = false
                continue
            }
            for (key, value) in values {
                guard let axis = axes.first(where: { $0.key == key.value }) else {
                    reader.sink.error(
                        .undefinedName, "the matrix has no key `\(key.value)`", at: key.range,
                        help: Suggestion.help(for: key.value, among: axes.map(\.key)))
                    isValid = false
                    continue
                }
                guard !axis.values.contains(where: { $0.text.exact == value.text.exact }) else { continue }
                reader.sink.error(
                    .invalidValue, "`\(key.value)` has no value `\(value.text)`, so the row excludes nothing",
                    at: value.range ?? row.range,
                    help: Suggestion.help(for: value.text, among: axis.values.map(\.text)))
                isValid = false
            }
            combinations.removeAll { combination in
                values.allSatisfy { key, value in
                    combination.contains { $0.key == key.value && $0.value.text.exact == value.text.exact }
                }
            }
        }
        return isValid
    }

    /// Adds the rows as combinations. Each row must have the keys of the axes or, without axes, those of the first row.
    /// Returns false after an error is reported.
    func include(_ rows: [YAMLNode], in combinations: inout [Matrix.Combination]) -> Bool {
        guard combinations.count + rows.count <= limit else {
            if let last = rows.last {
                reader.sink.error(.fanOut, "the matrix has more than \(limit) combinations", at: last.range)
            }
            return rows.isEmpty
        }
        var isValid = true
        var known = Set(combinations.map(Self.texts))
        var expected: [String]? = axes.isEmpty ? nil : axes.map(\.key)
        for row in rows {
            guard let values = values(of: row, in: "include") else {
                isValid = false
                continue
            }
            let keys = expected ?? values.map(\.key.value)
            expected = keys
            for (key, _) in values where !keys.contains(key.value) {
                reader.sink.error(
                    .undefinedName,
                    "the row has the key `\(key.value)`, which the other combinations lack", at: key.range,
                    help: Suggestion.help(for: key.value, among: keys))
                isValid = false
            }
            for key in keys where !values.contains(where: { $0.key.value == key }) {
                reader.sink.error(
                    .missingKey, "the row has no value of `\(key)`, which the other combinations have",
                    at: row.range)
                isValid = false
            }
            guard isValid else { continue }
            let combination = keys.compactMap { key in
                values.first { $0.key.value == key }.map { (key: key, value: $0.value) }
            }
            if !known.insert(Self.texts(combination)).inserted {
                reader.sink.error(
                    .duplicateKey, "the row equals another combination of the matrix", at: row.range)
                isValid = false
            } else {
                combinations.append(combination)
            }
        }
        return isValid
    }

    /// Returns the values of a combination, whose keys are those of all others, in their order.
    private static func texts(_ combination: Matrix.Combination) -> [ExactString] {
        combination.map(\.value.text.exact)
    }

    /// Returns the values of a row; nil after an error is reported, or if a value is not known yet.
    private func values(
        of row: YAMLNode, in list: String
    ) -> [(key: Located<String>, value: Scope.Value)]? {
        let node = Substitution(scope: scope, reader: reader).apply(to: row)
        guard case .mapping(let entries) = node.content else {
            reader.sink.error(
                .wrongType,
                "an entry of `\(list)` must be a mapping of matrix keys to values, not \(node.kind)",
                at: node.range, help: "write it as `\(list): [ { height: 1080, crf: 20 } ]`")
            return nil
        }
        if entries.isEmpty {
            reader.sink.error(.missingKey, "the row of `\(list)` is empty", at: node.range)
            return nil
        }
        var values: [(Located<String>, Scope.Value)] = []
        for entry in entries {
            guard Identifier.isValid(entry.key) else {
                reader.sink.error(
                    .invalidName,
                    "a matrix key can't be `\(entry.key)`; expected a letter or `_`, followed by letters, digits, `_` and `-`",
                    at: entry.keyRange)
                continue
            }
            guard let text = reader.text(entry.value, "`\(entry.key)`") else { continue }
            values.append(
                (Located(entry.key, at: entry.keyRange), Scope.Value(text: text.value, range: text.range)))
        }
        return values.count == entries.count ? values : nil
    }
}
