import Diagnostics
import Foundation
import TestSupport
import Testing

@testable import JobSpec

/// A value of a generated document.
private indirect enum Sample {
    case plain(String)
    case text(String)
    case list([Sample])
    case mapping([(String, Sample)])

    /// The value as JSON, which is also YAML.
    var json: String {
        switch self {
        case .plain(let word): word
        case .text(let text):
            "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        case .list(let items): "[" + items.map(\.json).joined(separator: ", ") + "]"
        case .mapping(let entries):
            "{" + entries.map { "\"\($0.0)\": \($0.1.json)" }.joined(separator: ", ") + "}"
        }
    }

    /// The text of a scalar.
    var text: String {
        switch self {
        case .plain(let text), .text(let text): text
        case .list, .mapping: ""
        }
    }

    var isPlain: Bool { if case .plain = self { true } else { false } }

    func with(_ key: String, _ value: Sample) -> Sample {
        guard case .mapping(let entries) = self else { return self }
        return .mapping(entries.filter { $0.0 != key } + [(key, value)])
    }
}

/// A generator of documents from the language's table: every key with valid and invalid values.
private struct DocumentGenerator {
    var documents: [(path: String, text: String)] = []
    private var seen: Set<String> = []

    static func all() -> [(path: String, text: String)] {
        var generator = DocumentGenerator()
        let job = minimal(Language.job)
        generator.visit(Language.job, job, "job") { $0 }
        generator.visit(Language.file, file(job), "file") { $0 }
        return generator.documents
    }

    private static func file(_ job: Sample) -> Sample {
        .mapping([("version", .plain("1")), ("jobs", .mapping([("a", job)]))])
    }

    /// Returns a minimal valid value of a type.
    private static func minimal(_ type: MappingType) -> Sample {
        let h264 = Sample.mapping([("codec", .text("h264"))])
        let aac = Sample.mapping([("codec", .text("aac"))])
        let stem = type.name.replacing("Part", with: "").replacing("Settings", with: "")
        switch stem {
        case "job":
            if type.name != stem { return .mapping([]) }
            return .mapping([
                ("asset", .text("./a.mkv")),
                ("tracks", .list([.mapping([("video", .text("first")), ("encode", h264)])])),
                ("destination", .text("./o.mkv")),
            ])
        case "videoEncode": return h264
        case "audioEncode": return aac
        case "videoTrack": return .mapping([("video", .text("first")), ("encode", h264)])
        case "audioTrack": return .mapping([("audio", .text("first")), ("encode", aac)])
        default: break
        }
        var entries = type.keys.filter(\.isRequired).map { ($0.name, samples($0.type)[0]) }
        for group in type.alternatives where group.isRequired {
            let key = group.keys.last.flatMap { type.key($0) }
            if let key { entries.append((key.name, samples(key.type)[0])) }
        }
        return .mapping(entries)
    }

    /// Returns valid values of a type, and values just outside of its bounds.
    private static func samples(_ type: ValueType) -> [Sample] {
        switch type {
        case .string: return [.text("abc")]
        case .identifier: return [.text("abc"), .text("1 a")]
        case .scalar(let syntax): return syntax.forms.flatMap { samples($0) }
        case .onlyTrue: return [.plain("true"), .plain("false"), .text("true")]
        case .word(let words): return words.map { .text($0) }
        case .mapping(let type): return [minimal(type)]
        case .mapOf(let value, _, _):
            let sample = samples(value)[0]
            return [.mapping([("abc", sample)]), .mapping([("1 a", sample)])]
        case .list(let element, _, _): return [.list([samples(element)[0]]), .list([])]
        case .oneOf(let types): return types.flatMap { samples($0) }
        }
    }

    private static func samples(_ form: ScalarForm) -> [Sample] {
        switch form {
        case .text(_, let example), .libraryName(_, let example): [.text(example)]
        case .integer, .number: form.bounds.map { .plain($0) }
        case .boolean: [.plain("true"), .plain("false"), .text("true")]
        case .word(let words): words.map { .text($0) }
        }
    }

    private static let invalid: [Sample] = [
        .plain("null"), .plain("true"), .plain("-3"), .plain("1000000"), .plain("2.5"), .plain("5.1"),
        .text("nonesuch"),
        .text("?!"), .text(""), .list([]), .list([.text("nonesuch")]), .mapping([]),
        .mapping([("nope", .plain("1"))]), .text("${nope:-abc}"),
    ]

