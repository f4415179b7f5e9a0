import Foundation
import JobPlan
import TestSupport
import Testing
import FileSystem

/// The JSON of `tandem plan` conforms to its schema.
@Suite struct PlanSchemaTests {
    private static let jobs = """
        version: 1
        vars: { camelCase: 0 }
        settings: { v: { codec: h264, preset: ultrafast } }
        jobs:
          one:
            asset: ./a.mp4
            range: { start: 0.2s, end: 50% }
            leftover: warn
            tracks:
              - { video: first, encode: { use: v, bitrate: 1M, passes: 2, size: 100x100, fit: cover, filters: "hue=s=0" } }
            chapters: [ { start: 0, title: A } ]
            destination: { path: one.mp4, if_exists: replace }
          two: { asset: { job: one }, needs: [one], tracks: [ { video: first, encode: { codec: ffv1 } } ], destination: two.mkv }
          three:
            asset: { pattern: smpte, duration: 1s, tone: 1kHz }
            tracks: [ { audio: first, encode: { codec: aac, gain: 3dB, filters: acompressor, normalize: {} } } ]
            destination: three.m4a
          six:
            asset: ./b.mp4
            range: { start: 0.3s }
            cut: smart
            tracks:
              - { video: first, copy: true }
              - { audio: all, mix: true, encode: { codec: flac } }
            expect: { frames: 18, size: { max: 5MB }, audio: { channels: mono } }
            metadata: { cover: art.png }
            destination: six.mkv
          seven:
            asset: ./a.mp4
            outputs:
              a: { tracks: [ { video: first, encode: { codec: ffv1 } } ], destination: seven-a.mkv }
              b: { tracks: [ { audio: first, copy: true } ], limit: { duration: 500ms }, destination: seven-b.m4a }
          eight:
            composition:
              sequence:
                - { id: one, asset: ./a.mp4, range: { start: 0.2s } }
                - { join: wipe-left, overlap: 200ms }
                - { asset: { pattern: smpte, size: 64x48, duration: 1s, tone: 1kHz }, speed: 2, fit: cover }
              layers: [ { asset: { pattern: pal75, size: 64x48, duration: 1s }, until: one.end, place: { right: 2, width: 25% }, opacity: 0.5 } ]
              audio:
                - { id: hum, asset: { pattern: black, tone: 100, duration: 1s }, until: 0.5s }
                - { asset: ./a.mp4, loop: true, volume: -3dB, fade_in: 200ms, duck: { under: hum } }
            tracks: [ { video: first, encode: { codec: ffv1 } }, { audio: first, encode: { codec: flac } } ]
            destination: eight.mkv
          nine: { asset: ./a.mp4, range: { end: 0.5s }, check: { decode: true }, expect: { decodes: true } }
          ten:
            asset: ./a.mp4
            outputs:
              hd: { tracks: [ { video: first, copy: true } ], expect: { frames: 25 } }
              main: { tracks: [ { audio: first, language: eng, title: Main, disposition: default, encode: { codec: aac } } ] }
            package: { segment: 1s, variants: [ { video: hd, audio: main } ], iframes: true, destination: ten }
          eleven:
            asset: ./a.mp4
            outputs: { main: { tracks: [ { audio: first, encode: { codec: aac } } ] } }
            package: { formats: [hls], container: ts, destination: eleven }
          quality: { asset: ./a.mp4, tracks: [ { video: first, encode: { codec: h264, quality: { ssim: 0.98 } } } ], destination: quality.mp4 }
          twelve: { asset: ./a.mp4, tracks: [ { video: first, encode: { codec: h264, target_size: 50kB } } ], destination: twelve.mp4 }
          thirteen: { asset: ./a.mp4, tracks: [ { video: first, encode: { codec: h264, parallel: 2 } } ], destination: thirteen.mp4 }
          four: { asset: ./a.mp4, tracks: [ { audio: all, copy: true } ], destination: four.m4a }
          five: { asset: ./nothing.mp4, tracks: [ { audio: all, copy: true } ], destination: five.m4a }
        """
    /// Arguments that select the jobs without errors, and set a variable whose name isn't in snake case.
    private static let selection =
        [
            "one", "two", "three", "four", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
            "thirteen", "quality",
        ].flatMap {
            ["--only", $0]
        } + [
            "--set", "camelCase=1",
        ]

    private func folder() throws -> Scratch {
        let scratch = try folderWithSource()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc=size=32x32:rate=1", "-frames:v", "1", scratch.file("art.png"))
        try ffmpeg("-i", scratch.file("a.mp4"), "-g", "5", "-c:a", "copy", scratch.file("b.mp4"))
        return scratch
    }

