import Diagnostics
import Foundation
import LibAV
import Media
import TestSupport
import Testing

@testable import JobSpec

/// Files in `ok/` cause no diagnostics. For each `err/x.yaml`, `err/x.out` contains the expected diagnostics; a missing
/// `.out` file is written, and the test fails.
@Suite struct GoldenTests {
    static let folder = TestPaths.repository + "/Tests/JobSpecTests"
    static func files(_ kind: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder + "/" + kind)) ?? []).filter {
            $0.hasSuffix(".yaml")
        }.sorted()
    }

    @Test(arguments: files("ok")) func goodFilesAreSilent(_ name: String) throws {
        let text = try String(contentsOfFile: Self.folder + "/ok/" + name, encoding: .utf8)
        let (file, sink) = decode(text, file: name, directory: Self.folder + "/ok")
        #expect(rendered(sink, text, file: name) == "")
        #expect(file?.jobs.isEmpty == false)
    }

    @Test(arguments: files("err")) func wrongFilesPrintTheExpectedDiagnostics(_ name: String) throws {
        let path = Self.folder + "/err/" + name
        let text = try String(contentsOfFile: path, encoding: .utf8)
        var (file, sink) = decode(text, file: name, directory: Self.folder + "/err")
        // For `validate`, a worker runs these checks.
        for check in file?.settingsChecks ?? [] {
            if case .problem? = check.precondition?.run() { continue }
            guard case .problem(let words) = check.validation.run() else { continue }
            sink.add(check.diagnostic(words))
        }
        let printed = rendered(sink, text, file: name)
        #expect(printed.contains("error["))
        try expectGolden(printed, path.dropLast(5) + ".out")
    }

    @Test func schemaIsUpToDate() throws {
        let checkedIn = try String(
            contentsOfFile: TestPaths.repository + "/schemas/tandem-v1.schema.json", encoding: .utf8)
        #expect(
            SchemaGenerator.schema() == checkedIn,
            "the schema is out of date; replace it by the output of `tandem schema`")
    }

    /// Returns whether each file conforms to the schema according to Python's jsonschema; nil for files that can't be
    /// parsed. Scalars are resolved by YAML 1.2's rules, as in `tandem`.
    private func conformsToTheSchema(_ paths: [String]) throws -> [Bool?] {
        let check = """
            import json, sys, re, yaml, jsonschema
            class Loader(yaml.SafeLoader): pass
            plain = {"bool", "int", "float", "timestamp"}
            Loader.yaml_implicit_resolvers = {
                k: [(t, r) for t, r in v if t.split(":")[-1] not in plain]
                for k, v in yaml.SafeLoader.yaml_implicit_resolvers.items()}
            digits = list("-0123456789")
            Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(true|false)$"), list("tf"))
            Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile("^-?[0-9]+$"), digits)
            Loader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"^-?[0-9]+[.][0-9]+$"), digits)
            def keyed(x):
                if isinstance(x, dict): return {str(k): keyed(v) for k, v in x.items()}
                return [keyed(v) for v in x] if isinstance(x, list) else x
            schema = json.load(open(sys.argv[1]))
            jsonschema.Draft7Validator.check_schema(schema)
            validator = jsonschema.Draft7Validator(schema)
            for path in sys.argv[2:]:
                try: document = keyed(yaml.load(open(path, encoding="utf-8-sig"), Loader))
                except Exception: print("unread"); continue
                print("no" if next(validator.iter_errors(document), None) else "yes")
            """
        let result = try program(
            "/usr/bin/python3",
            ["-c", check, TestPaths.repository + "/schemas/tandem-v1.schema.json"] + paths)
        #expect(result.status == 0 && result.errors == "", "\(result.errors)")
        return result.text.split(separator: "\n").map { $0 == "unread" ? nil : $0 == "yes" }
    }

    @Test func goodFilesConformToTheSchema() throws {
        let examples = try FileManager.default.contentsOfDirectory(atPath: TestPaths.repository + "/jobs")
            .filter { $0.hasSuffix(".yaml") }
        #expect(examples.count >= 3)
        let paths =
            examples.map { TestPaths.repository + "/jobs/" + $0 }
            + Self.files("ok").map { Self.folder + "/ok/" + $0 }
        for (path, fits) in zip(paths, try conformsToTheSchema(paths)) { #expect(fits == true, "\(path)") }
    }

    /// Files with unknown keys and wrong types violate the schema too; a schema can't express other errors.
    @Test func wrongFilesViolateTheSchema() throws {
        let names = Self.files("err")
        #expect(names.count >= 150)
        let visible: Set<Rule> = [.unknownKey, .wrongType, .notSupported]
        let results = try conformsToTheSchema(names.map { Self.folder + "/err/" + $0 })
        #expect(results.count == names.count)
        for (name, fits) in zip(names, results) where fits == true {
            let text = try String(contentsOfFile: Self.folder + "/err/" + name, encoding: .utf8)
            let found = Set(
                decode(text, file: name, directory: Self.folder + "/err").sink.diagnostics.map(\.rule))
            #expect(found.isDisjoint(with: visible), "\(name): the file conforms to the schema")
        }
    }

    /// Every rule that decoding and checking can report is reported for a file in `err`.
    @Test func everyRuleOfTheDecoderHasAFile() throws {
        var seen: Set<Rule> = []
        for name in Self.files("err") {
            let text = try String(contentsOfFile: Self.folder + "/err/" + name, encoding: .utf8)
            for diagnostic in decode(text, file: name, directory: Self.folder + "/err").sink
                .diagnostics
            { seen.insert(diagnostic.rule) }
        }
        let expected: Set<Rule> = [
            .yamlSyntax, .duplicateKey, .unknownKey, .missingKey, .wrongType, .invalidValue, .conflictingKeys,
            .undefinedName,
            .invalidName, .dependencyCycle, .notSupported, .unknownCodec, .unknownEncoder, .codecSetting,
            .encoderOption,
            .unknownContainer,
            .containerCodec, .containerSetting, .invalidRange, .substitution, .settingsCycle, .includeCycle,
            .fanOut, .filterChain, .fileUnreadable, .unusedMatrixKey,
        ]
        #expect(expected.subtracting(seen).isEmpty, "\(expected.subtracting(seen))")
    }
}

