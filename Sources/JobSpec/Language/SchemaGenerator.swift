internal import LibAV

/// The generator of the job language's JSON Schema (draft-07), for editors and other validators.
package enum SchemaGenerator {
    /// Returns the schema as text, which is the same for the same tables.
    package static func schema() -> String {
        var definitions: [(String, JSON)] = []
        let root = object(Language.file, &definitions)
        // Jobs must be complete only in a file without `defaults` and `include`, which may supply required keys.
        let whole = json(
            .mapOf(.mapping(Language.job), keys: .identifiers, mayBeEmpty: false), &definitions)
        var members: [(String, JSON)] = [
            ("$schema", .string("http://json-schema.org/draft-07/schema#")),
            ("$id", .string("urn:tandem:job-file:v1")),
            ("title", .string("Tandem job file, version \(Language.version)")),
        ]
        if case .object(let body) = root { members += body }
        members += [
            ("if", .object([("anyOf", .array(["defaults", "include"].map { required($0) }))])),
            ("then", .raw("true")), ("else", .object([("properties", .object([("jobs", whole)]))])),
        ]
        definitions.append(("substitution", substitution))
        members.append(("definitions", .object(definitions.sorted { $0.0 < $1.0 })))
        return JSON.object(members).text(indent: 0) + "\n"
    }

    /// Returns the schema of a scalar as text, without the definition of substitutions.
    static func schema(of syntax: any ScalarSyntax) -> String {
        any(syntax.forms.map(json)).text(indent: 0)
    }

    /// JSON with keys in the given order, for readability.
    private indirect enum JSON {
        case string(String)
        case raw(String)
        case array([JSON])
        case object([(String, JSON)])

        func text(indent: Int) -> String {
            let pad = String(repeating: "  ", count: indent + 1)
            let end = String(repeating: "  ", count: indent)
            switch self {
            case .string(let text): return JSON.quote(text)
            case .raw(let text): return text
            case .array(let items):
                let inner = items.map { $0.text(indent: indent + 1) }
                let line = "[" + inner.joined(separator: ", ") + "]"
                if line.count < 90, !line.contains("\n") { return line }
                return "[\n" + inner.map { pad + $0 }.joined(separator: ",\n") + "\n\(end)]"
            case .object(let members):
                if members.isEmpty { return "{}" }
                return "{\n"
                    + members.map { "\(pad)\(JSON.quote($0.0)): \($0.1.text(indent: indent + 1))" }.joined(
                        separator: ",\n")
                    + "\n\(end)}"
            }
        }

        static func quote(_ text: String) -> String {
            "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        }
    }

    private static func required(_ key: String) -> JSON { .object([("required", .array([.string(key)]))]) }

    /// A value with `${…}`, whose type is known only after substitution.
    private static let substitution = JSON.object([
        ("type", .string("string")), ("pattern", .string(#"\$\{"#)),
        ("description", .string("A value that contains `${…}`; its type is determined after substitution.")),
    ])
    private static let isSubstitution = JSON.object([("$ref", .string("#/definitions/substitution"))])

    /// Returns a conditional schema (`if`, `then`, `else`). Unlike with `anyOf`, validators report only errors of the
    /// schema that applies.
    private static func choose(_ condition: JSON, _ then: JSON, otherwise: JSON) -> JSON {
        .object([("if", condition), ("then", then), ("else", otherwise)])
    }

    private static func isType(_ name: String) -> JSON { .object([("type", .string(name))]) }

    /// Returns the schema of a scalar, which accepts any text with `${…}`.
    private static func value(_ schema: JSON) -> JSON {
        choose(isSubstitution, .raw("true"), otherwise: schema)
    }

    /// Returns the schema of a number, or of a string that contains one. Scalars are interpreted by their text.
    private static func number(_ schema: JSON, pattern: String) -> JSON {
        choose(isType("string"), .object([("pattern", .string(pattern))]), otherwise: schema)
    }

    private static let identifierPattern = "^" + Identifier.pattern + "$"

    private static func json(_ type: ValueType, _ definitions: inout [(String, JSON)]) -> JSON {
        switch type {
        // Scalars are interpreted by their text, so that numbers and booleans are valid.
        case .string(let mayBeEmpty):
            let text = [("type", JSON.array([.string("string"), .string("number"), .string("boolean")]))]
            return .object(mayBeEmpty ? text : text + [("minLength", .raw("1"))])
        case .identifier:
            return .object([("type", .string("string")), ("pattern", .string(identifierPattern))])
        case .scalar(let syntax):
            return any(syntax.forms.map(json))
        case .onlyTrue:
            return value(.object([("enum", .array([.raw("true"), .string("true")]))]))
        case .word(let words):
            return json(.word(words) as ScalarForm)
        case .mapping(let mapping):
            if !definitions.contains(where: { $0.0 == mapping.name }) {
                definitions.append((mapping.name, .raw("{}")))
                let body = object(mapping, &definitions)
                definitions.removeAll { $0.0 == mapping.name }
                definitions.append((mapping.name, body))
            }
            return .object([("$ref", .string("#/definitions/\(mapping.name)"))])
        case .mapOf(let value, let keys, let mayBeEmpty):
            var members: [(String, JSON)] = [("type", .string("object"))]
            if !mayBeEmpty { members.append(("minProperties", .raw("1"))) }
            if case .identifiers = keys {
                members.append(
                    (
                        "patternProperties",
                        .object([(identifierPattern, json(value, &definitions))])
                    ))
                members.append(("additionalProperties", .raw("false")))
            } else {
                members.append(("additionalProperties", json(value, &definitions)))
            }
            return .object(members)
        case .list(let element, let minimum, let maximum):
            var members = [("type", JSON.string("array")), ("items", json(element, &definitions))]
            if minimum > 0 { members.append(("minItems", .raw("\(minimum)"))) }
            if let maximum { members.append(("maxItems", .raw("\(maximum)"))) }
            return .object(members)
        case .oneOf(let types):
            return alternatives(types, &definitions)
        }
    }

    private static func json(_ form: ScalarForm) -> JSON {
        switch form {
        case .text(let pattern, let example), .libraryName(let pattern, let example):
            value(
                .object([
                    ("type", .string("string")), ("pattern", .string(pattern)),
                    ("examples", .array([.string(example)])),
                ]))
        case .integer(let range):
            value(
                number(
                    .object([
                        ("type", .string("integer")), ("minimum", .raw("\(range.lowerBound)")),
                        ("maximum", .raw("\(range.upperBound)")),
                    ]), pattern: ScalarForm.integerPattern))
        case .number(let range):
            value(
                number(
                    .object([
                        ("type", .string("number")),
                        ("minimum", .raw(ScalarForm.text(range.lowerBound))),
                        ("maximum", .raw(ScalarForm.text(range.upperBound))),
                    ]), pattern: ScalarForm.numberPattern))
        case .boolean:
            value(
                .object([("enum", .array([.raw("true"), .raw("false"), .string("true"), .string("false")]))]))
        case .word(let words):
            // YAML parsers return a word that looks like a number as one.
            value(
                .object([
                    (
                        "enum",
                        .array(
                            words.map { .string($0) } + words.filter { Double($0) != nil }.map { .raw($0) })
                    )
                ]))
        }
    }

    /// Returns the schema of values to which at least one schema applies.
    private static func any(_ schemas: [JSON]) -> JSON {
        schemas.count == 1 ? schemas[0] : .object([("anyOf", .array(schemas))])
    }

    /// Returns the schema of several types. The kind of the value (mapping, list or scalar) selects among
    /// them, so that an error in a mapping isn't reported as a missing string.
    private static func alternatives(_ types: [ValueType], _ definitions: inout [(String, JSON)]) -> JSON {
        var (mappings, objects, lists, values) = ([MappingType](), [JSON](), [JSON](), [JSON]())
        for type in types {
            switch type {
            case .mapping(let mapping): mappings.append(mapping)
            case .mapOf: objects.append(json(type, &definitions))
            case .list: lists.append(json(type, &definitions))
            case .scalar(let syntax): values += syntax.forms.map(json)
            default: values.append(json(type, &definitions))
            }
        }
        if mappings.count == 1 {
            objects.append(json(.mapping(mappings[0]), &definitions))
        } else if !mappings.isEmpty {
            objects.append(anyOf(mappings, &definitions))
        }
        var parts: [(kind: String, schema: JSON)] = []
        if !lists.isEmpty { parts.append(("array", any(lists))) }
        if !objects.isEmpty { parts.append(("object", any(objects))) }
        guard !parts.isEmpty else { return any(values) }
        // A value of another kind is a scalar; if no scalar is allowed, the schema of the last kind reports
        // the error.
        var schema = values.isEmpty ? parts.removeLast().schema : any(values)
        for part in parts.reversed() { schema = choose(isType(part.kind), part.schema, otherwise: schema) }
        return schema
    }

    /// Returns the schema of several mapping types. The type is selected by a key that distinguishes it or, for
    /// settings, by the codec. Partial mappings, in which that key is optional, may lack it.
    private static func anyOf(_ kinds: [MappingType], _ definitions: inout [(String, JSON)]) -> JSON {
        if let names = distinguishingKeys(of: kinds) {
            return conditionalSchema(of: kinds, by: names, &definitions)
        }
        let schemas = kinds.map { json(.mapping($0), &definitions) }
        var schema = JSON.object([("anyOf", .array(schemas))])
        for (kind, own) in zip(kinds, schemas) {
            guard case .word(let codecs)? = kind.key("codec")?.type else {
                guard let mark = kind.keys.first?.name, kinds.allSatisfy({ $0 === kind || !$0.has(mark) })
                else { continue }
                schema = choose(required(mark), own, otherwise: schema)
                continue
            }
            let isOne = JSON.object([
                ("required", .array([.string("codec")])),
                ("properties", .object([("codec", .object([("enum", .array(codecs.map { .string($0) }))]))])),
            ])
            schema = choose(isOne, own, otherwise: schema)
        }
        return schema
    }

    /// Returns the rule that a media output's container is set by `container`, or by the destination's
    /// extension.
    private static func extensionRule(_ mapping: MappingType) -> [JSON] {
        guard mapping === Language.job else { return [] }
        let others = (["container"] + OutputKindKey.names { !$0.isMedia } + ["outputs"]).map(required)
        let path = JSON.object([("pattern", .string(#"\.[^./]+$|\$\{"#))])
        let destination = choose(
            isType("object"), .object([("properties", .object([("path", path)]))]), otherwise: path)
        return [
            .object([
                ("if", .object([("not", .object([("anyOf", .array(others))]))])),
                ("then", .object([("properties", .object([("destination", destination)]))])),
            ])
        ]
    }

    /// Returns for each kind of mapping a required key that no other kind has; nil if one kind has none.
    private static func distinguishingKeys(of kinds: [MappingType]) -> [String]? {
        let names = kinds.compactMap { kind in
            kind.keys.first { key in
                key.isRequired && kinds.allSatisfy { $0 === kind || !$0.has(key.name) }
            }?.name
        }
        return names.count == kinds.count ? names : nil
    }

    /// Returns the schema of mapping types that a key distinguishes, so that editors report only errors of the type
    /// that applies.
    private static func conditionalSchema(
        of kinds: [MappingType], by distinguishingKeys: [String], _ definitions: inout [(String, JSON)]
    ) -> JSON {
        let rules = zip(kinds, distinguishingKeys).map { kind, key in
            JSON.object([("if", required(key)), ("then", json(.mapping(kind), &definitions))])
        }
        return .object([
            ("type", .string("object")), ("anyOf", .array(distinguishingKeys.map(required))),
            ("allOf", .array(rules)),
        ])
    }

    /// Returns the rules for values that depend on the encoder, and for the encoders of a codec.
    private static func codecRules(_ mapping: MappingType) -> [JSON] {
        let codecs =
            switch mapping.completeName {
            case Language.videoEncode.name: CodecCatalog.video
            case Language.audioEncode.name: CodecCatalog.audio
            default: [CodecSelection]()
            }
        func constants(_ values: [(String, String)], required: String) -> JSON {
            .object([
                (
                    "properties",
                    .object(values.map { ($0.0, .object([("const", .string($0.1))])) })
                ),
                ("required", .array([.string(required)])),
            ])
        }
        func rule(_ condition: JSON, _ properties: [(String, JSON)]) -> JSON {
            .object([("if", condition), ("then", .object([("properties", .object(properties))]))])
        }
        return codecs.flatMap { selection -> [JSON] in
            let encoders = selection.codec.encoders
            var nothing: [(String, JSON)] = []
            let names = ("encoder", json(.word(encoders.map(\.name)), &nothing))
            let isCodec = constants([("codec", selection.name)], required: "codec")
            guard let first = encoders.first, encoders.count > 1 else {
                return [rule(isCodec, [names] + encoders.flatMap { properties(of: $0, in: mapping) })]
            }
            var rules = [rule(isCodec, [names])]
            for model in encoders {
                let properties = properties(of: model, in: mapping)
                guard !properties.isEmpty else { continue }
                // The preferred encoder applies if none is set.
                let condition =
                    model.name == first.name
                    ? constants([("codec", selection.name), ("encoder", model.name)], required: "codec")
                    : constants([("encoder", model.name)], required: "encoder")
                rules.append(rule(condition, properties))
            }
            return rules
        }
    }

    private static func properties(of model: EncoderModel, in mapping: MappingType) -> [(String, JSON)] {
        model.settings.filter { mapping.has($0.key) }.map { setting in
            var nothing: [(String, JSON)] = []
            return (
                setting.key, setting.type.map { json($0, &nothing) } ?? .object([("not", .raw("{}"))])
            )
        }
    }

    /// Returns the default of a key as JSON; nil if the text is a description instead of a value.
    private static func defaultValue(_ text: String, of type: ValueType) -> JSON? {
        switch type {
        case .word(let words): words.contains(text) ? .string(text) : nil
        case .scalar(let syntax): syntax.accepts(text) ? defaultValue(text, of: syntax.forms) : nil
        case .oneOf(let types): types.lazy.compactMap { defaultValue(text, of: $0) }.first
        default: nil
        }
    }

    /// Returns a valid text as a number or boolean if the scalar may be one, otherwise as a string.
    private static func defaultValue(_ text: String, of forms: [ScalarForm]) -> JSON {
        let isPlain = forms.contains { form in
            switch form {
            case .boolean: true
            case .integer: Int(text) != nil
            case .number: Double(text) != nil
            case .word, .text, .libraryName: false
            }
        }
        return isPlain ? .raw(text) : .string(text)
    }

    private static func object(_ mapping: MappingType, _ definitions: inout [(String, JSON)]) -> JSON {
        var properties: [(String, JSON)] = []
        for key in mapping.keys {
            var text = key.summary
            if let defaultText = key.defaultText { text += " Default: \(defaultText)." }
            var about: [(String, JSON)] = [("description", .string(text))]
            if let value = key.defaultText.flatMap({ defaultValue($0, of: key.type) }) {
                about.append(("default", value))
            }
            if !key.examples.isEmpty { about.append(("examples", .array(key.examples.map { .string($0) }))) }
            let type = json(key.type, &definitions)
            if case .object(let members) = type, members.first?.0 != "$ref" {
                properties.append((key.name, .object(about + members)))
            } else {
                // draft-07 ignores keywords beside a `$ref`.
                properties.append((key.name, .object(about + [("allOf", .array([type]))])))
            }
        }
        var members: [(String, JSON)] = [
            ("type", .string("object")), ("description", .string(mapping.summary)),
            ("properties", .object(properties)), ("patternProperties", .object([("^x-", .raw("true"))])),
            ("additionalProperties", .raw("false")),
        ]
        let required = mapping.keys.filter(\.isRequired).map { JSON.string($0.name) }
        if !required.isEmpty { members.append(("required", .array(required))) }
        if !mapping.dependencies.isEmpty {
            members.append(
                (
                    "dependencies",
                    .object(mapping.dependencies.map { ($0.key, .array([.string($0.required)])) })
                ))
        }
        let stricter = mapping.stricter.map { special in
            JSON.object([
                ("if", .object([("not", Self.required(special.without))])),
                (
                    "then",
                    .object([("properties", .object([(special.key, json(special.type, &definitions))]))])
                ),
            ])
        }
        let rules = mapping.alternatives.map(rule) + stricter + codecRules(mapping) + extensionRule(mapping)
        if !rules.isEmpty { members.append(("allOf", .array(rules))) }
        return .object(members)
    }

    private static func rule(_ group: KeyGroup) -> JSON {
        let each = group.keys.map { JSON.object([("required", .array([.string($0)]))]) }
        if group.isRequired { return .object([(group.isExclusive ? "oneOf" : "anyOf", .array(each))]) }
        let none = JSON.object([("not", .object([("anyOf", .array(each))]))])
        return .object([("oneOf", .array(each + [none]))])
    }
}
