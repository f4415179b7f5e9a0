import Diagnostics
import Foundation
import TestSupport
import Testing
import YAMLDocument

@testable import JobSpec

/// Tests that the cost of loading is proportional to the size of the file and of its expansion, which is bounded before
/// expanding.
@Suite struct LoadingCostTests {
    private static let job = "{ asset: a.mp4, tracks: [ { video: first, copy: true } ], destination: o.mp4 }"

    private static func file(_ sections: String = "", jobs: String = "  j: \(job)\n") -> String {
        "version: 1\n\(sections)jobs:\n\(jobs)"
    }

    private static func lines(_ count: Int, _ line: (Int) -> String) -> String {
        (0..<count).map(line).joined()
    }

    private static func jobs(_ count: Int, _ key: (Int) -> String) -> String {
        lines(count) {
            "  j\($0): { \(key($0)), tracks: [ { video: first, copy: true } ], destination: o\($0).mp4 }\n"
        }
    }

    /// Generators of files of a given size, each with a construct that is scanned, looked up or merged.
    private static let kinds: [(name: String, text: @Sendable (Int) -> String)] = [
        ("escapes in a comment", { file("# " + String(repeating: "\\u", count: $0) + "\n") }),
        ("names in a comment", { file("# " + String(repeating: "${env.A ${index ", count: $0) + "\n") }),
        ("variables", { n in file("vars:\n" + lines(n) { "  v\($0): x\n" }) }),
        (
            "a chain of variables",
            { n in file("vars:\n" + lines(n) { "  v\($0): \"${v\($0 + 1)}\"\n" } + "  v\(n): x\n") }
        ),
        (
            "a circle of variables",
            { n in file("vars:\n" + lines(n) { "  v\($0): \"${v\(($0 + 1) % n)}\"\n" }) }
        ),
        ("unknown variables", { n in file("vars:\n" + lines(n) { "  v\($0): \"${w\($0)}\"\n" }) }),
        (
            "a variable of many",
            { n in
                file(
                    "vars:\n  a: \"" + lines(min(n, 9000)) { "${v\($0)}" } + "\"\n"
                        + lines(n) { "  v\($0): x\n" })
            }
        ),
        (
            "nested braces",
            { n in
                let count = min(n, 20_000)
                return file(
                    "vars:\n  a: \"\(String(repeating: "${", count: count))\(String(repeating: "}", count: count))\"\n"
                )
            }
        ),
        (
            "unknown names in one text",
            { file("vars:\n  a: \"" + String(repeating: "${b}", count: min($0, 15_000)) + "\"\n") }
        ),
        ("jobs", { n in file(jobs: jobs(n) { _ in "asset: a.mp4" }) }),
        ("unknown jobs", { n in file(jobs: jobs(n) { "asset: a.mp4, needs: [k\($0)]" }) }),
        (
            "unknown assets",
            { n in file("assets:\n" + lines(n) { "  a\($0): x.mp4\n" }, jobs: jobs(n) { "asset: b\($0)" }) }
        ),
        (
            "needs of one job",
            { n in
                file(
                    jobs: jobs(n) { _ in "asset: a.mp4" }
                        + "  z: { asset: a.mp4, needs: [\((0..<n).map { "j\($0)" }.joined(separator: ","))], tracks: [ { video: first, copy: true } ], destination: z.mp4 }\n"
                )
            }
        ),
        ("a circle of needs", { n in file(jobs: jobs(n) { "asset: a.mp4, needs: [j\(($0 + 1) % n)]" }) }),
        (
            "a chain of settings",
            { n in
                file(
                    "settings:\n" + lines(n) { "  s\($0): { use: s\($0 + 1) }\n" }
                        + "  s\(n): { codec: h264 }\n")
            }
        ),
        (
            "keys in defaults and job",
            { n in
                let keys = lines(n) { "  x-\($0): 1\n" }
                return file(
                    "defaults:\n\(keys)",
                    jobs: "  j:\n" + keys.replacing("  x", with: "    x")
                        + "    asset: a.mp4\n    tracks: [ { video: first, copy: true } ]\n    destination: o.mp4\n"
                )
            }
        ),
        ("wrong keys", { n in file(jobs: "  j:\n" + lines(n) { "    k\($0): 1\n" }) }),
        ("wrong keys in one line", { n in file(jobs: "  j: { " + lines(n) { "k\($0): 1, " } + "z: 1 }\n") }),
        (
            "anchors",
            { n in file("x-a:\n" + lines(n) { "  - &a\($0) x\n" } + "x-b:\n" + lines(n) { "  - *a\($0)\n" }) }
        ),
        (
            "a long list with an error",
            { n in file("x-a: [" + lines(n) { "\($0), " } + "x]\n", jobs: "  j: 1\n") }
        ),
    ]