    private mutating func add(_ path: String, _ value: Sample) {
        documents.append((path, value.json))
    }

    private mutating func visit(
        _ type: MappingType, _ instance: Sample, _ path: String, _ wrap: @escaping (Sample) -> Sample
    ) {
        guard seen.insert(type.name).inserted else { return }
        let whole: (Sample) -> Sample = { value in
            path.hasPrefix("job") ? Self.file(wrap(value)) : wrap(value)
        }
        add(path, whole(instance))
        add("\(path) {}", whole(.mapping([])))
        add("\(path) nope", whole(instance.with("nope", .plain("1"))))
        add("\(path) x-nope", whole(instance.with("x-nope", .plain("1"))))
        if case .mapping(let entries) = instance {
            for entry in entries {
                add("\(path) -\(entry.0)", whole(.mapping(entries.filter { $0.0 != entry.0 })))
            }
        }
        for key in type.keys {
            let location = "\(path).\(key.name)"
            let instance = Self.instance(of: type, from: instance, for: key)
            for value in Self.samples(key.type) + Self.invalid {
                add(location, whole(instance.with(key.name, value)))
            }
            descend(key.type, location) { wrap(instance.with(key.name, $0)) }
        }
    }

    /// Returns an instance that has the keys on which a key depends.
    private static func instance(of type: MappingType, from instance: Sample, for key: KeyInfo) -> Sample {
        guard case .mapping(let entries) = instance,
            let dependency = type.dependencies.first(where: { $0.key == key.name }),
            let rules = entries.first(where: { $0.0 == "tracks" })
        else { return instance }
        let output = Sample.mapping([("abc", .mapping([rules]))])
        return .mapping(entries.filter { $0.0 != "tracks" && $0.0 != "destination" }).with(
            dependency.required, output)
    }

    private mutating func descend(
        _ type: ValueType, _ path: String, _ wrap: @escaping (Sample) -> Sample
    ) {
        switch type {
        case .mapping(let type): visit(type, Self.minimal(type), path, wrap)
        case .mapOf(let value, _, _): descend(value, path + ".abc") { wrap(.mapping([("abc", $0)])) }
        case .list(let element, _, _): descend(element, path + "[]") { wrap(.list([$0])) }
        case .oneOf(let types): for type in types { descend(type, path, wrap) }
        default: break
        }
    }
}

extension ScalarForm {
    /// Numbers at the bounds, and just outside of them.
    fileprivate var bounds: [String] {
        switch self {
        case .integer(let range):
            [range.lowerBound, range.upperBound, range.lowerBound - 1, range.upperBound + 1].map { "\($0)" }
        case .number(let range):
            [
                range.lowerBound, range.upperBound, range.lowerBound - 1, range.upperBound + 1,
                range.lowerBound - 0.001, range.upperBound + 0.001,
            ].map { ScalarForm.text(($0 * 1000).rounded() / 1000) }
        case .boolean, .word, .text, .libraryName: []
        }
    }
}

/// A generator of texts that match a regular expression of the schema: groups, alternatives, classes and quantifiers.
private struct PatternSampler {
    private indirect enum Part {
        case letters([Character])
        case sequence([Part])
        case choice([Part])
        case repeated(Part, ClosedRange<Int>)
    }

    /// The letters that stand for those that a class excludes.
    private static let others = Array("a0Z.-_é")
    private let root: Part
    private var state: UInt64 = 1

    init(_ pattern: String) throws {
        var rest = Array(pattern)[...]
        root = try Self.choice(&rest)
        guard rest.isEmpty else { throw ProgramError(message: "the pattern \(pattern) isn't supported") }
    }

    private static func choice(_ rest: inout ArraySlice<Character>) throws -> Part {
        var choices: [Part] = []
        var parts: [Part] = []
        while let letter = rest.first, letter != ")" {
            rest.removeFirst()
            switch letter {
            case "|":
                choices.append(.sequence(parts))
                parts = []
            case "^", "$": break
            default:
                let part = try atom(letter, &rest)
                parts.append(try quantified(part, &rest))
            }
        }
        return .choice(choices + [.sequence(parts)])
    }

