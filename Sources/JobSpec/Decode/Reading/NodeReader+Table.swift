internal import Diagnostics
internal import Media
internal import YAMLDocument

/// Reading of values by the language tables, which define their syntax, words and defaults.
extension NodeReader {
    /// Reads a scalar by the key's syntax. The table determines the type of the value.
    func value<Value: ScalarValue>(
        _ key: String, of fields: Fields, as _: Value.Type = Value.self
    ) -> Located<Value>? {
        guard let node = fields.value(key) else { return nil }
        guard let syntax = fields.type.type(of: key)?.syntax(of: Value.self) else {
            return unlisted(node, key, fields.type)
        }
        return value(node, "`\(key)`", syntax)
    }

    /// Reads a scalar by its syntax. `what` names it in messages.
    func value<Value: ScalarValue>(
        _ node: YAMLNode?, _ what: String, _ syntax: ValueSyntax<Value>
    ) -> Located<Value>? {
        guard let node, let text = text(node, what) else { return nil }
        if let value = syntax.parse(text.value) { return Located(value, at: text.range) }
        refuse(text, syntax.problem(text.value, of: what))
        return nil
    }

    func integer(_ key: String, of fields: Fields) -> Located<Int>? { value(key, of: fields) }

    func number(_ key: String, of fields: Fields) -> Located<Double>? { value(key, of: fields) }

    /// Reads a number with at most three decimals, in thousandths.
    func thousandths(_ key: String, of fields: Fields) -> Located<Int>? {
        value(key, of: fields, as: Thousandths.self).map { Located($0.value.count, at: $0.range) }
    }

    func length(_ key: String, of fields: Fields) -> Located<MediaTime>? { value(key, of: fields) }

    /// Reads a scalar by the key's syntax. Returns the default, which the table must contain, for a key that is absent or
    /// has an invalid value.
    func valueOrDefault<Value: ScalarValue>(
        _ key: String, of fields: Fields, as _: Value.Type = Value.self
    ) -> Value {
        value(key, of: fields, as: Value.self)?.value ?? defaultValue(key, of: fields.type)
    }

    /// Returns the default of a key, which the table must contain. The key and the type are constants of the caller, so a
    /// missing default is an error of the program, which JobSpecTests find: they execute every call.
    func defaultValue<Value: ScalarValue>(
        _ key: String, of type: MappingType, as _: Value.Type = Value.self
    ) -> Value {
        guard let info = type.key(key), let text = info.defaultText,
            let value = info.type.syntax(of: Value.self)?.parse(text)
        else { preconditionFailure("the table has no such default of `\(key)` in \(type.name)") }
        return value
    }

    /// Reads one of the words that a key accepts, as an enum value. Returns the default, which the table must contain, for a
    /// key that is absent or has an invalid value.
    func choiceOrDefault<Value: RawRepresentable<String> & Sendable>(
        _ key: String, of fields: Fields, as _: Value.Type = Value.self
    ) -> Value {
        if let value = choice(key, of: fields, as: Value.self) { return value.value }
        guard let text = fields.type.key(key)?.defaultText, let value = Value(rawValue: text) else {
            preconditionFailure("the table has no such default of `\(key)` in \(fields.type.name)")
        }
        return value
    }

    /// Reads a path. `what` names it if the value isn't text.
    func path(_ node: YAMLNode, _ what: String) -> Located<String>? {
        guard let path = text(node, what) else { return nil }
        guard (1...Language.maxPath).contains(path.value.utf8.count) else {
            sink.error(.invalidValue, "a path must have from 1 to \(Language.maxPath) bytes", at: path.range)
            return nil
        }
        return path
    }

    /// Returns whether a path isn't a URL, and reports one that is.
    func isLocal(_ path: Located<String>, _ what: String, help: String = "copy it to a local file") -> Bool {
        guard let scheme = URLScheme(startOf: path.value) else { return true }
        sink.error(
            .invalidValue, "\(what) must be a local file, not a URL", at: path.range,
            help: scheme.helpForFile ?? help)
        return false
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
        guard let node else { return nil }
        guard let words = type.type(of: key)?.words else { return unlisted(node, key, type) }
        return word(
            node, "`\(key)`", of: words, orMapping: type.type(of: key)?.mayBeMapping ?? false,
            help: { text, words in
                ForeignWords.value(text, of: key, among: words).map { "did you mean `\($0)`?" }
                    ?? ForeignWords.help(value: text, of: key)
                    ?? (key == "container" ? ForeignWords.help(extension: text) : nil)
            })
    }

    /// Reads one of the words that a key accepts, as an enum value. A word of the table that the enum lacks is an error.
    func choice<Value: RawRepresentable & Sendable>(
        _ key: String, of fields: Fields, as _: Value.Type = Value.self
    ) -> Located<Value>? where Value.RawValue == String {
        choice(fields.value(key), as: key, of: fields.type, Value.self)
    }

    /// Reads one of the words that `key` of `type` accepts, as an enum value, from a node that may have another key.
    func choice<Value: RawRepresentable & Sendable>(
        _ node: YAMLNode?, as key: String, of type: MappingType, _: Value.Type
    ) -> Located<Value>? where Value.RawValue == String {
        guard let word = word(node, as: key, of: type) else { return nil }
        guard let value = Value(rawValue: word.value) else {
            sink.error(
                .invalidValue, "`\(key): \(word.value)` is not supported by this version", at: word.range)
            return nil
        }
        return Located(value, at: word.range)
    }

    /// Reports a value of a key that the language table doesn't contain with this type. It indicates a bug.
    private func unlisted<Value>(_ node: YAMLNode, _ key: String, _ type: MappingType) -> Value? {
        sink.error(
            .invalidValue,
            "`\(key)` of \(type.title) can't be read: the table of the language has no such value",
            at: node.range)
        return nil
    }
}

extension MappingType {
    func type(of key: String) -> ValueType? { self.key(key)?.type }

    /// Returns the mapping type of a key's value; nil if the value can't be a mapping.
    func mapping(of key: String) -> MappingType? {
        switch type(of: key) {
        case .mapping(let type): type
        case .oneOf(let types):
            types.lazy.compactMap { if case .mapping(let type) = $0 { type } else { nil } }.first
        default: nil
        }
    }
}

extension ValueType {
    /// The alternatives of a `.oneOf`; otherwise the type itself.
    private var alternatives: [ValueType] { if case .oneOf(let types) = self { types } else { [self] } }

    /// Whether the value may be a mapping.
    var mayBeMapping: Bool { alternatives.contains { if case .mapping = $0 { true } else { false } } }

    /// The syntax of a scalar with values of a type; nil if the value can't be one.
    func syntax<Value: ScalarValue>(of _: Value.Type) -> ValueSyntax<Value>? {
        switch self {
        case .scalar(let syntax): syntax as? ValueSyntax<Value>
        case .oneOf(let types): types.lazy.compactMap { $0.syntax(of: Value.self) }.first
        default: nil
        }
    }

    /// The words that the value may be; nil if there are none.
    var words: [String]? {
        alternatives.lazy.compactMap { if case .word(let words) = $0 { words } else { nil } }.first
    }
}