    private static func work(of text: String) -> Int {
        WorkCount.measure {
            var sink = DiagnosticSink()
            let document = YAMLParser.document(Array(text.utf8), file: "t.yaml", into: &sink)
            var references = ExternalReferences()
            references.add(document?.substituted ?? [])
            let result = JobFileDecoder.decode(document?.root, path: "t.yaml", directory: "/tmp", after: sink)
            _ = TextRenderer(sources: SourceTexts("t.yaml", text)).render(result.sink)
        }
    }

    /// Tests that a file four times as large causes at most five times the work.
    @Test(arguments: kinds.indices) func workIsProportionalToTheFile(_ index: Int) {
        let kind = Self.kinds[index]
        let works = [500, 2000, 8000].map { Self.work(of: kind.text($0)) }
        // Limits may reduce the work for large files. The constant allows for fixed work in small files.
        for (small, large) in zip(works, works.dropFirst()) {
            #expect(large <= small * 5 + 100_000, "\(kind.name): \(works)")
        }
        #expect(works[0] > 0)
    }

    /// Tests that references in escaped strings are found, and references in comments aren't.
    @Test func referencesAreFoundInEscapesButNotInComments() throws {
        let text = """
            # ${env.NONE} ${index}
            a: "\\x24{env.ONE}"
            b: ["${env.TWO:-x} $${env.NOT}", &x "${env.THREE}", *x]
            """
        var sink = DiagnosticSink()
        let document = try #require(YAMLParser.document(Array(text.utf8), file: "t.yaml", into: &sink))
        var references = ExternalReferences()
        references.add(document.substituted)
        #expect(references.environment == ["ONE", "TWO", "THREE"] && !references.usesIndex)
        #expect(document.substituted.count == 3)
        references.add(["${index}"])
        #expect(references.usesIndex)
    }

    // MARK: Expansion

    private static func matrix(_ count: Int) -> String {
        "    matrix: { k: [\((1...count).map(String.init).joined(separator: ","))] }\n"
    }

    private static func list(_ count: Int, _ item: String) -> String {
        "[" + [String](repeating: item, count: count).joined(separator: ", ") + "]"
    }

    private static let encoded =
        "    tracks: [ { video: first, encode: { codec: h264 } } ]\n    destination: \"o${matrix.k}.mp4\"\n"