    @Test func plansConformToTheirSchema() throws {
        let scratch = try folder()
        try scratch.write(Self.jobs, to: "jobs.yaml")
        let plan = try tandem("plan", "--format", "json", "jobs.yaml", in: scratch)
        try scratch.write(plan.text, to: "plan.json")
        let saved = try program(
            TestPaths.tandem, ["plan", "--out", "saved.json"] + Self.selection + ["jobs.yaml"],
            directory: scratch.path)
        try #require(saved.status == 0, "\(saved.errors)")
        // In addition to validation, every key in a document must be in the schema, and in snake case.
        let check = """
            import json, re, sys, jsonschema
            schema, *documents = (json.load(open(p)) for p in sys.argv[1:])
            jsonschema.Draft7Validator.check_schema(schema)
            def check(value, rule, path):
                if "$ref" in rule:
                    steps = rule["$ref"].split("/")[1:]
                    rule = schema
                    for step in steps: rule = rule[step]
                if isinstance(value, list):
                    for item in value: check(item, rule.get("items", {}), path)
                elif isinstance(value, dict) and "properties" in rule:
                    for key, inner in value.items():
                        where = path + "." + key
                        if key not in rule["properties"]: print("not in the schema:", where)
                        elif not re.fullmatch("_?[a-z0-9]+(_[a-z0-9]+)*", key): print("not in snake case:", where)
                        else: check(inner, rule["properties"][key], where)
            for document in documents:
                for error in jsonschema.Draft7Validator(schema).iter_errors(document):
                    print(list(error.absolute_path), error.message[:200])
                check(document, schema["then" if "kind" in document else "else"], "")
            """
        let result = try program(
            "/usr/bin/python3",
            [
                "-c", check, TestPaths.repository + "/schemas/tandem-plan-v1.schema.json",
                scratch.file("plan.json"), scratch.file("saved.json"),
            ])
        #expect(result.status == 0 && result.text == "", "\(result.text)\(result.errors)")
    }

    /// The schema contains every property of the types, and decoding and encoding a saved plan yields the same bytes.
    @Test func savedPlansRoundTrip() throws {
        let scratch = try folder()
        try scratch.write(Self.jobs, to: "jobs.yaml")
        let saved = try program(
            TestPaths.tandem, ["plan", "--out", "saved.json"] + Self.selection + ["jobs.yaml"],
            directory: scratch.path)
        try #require(saved.status == 0, "\(saved.errors)")
        let data = try Data(contentsOf: URL(filePath: scratch.file("saved.json")))
        let file = try PlanFile.read(data)
        #expect(try file.data() == data)
        let text = try Data(
            contentsOf: URL(filePath: TestPaths.repository + "/schemas/tandem-plan-v1.schema.json"))
        let schema = try #require(try JSONSerialization.jsonObject(with: text) as? [String: Any])
        let absent = Set(missing(file, ["$ref": "#/definitions/file"], schema, ""))
        #expect(absent.sorted() == [])
    }

    /// Types with custom coding.
    private static let customCoded = ["SourceRange", "FileIdentity"]

    /// Returns the paths of stored properties that the schema lacks, regardless of whether this plan has a value for
    /// them.
    private func missing(_ value: Any, _ rule: [String: Any], _ schema: [String: Any], _ path: String)
        -> [String]
    {
        var rule = rule
        if let name = (rule["$ref"] as? String)?.split(separator: "/").last {
            rule = (schema["definitions"] as? [String: Any])?[String(name)] as? [String: Any] ?? [:]
        }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional:
            return mirror.children.first.map { missing($0.value, rule, schema, path) } ?? []
        case .collection:
            let item = rule["items"] as? [String: Any] ?? [:]
            return mirror.children.flatMap { missing($0.value, item, schema, path) }
        case .struct, .enum, .tuple, .class:
            guard let known = rule["properties"] as? [String: Any] else { return [] }
            // The associated value of a case without a label.
            if mirror.displayStyle != .tuple, let inner = known["_0"] as? [String: Any] {
                return missing(value, inner, schema, path + "._0")
            }
            // The coding of these types differs from their stored properties.
            if Self.customCoded.contains("\(type(of: value))") { return [] }
            return mirror.children.flatMap { child -> [String] in
                var (label, value) = (child.label.map { $0.replacing(".", with: "_") } ?? "", child.value)
                if let annotated = annotated(value) {
                    (label, value) = (String(label.dropFirst()), annotated)
                }
                // Values of media outputs stand beside those of all outputs; each other kind has its own key.
                if value is OutputKind, let kind = Mirror(reflecting: value).children.first {
                    let name = kind.label ?? ""
                    return missing(
                        kind.value, name == "media" ? rule : known[name] as? [String: Any] ?? [:], schema,
                        path)
                }
                let key = label.replacing(/[A-Z]/) { "_" + $0.output.lowercased() }
                guard let inner = known[key] as? [String: Any] else { return ["\(path).\(key)"] }
                return missing(value, inner, schema, "\(path).\(key)")
            }
        default: return []
        }
    }

    /// Returns the wrapped value of an `Annotation`; nil for other values.
    private func annotated(_ value: Any) -> Any? {
        "\(type(of: value))".hasPrefix("Annotation<")
            ? Mirror(reflecting: value).children.first { $0.label == "wrappedValue" }?.value : nil
    }
}
