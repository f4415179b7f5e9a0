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
        case .text(_, let example): return [.text(example)]
        case .integer(let range):
            let (least, most) = (range.lowerBound, range.upperBound)
            return [least, most, least - 1, most + 1].map { .plain("\($0)") }
        case .number(let range):
            let (least, most) = (range.lowerBound, range.upperBound)
            return [least, most, least - 1, most + 1].map {
                .plain($0 == $0.rounded() ? "\(Int($0))" : "\($0)")
            }
        case .boolean, .onlyTrue: return [.plain("true"), .plain("false"), .text("true")]
        case .word(let words): return words.map { .text($0) }
        case .mapping(let type): return [minimal(type)]
        case .mapOf(let value, _, _):
            let sample = samples(value)[0]
            return [.mapping([("abc", sample)]), .mapping([("1 a", sample)])]
        case .list(let element, _): return [.list([samples(element)[0]]), .list([])]
        case .oneOf(let types): return types.flatMap { samples($0) }
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
        case .list(let element, _): descend(element, path + "[]") { wrap(.list([$0])) }
        case .oneOf(let types): for type in types { descend(type, path, wrap) }
        default: break
        }
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
        // YAML numbers and booleans are accepted as text if a name or path is required.
        case .invalidName: true
        case .invalidValue:
            diagnostic.message.contains("unknown pixel format") || path.hasSuffix(".channels")
        default: false
        }
    }
}