@Suite struct ValueTests {
    @Test(arguments: [
        ("90.5", "90.5"), ("90.5s", "90.5"), ("1500ms", "1.5"), ("1:30.5", "90.5"), ("00:01:30.500", "90.5"),
        ("0", "0"),
        ("100:00:00", "360000"), ("0.000000001", "0"),
    ])
    func timesAreExact(_ text: String, _ seconds: String) {
        guard case .absolute(let time)? = TimeExpression(text) else {
            Issue.record("\(text) isn't parsed as an absolute time")
            return
        }
        #expect(time.description == seconds)
    }

    @Test func timeExpressionsAreParsed() {
        #expect(TimeExpression("250f") == .frames(250))
        #expect(TimeExpression("25%") == .percent(25_000))
        #expect(TimeExpression("-5s") == .fromEnd(MediaTime(value: 5, timescale: 1)))
        #expect(TimeExpression("end") == .end)
        #expect(TimeExpression("chapter:2") == .chapter(2))
        for wrong in [
            "", "5x", "1:60", "1:2:3:4", "--5", "1e3", "101%", "chapter:0", "1.2.3", "+5", "٣", "1:5.5.5",
        ] {
            #expect(TimeExpression(wrong) == nil, "\(wrong)")
        }
    }

    @Test func quantitiesAreParsed() {
        #expect(Language.bitRate.parse("128k") == 128_000)
        #expect(Language.bitRate.parse("2.5M") == 2_500_000)
        #expect(Language.bitRate.parse("1.0005k") == nil)
        #expect(Language.sampleRate.parse("44.1kHz") == 44_100)
        #expect(Language.frameRate.parse("29.97") == Rational(30_000, 1001))
        #expect(Language.frameRate.parse("12.5") == Rational(25, 2))
        #expect(Language.frameRate.parse("0") == nil && Language.frameRate.parse("1/0") == nil)
        #expect(
            Language.dimensions.parse("x720")?.height == 720
                && Language.dimensions.parse("x720")?.width == nil)
        #expect(
            Language.dimensions.parse("x") == nil && Language.dimensions.parse("0x5") == nil
                && Language.dimensions.parse("1x2x3") == nil)
    }

    /// Control and bidirectional characters in names are replaced.
    @Test func namesArePrintable() {
        #expect(
            TextRenderer.printable("a\u{202e}b\u{1b}[31m\tc\u{2066}") == "a\u{fffd}b\u{fffd}[31m\tc\u{fffd}")
        #expect(TextRenderer.printable("día 日本") == "día 日本")
    }
}
