internal import Diagnostics
internal import Media
internal import YAMLDocument

/// Values of keys by the language's table: their bounds, their words and what holds where nothing is said stand there alone.
extension NodeReader {
    /// A whole number.
    func integer(_ key: String, of fields: Fields) -> Located<Int>? {
        guard let range = fields.type.type(of: key)?.integers else { return unlisted(key, fields.type) }
        return value(
            fields.value(key), "`\(key)`",
            "it is a whole number from \(range.lowerBound) to \(range.upperBound)"
        ) { text in Int(text).flatMap { range.contains($0) && !text.hasPrefix("+") ? $0 : nil } }
    }

    /// A number.
    func number(_ key: String, of fields: Fields) -> Located<Double>? {
        guard let range = fields.type.type(of: key)?.numbers else { return unlisted(key, fields.type) }
        return value(fields.value(key), "`\(key)`", Self.form(range)) { text in
            Quantity.number(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A number in thousandths, of which it has no parts.
    func thousandths(
        _ key: String, of fields: Fields, as noun: String = "a number"
    ) -> Located<Int>? {
        guard let range = fields.type.type(of: key)?.numbers else { return unlisted(key, fields.type) }
        let node = fields.value(key)
        let parts = node?.text?.split(separator: ".", omittingEmptySubsequences: false) ?? []
        let isTooFine = parts.count == 2 && parts[1].count > 3
        return value(
            node, "`\(key)`", Self.form(range, as: noun) + (isTooFine ? ", with at most three decimals" : "")
        ) { text in
            let isNegative = text.hasPrefix("-")
            if isNegative, range.lowerBound >= 0 { return nil }
            let size = Quantity.scaled(isNegative ? text.dropFirst() : text[...], by: 1000)
            return size.map { isNegative ? -Int($0) : Int($0) }.flatMap {
                range.contains(Double($0) / 1000) ? $0 : nil
            }
        }
    }

    /// A range of time within the bounds of the key's seconds. `form` says how it is written, and what it may be.
    func length(_ key: String, of fields: Fields, _ form: String) -> Located<MediaTime>? {
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
        sink.error(.invalidValue, form, at: time.range)
        return nil
    }

    /// What holds where nothing is said of a key that is a number.
    func defaultNumber(_ key: String, of fields: Fields) -> Double? {
        fields.type.key(key)?.defaultText.flatMap(Quantity.number)
    }

    /// `true` or `false`.
    func boolean(_ key: String, of fields: Fields) -> Located<Bool>? {
        boolean(fields.value(key), "`\(key)`")
    }

    /// One of the words that a key may be.
    func word(_ key: String, of fields: Fields) -> Located<String>? {
        word(fields.value(key), as: key, of: fields.type)
    }

    /// The same of a value whose mapping is read elsewhere.
    func word(_ node: YAMLNode?, as key: String, of type: MappingType) -> Located<String>? {
        guard let words = type.type(of: key)?.words else { return unlisted(key, type) }
        return word(
            node, "`\(key)`", of: words,
            help: { text, words in
                ForeignWords.value(text, of: key, among: words).map { "did you mean `\($0)`?" }
                    ?? (key == "container" ? ForeignWords.help(extension: text) : nil)
            })
    }

    /// One of the words that a key may be, as what it stands for.
    func choice<Value: RawRepresentable & Sendable>(
        _ key: String, of fields: Fields, as _: Value.Type = Value.self
    ) -> Located<Value>? where Value.RawValue == String {
        word(key, of: fields).flatMap { word in
            Value(rawValue: word.value).map { Located($0, at: word.range) }
        }
    }

    private static func form(_ range: ClosedRange<Double>, as noun: String = "a number") -> String {
        func text(_ bound: Double) -> String { bound == bound.rounded() ? "\(Int(bound))" : "\(bound)" }
        return "it is \(noun) from \(text(range.lowerBound)) to \(text(range.upperBound))"
    }

    /// A key is asked for that the table doesn't have in this form: a fault of ours, which any test that reads it shows.
    private func unlisted<Value>(_ key: String, _ type: MappingType) -> Value? {
        assertionFailure("the table has no such `\(key)` of \(type.name)")
        return nil
    }
}

extension MappingType {
    /// What the value of a key may be.
    func type(of key: String) -> ValueType? { self.key(key)?.type }
}

extension ValueType {
    /// This type and those that it may be instead.
    private var forms: [ValueType] { if case .oneOf(let types) = self { types } else { [self] } }

    /// The bounds of a whole number, where it may be one.
    var integers: ClosedRange<Int>? {
        forms.lazy.compactMap { if case .integer(let range) = $0 { range } else { nil } }.first
    }

    /// The bounds of a number, where it may be one.
    var numbers: ClosedRange<Double>? {
        forms.lazy.compactMap { if case .number(let range) = $0 { range } else { nil } }.first
    }

    /// Words that it may be.
    var words: [String]? {
        forms.lazy.compactMap { if case .word(let words) = $0 { words } else { nil } }.first
    }
}
