/// Writes the JSON Schema (draft-07) of the job language, for editors and other checkers.
public enum SchemaGenerator {
    /// The schema as text, stable from run to run.
    public static func schema() -> String {
        var definitions: [(String, JSON)] = []
        let root = object(Language.file, &definitions)
        // What `defaults` or an included file gives needs not stand in the job.
        let whole = json(.mapOf(.mapping(Language.job), keys: .identifiers), &definitions)
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

    /// JSON with keys in the order given: a schema is read by people too.
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

    /// A value that is known after substitution only.
    private static let substitution = JSON.object([
        ("type", .string("string")), ("pattern", .string(#"\$\{"#)),
        ("description", .string("A value with `${…}` in it, whose type is read after substitution.")),
    ])
    private static let orSubstitution = JSON.object([("$ref", .string("#/definitions/substitution"))])

    /// Scalars are read from their text, so a number may stand in quotes too.
    private static func anyOf(_ types: [JSON]) -> JSON {
        .object([("anyOf", .array(types + [orSubstitution]))])
    }

    private static let identifierPattern = "^[A-Za-z_][A-Za-z0-9_-]*$"

    private static func json(_ type: ValueType, _ definitions: inout [(String, JSON)]) -> JSON {
        switch type {
        // Scalars are read from their text, so a number is text too.
        case .string:
            return .object([("type", .array([.string("string"), .string("number"), .string("boolean")]))])
        case .identifier:
            return .object([("type", .string("string")), ("pattern", .string(identifierPattern))])
        case .text(let pattern, let example):
            return anyOf([
                .object([
                    ("type", .string("string")), ("pattern", .string(pattern)),
                    ("examples", .array([.string(example)])),
                ])
            ])
        case .integer(let range):
            return anyOf([
                .object([
                    ("type", .string("integer")), ("minimum", .raw("\(range.lowerBound)")),
                    ("maximum", .raw("\(range.upperBound)")),
                ]), .object([("type", .string("string")), ("pattern", .string("^-?[0-9]+$"))]),
            ])
        case .number(let range):
            return anyOf([
                .object([
                    ("type", .string("number")), ("minimum", .raw(plain(range.lowerBound))),
                    ("maximum", .raw(plain(range.upperBound))),
                ]), .object([("type", .string("string")), ("pattern", .string(#"^-?[0-9]+(\.[0-9]+)?$"#))]),
            ])
        case .boolean:
            return anyOf([
                .object([("enum", .array([.raw("true"), .raw("false"), .string("true"), .string("false")]))])
            ])
        case .word(let words):
            // A word that looks like a number is read as one by most.
            let numbers = words.filter { Int($0) != nil }.map { JSON.raw($0) }
            return anyOf([.object([("enum", .array(words.map { .string($0) } + numbers))])])
        case .mapping(let mapping):
            if !definitions.contains(where: { $0.0 == mapping.name }) {
                definitions.append((mapping.name, .raw("{}")))
                let body = object(mapping, &definitions)
                definitions.removeAll { $0.0 == mapping.name }
                definitions.append((mapping.name, body))
            }
            return .object([("$ref", .string("#/definitions/\(mapping.name)"))])
        case .mapOf(let value, let keys):
            var members: [(String, JSON)] = [("type", .string("object"))]
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
        case .list(let element):
            return .object([
                ("type", .string("array")), ("items", json(element, &definitions)), ("minItems", .raw("1")),
            ])
        case .oneOf(let types): return .object([("anyOf", .array(types.map { json($0, &definitions) }))])
        }
    }

    private static func plain(_ value: Double) -> String {
        value == value.rounded() ? "\(Int(value))" : "\(value)"
    }

    private static func object(_ mapping: MappingType, _ definitions: inout [(String, JSON)]) -> JSON {
        var properties: [(String, JSON)] = []
        for key in mapping.keys {
            var text = key.summary
            if let defaultText = key.defaultText { text += " Default: \(defaultText)." }
            let type = json(key.type, &definitions)
            if case .object(let members) = type, members.first?.0 != "$ref" {
                properties.append((key.name, .object([("description", .string(text))] + members)))
            } else {
                // draft-07 ignores what stands beside a $ref.
                properties.append(
                    (key.name, .object([("description", .string(text)), ("allOf", .array([type]))])))
            }
        }
        var members: [(String, JSON)] = [
            ("type", .string("object")), ("description", .string(mapping.summary)),
            ("properties", .object(properties)), ("patternProperties", .object([("^x-", .raw("true"))])),
            ("additionalProperties", .raw("false")),
        ]
        let required = mapping.keys.filter(\.isRequired).map { JSON.string($0.name) }
        if !required.isEmpty { members.append(("required", .array(required))) }
        let rules = mapping.alternatives.map(rule)
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