    private static func atom(_ letter: Character, _ rest: inout ArraySlice<Character>) throws -> Part {
        switch letter {
        case "(":
            if rest.starts(with: "?:") { rest.removeFirst(2) }
            guard rest.first != "?" else { throw ProgramError(message: "lookaround isn't supported") }
            let part = try choice(&rest)
            guard rest.popFirst() == ")" else { throw ProgramError(message: "`(` is not closed") }
            return part
        case "[": return try letters(&rest)
        case "\\":
            guard let escaped = rest.popFirst(), !escaped.isLetter, !escaped.isNumber else {
                throw ProgramError(message: "the escape isn't supported")
            }
            return .letters([escaped])
        case ".": return .letters(others)
        default: return .letters([letter])
        }
    }

    private static func letters(_ rest: inout ArraySlice<Character>) throws -> Part {
        let isExcluding = rest.first == "^"
        if isExcluding { rest.removeFirst() }
        var letters: [Character] = []
        while let letter = rest.popFirst(), letter != "]" {
            guard rest.first == "-", let last = rest.dropFirst().first, last != "]",
                let from = letter.asciiValue, let to = last.asciiValue
            else {
                letters.append(letter == "\\" ? rest.popFirst() ?? letter : letter)
                continue
            }
            rest.removeFirst(2)
            letters += (from...to).map { Character(UnicodeScalar($0)) }
        }
        return .letters(isExcluding ? others.filter { !letters.contains($0) } : letters)
    }

    private static func quantified(_ part: Part, _ rest: inout ArraySlice<Character>) throws -> Part {
        switch rest.first {
        case "?": rest.removeFirst(); return .repeated(part, 0...1)
        case "*": rest.removeFirst(); return .repeated(part, 0...3)
        case "+": rest.removeFirst(); return .repeated(part, 1...3)
        case "{":
            let bounds = String(rest.dropFirst().prefix { $0 != "}" })
            rest = rest.dropFirst(bounds.count + 2)
            let parts = bounds.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
            guard let least = parts[0] else { throw ProgramError(message: "no count in {\(bounds)}") }
            let most = parts.count == 1 ? least : (parts[1] ?? least + 3)
            return .repeated(part, least...min(most, least + 8))
        default: return part
        }
    }

    private mutating func random(_ count: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % count
    }

    /// Returns the next text.
    mutating func next() -> String { text(of: root) }

    private mutating func text(of part: Part) -> String {
        switch part {
        case .letters(let letters): return letters.isEmpty ? "" : String(letters[random(letters.count)])
        case .sequence(let parts): return parts.reduce(into: "") { $0 += text(of: $1) }
        case .choice(let parts): return text(of: parts[random(parts.count)])
        case .repeated(let part, let range):
            let count = range.lowerBound + random(range.count)
            return (0..<count).reduce(into: "") { text, _ in text += self.text(of: part) }
        }
    }
}

/// Texts that are close to valid values of a scalar.
private enum ScalarMutations {
    private static let alphabet = Array("019.-+:/%x ,kKMsfdBHz#_(é")

    /// Values of various keys.
    private static let notations = [
        "1:30", "00:01:30.500", "1500ms", "250f", "25%", "-5s", "end", "start-1s", "a.end", "1280x", "x720",
        "30000/1001", "29.97", "16:9", "50 MiB", "2.5M", "48kHz", "+3 dB", "%d.png", "#ffcc0080",
    ]

    /// Returns examples and words of a syntax, and texts that differ from them in one or two characters.
    static func texts(of syntax: any ScalarSyntax) -> [String] {
        var seeds: [String] = []
        for form in syntax.forms {
            switch form {
            case .text(_, let example), .libraryName(_, let example): seeds.append(example)
            case .word(let words): seeds += words.prefix(2)
            case .boolean: seeds.append("true")
            case .integer, .number: seeds += form.bounds
            }
        }
        let hasText = syntax.forms.contains { form in
            switch form {
            case .text, .libraryName: true
            case .integer, .number, .boolean, .word: false
            }
        }
        seeds += ["", "1", "0", "90.5", "-5"]
        var texts = seeds
        for seed in seeds {
            let letters = Array(seed)
            for index in 0...letters.count {
                for letter in alphabet {
                    texts.append(String(letters[..<index] + [letter] + letters[index...]))
                }
            }
        }
        if hasText { seeds += notations }
        var state: UInt64 = 1
        for seed in seeds {
            texts.append(seed)
            let letters = Array(seed)
            for index in letters.indices {
                texts.append(String(letters[..<index] + letters[(index + 1)...]))
            }
            for _ in 0..<30 where !letters.isEmpty {
                var changed = letters
                for _ in 0..<2 {
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    changed[Int(state >> 33) % changed.count] = alphabet[Int(state >> 40) % alphabet.count]
                }
                texts.append(String(changed))
            }
        }
        var seen: Set<String> = []
        return texts.filter { seen.insert($0).inserted }
    }