    private static let lists: [(name: String, body: String)] = [
        ("clips", "    composition: { sequence: \(list(1000, "a.mp4")) }\n" + encoded),
        (
            "clips of the matrix",
            "    composition: { sequence: \(list(500, "{ asset: a.mp4, range: { end: \"${matrix.k}s\" } }")) }\n"
                + encoded
        ),
        (
            "layers",
            "    composition: { sequence: [a.mp4], layers: \(list(1000, "{ asset: b.png, at: 0s }")) }\n"
                + encoded
        ),
        (
            "points",
            "    composition: { sequence: [ { asset: a.mp4, volume: \(list(1000, "{ at: 1s, value: 1 }")) } ] }\n"
                + encoded
        ),
        (
            "stills",
            "    asset: a.mp4\n    images: { at: \(list(2000, "1s")) }\n    destination: \"o${matrix.k}-${image.number}.png\"\n"
        ),
        (
            "outputs",
            "    asset: a.mp4\n    chapters: \(list(100, "{ start: 0, title: x }"))\n    destination: \"o${matrix.k}-${output}.mp4\"\n    outputs: {"
                + (0..<32).map { "o\($0): { tracks: [ { video: first, copy: true } ] }" }.joined(
                    separator: ", ") + "}\n"
        ),
        ("ranges", "    asset: a.mp4\n    range: \(list(1000, "{ start: 0, end: 1 }"))\n" + encoded),
    ]

    /// Tests a matrix combined with each list of the language: products that are too large are rejected before
    /// expanding.
    @Test(arguments: lists.indices) func matrixTimesListIsBounded(_ index: Int) {
        let (name, body) = Self.lists[index]
        let text = Self.file(jobs: "  j:\n" + Self.matrix(10_000) + body)
        var sink = DiagnosticSink()
        let root = YAMLParser.parse(Array(text.utf8), file: "t.yaml", into: &sink)
        let work = WorkCount.measure {
            sink = JobFileDecoder.decode(root, path: "t.yaml", directory: "/tmp", after: sink).sink
        }
        #expect(
            sink.diagnostics.contains { $0.rule == .fanOut }, "\(name): \(sink.diagnostics.map(\.message))")
        #expect(work < 5_000_000, "\(name): \(work)")
        // With a small matrix the same job is valid.
        let few = Self.file(jobs: "  j:\n" + Self.matrix(2) + body)
        var fewSink = DiagnosticSink()
        let fewRoot = YAMLParser.parse(Array(few.utf8), file: "t.yaml", into: &fewSink)
        let result = JobFileDecoder.decode(fewRoot, path: "t.yaml", directory: "/tmp", after: fewSink)
        #expect(!result.sink.diagnostics.contains { $0.rule == .fanOut }, "\(name)")
    }

    /// Tests defaults multiplied by jobs, and settings multiplied by tracks.
    @Test func defaultsAndSettingsTimesJobsAreBounded() {
        let defaults = "defaults: { composition: { sequence: \(Self.list(1000, "a.mp4")) } }\n"
        let settings = "settings: { s: { codec: h264, \(Self.lines(1000) { "x-\($0): 1, " })crf: 20 } }\n"
        for text in [
            Self.file(defaults, jobs: Self.lines(10_000) { "  j\($0): {}\n" }),
            Self.file(
                settings,
                jobs: Self.lines(5000) {
                    "  j\($0): { asset: a.mp4, tracks: [ { video: first, encode: s } ], destination: o\($0).mp4 }\n"
                }),
        ] {
            var sink = DiagnosticSink()
            let root = YAMLParser.parse(Array(text.utf8), file: "t.yaml", into: &sink)
            let work = WorkCount.measure {
                sink = JobFileDecoder.decode(root, path: "t.yaml", directory: "/tmp", after: sink).sink
            }
            #expect(sink.diagnostics.contains { $0.rule == .fanOut })
            #expect(work < 100_000_000, "\(work)")
        }
    }

    /// Tests that a composition that doesn't depend on the matrix is decoded once for all instances.
    @Test func compositionsWithoutMatrixValuesAreDecodedOnce() {
        func work(_ clip: String) -> Int {
            let text = Self.file(
                jobs: "  j:\n" + Self.matrix(200) + "    composition: { sequence: \(Self.list(50, clip)) }\n"
                    + Self.encoded)
            return Self.work(of: text)
        }
        let shared = work("{ asset: a.mp4, range: { end: \"1s\" } }")
        let own = work("{ asset: a.mp4, range: { end: \"${matrix.k}s\" } }")
        #expect(own > shared * 4, "\(own), \(shared)")
    }

    /// Tests that the largest accepted expansion, and larger ones that are rejected, are loaded within limited memory.
    @Test func loadingUsesLimitedMemory() throws {
        let scratch = try Scratch()
        for (count, status) in [(600, 0), (1000, 3), (10_000, 3)] {
            try scratch.write(
                Self.file(
                    jobs: "  j:\n" + Self.matrix(count)
                        + "    composition: { sequence: \(Self.list(1000, "a.mp4")) }\n" + Self.encoded),
                to: "jobs.yaml")
            // `ulimit -d` limits data and heap; a limit on the address space isn't suitable, because the program maps
            // more.
            let result = try program(
                "/bin/bash",
                ["-c", "ulimit -d 1000000; exec \"$0\" validate --untrusted jobs.yaml", TestPaths.tandem],
                directory: scratch.path)
            #expect(result.status == status, "\(count): \(result.status) \(result.errors.prefix(500))")
        }
    }

    /// Tests that a signal ends loading immediately, here of a file with 100,000 errors.
    @Test(arguments: ["plan", "run", "validate"]) func signalsEndLoading(_ command: String) throws {
        let scratch = try Scratch()
        try scratch.write(
            Self.file(jobs: Self.jobs(100_000) { "asset: a.mp4, needs: [k\($0)]" }), to: "jobs.yaml")
        let script =
            "\"$0\" \(command) jobs.yaml >/dev/null 2>&1 & pid=$!; sleep 0.7; kill -TERM $pid; wait $pid; echo $?"
        let result = try program(
            "timeout", ["120", "/bin/bash", "-c", script, TestPaths.tandem], directory: scratch.path)
        #expect(result.text == "143\n", "\(result.text) \(result.errors)")
    }
}
