internal import Diagnostics
internal import Media
internal import YAMLDocument

/// Reading of values by the language tables, which define bounds, words and defaults.
extension NodeReader {
    /// Reads an integer within the key's bounds.
    func integer(_ key: String, of fields: Fields) -> Located<Int>? {
        guard let range = fields.type.type(of: key)?.integers else { return unlisted(key, fields.type) }
        return value(
            fields.value(key), "`\(key)`",
            "expected an integer from \(range.lowerBound) to \(range.upperBound)"
        ) { text in Int(text).flatMap { range.contains($0) && !text.hasPrefix("+") ? $0 : nil } }
    }

    /// Reads a number within the key's bounds.
    func number(_ key: String, of fields: Fields) -> Located<Double>? {
        guard let range = fields.type.type(of: key)?.numbers else { return unlisted(key, fields.type) }
        return value(fields.value(key), "`\(key)`", Self.expectedRange(range)) { text in
            Quantity.number(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// Reads a number with at most three decimals, in thousandths.
    func thousandths(
        _ key: String, of fields: Fields, as noun: String = "a number"
    ) -> Located<Int>? {
        guard let range = fields.type.type(of: key)?.numbers else { return unlisted(key, fields.type) }
        let node = fields.value(key)
        let parts = node?.text?.split(separator: ".", omittingEmptySubsequences: false) ?? []
        let isTooFine = parts.count == 2 && parts[1].count > 3
        return value(
            node, "`\(key)`",
            Self.expectedRange(range, as: noun) + (isTooFine ? ", with at most three decimals" : "")
        ) { text in
            let isNegative = text.hasPrefix("-")
            if isNegative, range.lowerBound >= 0 { return nil }
            let size = Quantity.scaled(isNegative ? text.dropFirst() : text[...], by: 1000)
            return size.map { isNegative ? -Int($0) : Int($0) }.flatMap {
                range.contains(Double($0) / 1000) ? $0 : nil
            }
        }
    }

    /// Reads a duration within the bounds of the key, in seconds. `expected` describes the syntax and the bounds for the
    /// message.
    func length(_ key: String, of fields: Fields, _ expected: String) -> Located<MediaTime>? {
        guard let bounds = fields.type.type(of: key)?.numbers else { return unlisted(key, fields.type) }
        guard let time = time(fields.value(key), "`\(key)`", isLength: true) else { return nil }
        func bound(_ seconds: Double) -> MediaTime {
            MediaTime(value: Int64(seconds * 1000), timescale: 1000)
        }
        if case .absolute(let length) = time.value, length >= bound(bounds.lowerBound),
            length <= bound(bounds.upperBound)
        {
            return Located(length, at: time.range)
        }
        sink.error(.invalidValue, "`\(key)` \(expected)", at: time.range)
        return nil
    }

    /// Returns the default of a numeric key; nil if it has none.
    func defaultNumber(_ key: String, of fields: Fields) -> Double? {
        fields.type.key(key)?.defaultText.flatMap(Quantity.number)
    }

    func boolean(_ key: String, of fields: Fields) -> Located<Bool>? {
        boolean(fields.value(key), "`\(key)`")
    }

    /// Reads one of the words that a key accepts.
    func word(_ key: String, of fields: Fields) -> Located<String>? {
        word(fields.value(key), as: key, of: fields.type)
    }

    /// Reads one of the words that `key` of `type` accepts, from a node that may have another key.
    func word(_ node: YAMLNode?, as key: String, of type: MappingType) -> Located<String>? {
        guard let words = type.type(of: key)?.words else { return unlisted(key, type) }
        return word(
            node, "`\(key)`", of: words, orMapping: type.type(of: key)?.mayBeMapping ?? false,
            help: { text, words in
                ForeignWords.value(text, of: key, among: words).map { "did you mean `\($0)`?" }
                    ?? ForeignWords.help(value: text, of: key)
                    ?? (key == "container" ? ForeignWords.help(extension: text) : nil)
            })
    }

    /// Reads one of the words that a key accepts, as an enum value.
    func choice<Value: RawRepresentable & Sendable>(
        _ key: String, of fields: Fields, as _: Value.Type = Value.self
    ) -> Located<Value>? where Value.RawValue == String {
        word(key, of: fields).flatMap { word in
            Value(rawValue: word.value).map { Located($0, at: word.range) }
        }
    }

    private static func expectedRange(_ range: ClosedRange<Double>, as noun: String = "a number") -> String {
        func text(_ bound: Double) -> String { bound == bound.rounded() ? "\(Int(bound))" : "\(bound)" }
        return "expected \(noun) from \(text(range.lowerBound)) to \(text(range.upperBound))"
    }

    /// Stops debug builds, because the language table contains no such key with this type. Returns nil in release
    /// builds.
    private func unlisted<Value>(_ key: String, _ type: MappingType) -> Value? {
        assertionFailure("the table has no such `\(key)` of \(type.name)")
        return nil
    }
}

extension MappingType {
    func type(of key: String) -> ValueType? { self.key(key)?.type }
}

extension ValueType {
    /// The alternatives of a `.oneOf`; otherwise the type itself.
    private var alternatives: [ValueType] { if case .oneOf(let types) = self { types } else { [self] } }

    /// Whether the value may be a mapping.
    var mayBeMapping: Bool { alternatives.contains { if case .mapping = $0 { true } else { false } } }

    /// The bounds of an integer; nil if the value can't be one.
    var integers: ClosedRange<Int>? {
        alternatives.lazy.compactMap { if case .integer(let range) = $0 { range } else { nil } }.first
    }

    /// The bounds of a number; nil if the value can't be one.
    var numbers: ClosedRange<Double>? {
        alternatives.lazy.compactMap { if case .number(let range) = $0 { range } else { nil } }.first
    }

    /// The words that the value may be; nil if there are none.
    var words: [String]? {
        alternatives.lazy.compactMap { if case .word(let words) = $0 { words } else { nil } }.first
    }
}