    /// Returns a text without the magnitudes and signs of its numbers.
    static func shape(_ text: String) -> String {
        text.replacing(/[0-9]+/, with: "0").replacing(/^-/, with: "")
    }

    /// Returns whether a syntax accepts a text of a shape.
    static func accepts(_ shape: String, _ syntax: any ScalarSyntax) -> Bool {
        let parts = shape.split(separator: "0", omittingEmptySubsequences: false)
        guard parts.count <= 5 else { return false }
        let texts = parts.dropFirst().reduce([String(parts[0])]) { texts, part in
            texts.flatMap { text in ["0", "1", "2", "9", "25", "1000", "9600"].map { text + $0 + part } }
        }
        return texts.contains { syntax.accepts($0) || syntax.accepts("-" + $0) }
    }
}

/// The schema and the decoder accept the same documents, as far as a schema can express the rules.
@Suite struct SchemaAgreementTests {
    @Test func schemaAndDecoderAcceptTheSameDocuments() throws {
        let documents = DocumentGenerator.all()
        let scratch = try Scratch()
        try scratch.write(
            "[" + documents.map(\.text).joined(separator: ",\n") + "]", to: "documents.json")
        let check = """
            import json, sys, jsonschema
            schema, documents = (json.load(open(p)) for p in sys.argv[1:3])
            validator = jsonschema.Draft7Validator(schema)
            for document in documents: print("01"[validator.is_valid(document)])
            """
        let result = try program(
            "/usr/bin/python3",
            [
                "-c", check, TestPaths.repository + "/schemas/tandem-v1.schema.json",
                scratch.file("documents.json"),
            ])
        let results = result.text.split(separator: "\n").map { $0 == "1" }
        try #require(results.count == documents.count, "\(result.errors)")
        var counts = (accepted: 0, rejected: 0, schemaOnly: 0)
        for (document, fits) in zip(documents, results) {
            let (_, sink) = decode(document.text, directory: "/tmp", allowsNoJobs: true)
            let errors = sink.diagnostics.filter { $0.severity == .error }
            if errors.isEmpty {
                counts.accepted += 1
                #expect(fits, "the schema rejects \(document.path): \(document.text)")
            } else if fits {
                counts.schemaOnly += 1
                let rules = errors.map { "\($0.rule.rawValue): \($0.message)" }
                #expect(
                    document.text.contains("${")
                        || errors.contains { Self.isBeyondSchemas($0, document.path) },
                    "only the schema accepts \(document.path): \(document.text): \(rules)")
            } else {
                counts.rejected += 1
            }
        }
        print("measured: \(documents.count) documents: \(counts)")
        #expect(documents.count > 1000)
    }

    /// Texts near the edges of every scalar's syntax, and random texts that match its patterns. A schema can't bound
    /// numbers within text, and doesn't know the names of the library.
    @Test func schemaAndParserAcceptTheSameScalars() throws {
        let syntaxes = Self.syntaxes()
        try #require(syntaxes.count > 30)
        let samples = try syntaxes.map { syntax -> [Sample] in
            let matches = try syntax.forms.flatMap { form -> [String] in
                switch form {
                case .text(let pattern, _), .libraryName(let pattern, _):
                    var sampler = try PatternSampler(pattern)
                    return (0..<200).map { _ in sampler.next() }
                case .integer, .number, .boolean, .word: return []
                }
            }
            return syntax.forms.flatMap(\.bounds).map { .plain($0) }
                + ScalarMutations.texts(of: syntax).map { .text($0) } + matches.map { .text($0) }
        }
        let scratch = try Scratch()
        let cases = zip(syntaxes, samples).map { syntax, samples in
            "[\(SchemaGenerator.schema(of: syntax)), [\(samples.map(\.json).joined(separator: ","))]]"
        }
        try scratch.write("[" + cases.joined(separator: ",\n") + "]", to: "scalars.json")
        let check = """
            import json, sys, jsonschema
            for schema, values in json.load(open(sys.argv[1])):
                schema["definitions"] = {"substitution": {"type": "string", "pattern": r"\\$\\{"}}
                validator = jsonschema.Draft7Validator(schema)
                print("".join("01"[validator.is_valid(value)] for value in values))
            """
        let result = try program("/usr/bin/python3", ["-c", check, scratch.file("scalars.json")])
        let lines = result.text.split(separator: "\n")
        try #require(lines.count == syntaxes.count, "\(result.errors)")
        var counts = (accepted: 0, rejected: 0, schemaOnly: 0)
        for ((syntax, samples), line) in zip(zip(syntaxes, samples), lines) {
            let results = zip(samples, line).map { sample, digit in
                (
                    text: sample.text, isPlain: sample.isPlain, decodes: syntax.accepts(sample.text),
                    fits: digit == "1"
                )
            }
            var shapes: [String: Bool] = [:]
            let isNamed = syntax.forms.contains { if case .libraryName = $0 { true } else { false } }
            for result in results {
                if result.decodes { counts.accepted += 1 } else { counts.rejected += 1 }
                if result.decodes == result.fits { continue }
                counts.schemaOnly += 1
                let shape = ScalarMutations.shape(result.text)
                if shapes[shape] == nil { shapes[shape] = ScalarMutations.accepts(shape, syntax) }
                let hasNumberInText = !result.isPlain && shapes[shape] == true
                #expect(
                    result.fits && (isNamed || hasNumberInText),
                    "\(result.fits ? "only the schema" : "only the parser") accepts `\(result.text)`: \(syntax.forms)"
                )
            }
        }
        print("measured: \(syntaxes.count) scalars: \(counts)")
    }

    /// Defaults that the decoder applies are values of their keys; others describe what happens.
    @Test func defaultsOfScalarsAreValues() {
        let described = [
            "auto", "unchanged", "derived", "chosen", "as ", "the ", "its own", "from ", "90 for ",
            "0.002 for ",
        ]
        for type in Self.mappings() {
            for key in type.keys {
                guard case .scalar(let syntax) = key.type, let text = key.defaultText,
                    !described.contains(where: { text.hasPrefix($0) })
                else { continue }
                #expect(syntax.accepts(text), "\(type.name).\(key.name): \(text)")
            }
        }
    }

    /// Returns the syntax of each scalar in the table.
    private static func syntaxes() -> [any ScalarSyntax] {
        func scalars(_ type: ValueType) -> [any ScalarSyntax] {
            switch type {
            case .scalar(let syntax): [syntax]
            case .mapOf(let value, _, _): scalars(value)
            case .list(let element, _, _): scalars(element)
            case .oneOf(let types): types.flatMap(scalars)
            case .string, .identifier, .onlyTrue, .word, .mapping: []
            }
        }
        var seen: Set<ObjectIdentifier> = []
        return mappings().flatMap { $0.keys.flatMap { scalars($0.type) } }
            .filter { seen.insert(ObjectIdentifier($0)).inserted }
    }

    /// Returns all mappings of the table.
    private static func mappings() -> [MappingType] {
        func direct(_ type: ValueType) -> [MappingType] {
            switch type {
            case .mapping(let mapping): [mapping]
            case .mapOf(let value, _, _): direct(value)
            case .list(let element, _, _): direct(element)
            case .oneOf(let types): types.flatMap(direct)
            case .scalar, .string, .identifier, .onlyTrue, .word: []
            }
        }
        var found: [MappingType] = []
        var queue = [Language.file, Language.job]
        while let type = queue.popLast() {
            guard !found.contains(where: { $0.name == type.name }) else { continue }
            found.append(type)
            for key in type.keys { queue += direct(key.type) }
        }
        return found
    }

    /// Returns whether an error depends on other keys, other files or this build. One such error suffices, since other
    /// diagnostics may result from it.
    private static func isBeyondSchemas(_ diagnostic: Diagnostic, _ path: String) -> Bool {
        switch diagnostic.rule {
        case .undefinedName, .settingsCycle, .fileUnreadable, .networkNotAllowed, .conflictingKeys: true
        case .containerCodec, .containerSetting, .unknownContainer, .unknownCodec, .encoderMissing: true
        case .codecSetting, .encoderOption, .filterChain: true
        // A job may contain keys that `defaults` lacks, and settings may contain keys that an encoding lacks.
        case .missingKey:
            path.hasPrefix("file.defaults") || path.contains(".encode.") || path.contains("settings")
                // `copy: { where: … }` requires `encode`.
                || path.contains(".copy")
        // YAML numbers and booleans are accepted as text if a name or path is required.
        case .invalidName: true
        case .invalidValue:
            path.contains(".pixel_format") || path.contains(".channels")
                // The order of two bounds.
                || path.hasSuffix(".min") || path.hasSuffix(".max")
        default: false
        }
    }
}
