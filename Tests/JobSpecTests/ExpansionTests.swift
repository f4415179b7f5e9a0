import Diagnostics
import Foundation
import LibAV
import Media
import TestSupport
import Testing

@testable import JobSpec

@Suite struct ExpansionTests {
    private let tail = "tracks: [ { video: first, copy: true } ]"

    private func jobs(_ yaml: String, in directory: String = "/", set: [String: String] = [:]) throws
        -> [JobSpec]
    {
        let (file, sink) = decode(yaml, directory: directory, variables: set)
        if sink.hasErrors { throw ProgramError(message: rendered(sink, yaml)) }
        return try #require(file).jobs
    }

    @Test func everyVariableHasItsValue() throws {
        let found = try jobs(
            """
            version: 1
            vars: { out: "o/${kind}", kind: web, empty: "" }
            assets: { talk: media/dir.x/my.talk.mov }
            jobs:
              a:
                asset: talk
                matrix: { h: [720, 480] }
                \(tail)
                container: mkv
                metadata:
                  set:
                    all: "${job} ${index} ${asset.id} ${asset.stem} ${asset.ext} ${asset.dir} ${matrix.h}"
                    env: "${env.HOME_TOWN}-${env.NO_SUCH:-none}-${env.NO_SUCH:-}"
                    literal: "$${a} $5 ${empty}."
                destination: "${out}/${asset.stem}-${matrix.h}.mp4"
            """)
        #expect(found.map(\.id.value) == ["a[h=720]", "a[h=480]"])
        #expect(
            found.map(\.outputs[0].destination?.path.value) == [
                "o/web/my.talk-720.mp4", "o/web/my.talk-480.mp4",
            ])
        #expect(
            found[1].outputs[0].media?.metadata.set.map(\.value) == [
                "a 2 talk my.talk mov media/dir.x 480", "Ulm-none-", "${a} $5 .",
            ])
    }

    @Test func commandLineVariablesOverrideTheFile() throws {
        let found = try jobs(
            "version: 1\nvars: { n: a }\njobs: { j: { asset: a/b.mp4, \(tail), destination: \"${n}${m}.mp4\" } }",
            set: ["n": "x", "m": "y"])
        #expect(found[0].outputs[0].destination?.path.value == "xy.mp4")
    }

    /// The precedence, from lowest to highest, is: included files in order, the file, the job.
    @Test func includesAndDefaultsAreMergedByPrecedence() throws {
        let house = """
            version: 1
            include: deeper.yaml
            vars: { a: house, b: house }
            assets: { clip: clip.mp4 }
            defaults: { destination: { if_exists: replace, make_directories: false }, container: mp4 }
            """
        let deeper =
            "version: 1\nvars: { a: deeper, c: deeper }\ndefaults: { container: mov, leftover: warn }\n"
        let scratch = try Scratch()
        try FileManager.default.createDirectory(
            atPath: scratch.file("lib"), withIntermediateDirectories: true)
        try scratch.write(house, to: "lib/house.yaml")
        try scratch.write(deeper, to: "lib/deeper.yaml")
        let found = try jobs(
            """
            version: 1
            include: [lib/house.yaml]
            vars: { b: own }
            jobs:
              one: { asset: clip, \(tail), destination: "${a}-${b}-${c}.x" }
              two: { asset: clip, \(tail), destination: { path: y.mp4, if_exists: skip } }
            """, in: scratch.path)
        #expect(found[0].outputs[0].destination?.path.value == "house-own-deeper.x")
        #expect(
            found[0].outputs[0].destination?.ifExists == .replace
                && found[0].outputs[0].destination?.makesDirectories == false)
        #expect(
            found[0].outputs[0].container?.value.name == "mp4" && found[0].outputs[0].leftover?.value == .warn
        )
        #expect(
            found[1].outputs[0].destination?.ifExists == .skip
                && found[1].outputs[0].destination?.makesDirectories == false)
    }

    /// Paths are relative to the file that contains them, even if they are used in another file.
    @Test func pathsAreRelativeToTheirFile() throws {
        let scratch = try Scratch()
        try FileManager.default.createDirectory(
            atPath: scratch.file("lib"), withIntermediateDirectories: true)
        try scratch.write("version: 1\nassets: { clip: clip.mp4 }\n", to: "lib/house.yaml")
        let yaml =
            "version: 1\ninclude: lib/house.yaml\njobs: { one: { asset: clip, \(tail), destination: out.mp4 } }"
        let (file, sink) = decode(yaml, directory: scratch.path)
        #expect(!sink.hasErrors, "\(rendered(sink, yaml))")
        let job = try #require(file?.jobs.first)
        guard case .file(let path) = job.asset.source else { throw ProgramError(message: "no file") }
        let destination = try #require(job.outputs[0].destination?.path)
        #expect(file?.absolutePath(destination) == scratch.file("out.mp4"))
        #expect(file?.absolutePath(path) == scratch.file("lib/clip.mp4"))
    }

    /// A track's rate control overrides that of its settings; settings may be based on others.
    @Test func settingsAreOverridden() throws {
        let found = try jobs(
            """
            version: 1
            settings:
              base: { codec: h264, crf: 20, preset: fast }
              small: { use: base, size: x360 }
            jobs:
              one:
                asset: a/b.mp4
                tracks: [ { video: first, encode: { use: small, bitrate: 2M } }, { video: 1, encode: base } ]
                destination: c.mp4
            """)
        guard case .encodeVideo(let first) = found[0].outputs[0].tracks[0].action,
            case .encodeVideo(let second) = found[0].outputs[0].tracks[1].action
        else { throw ProgramError(message: "no encodings") }
        #expect(first.rateControl?.value == .bitRate(2_000_000) && first.size?.value.height == 360)
        #expect(first.preset?.value == "fast")
        #expect(second.rateControl?.value == .crf(20_000))
        #expect(first.preset?.range.context?.contains(.settings) == true)
    }

    /// A job that reads an expanded job is expanded for each of its instances.
    @Test func readersAreExpandedForEachInstance() throws {
        let found = try jobs(
            """
            version: 1
            jobs:
              b:
                asset: { job: a }
                matrix: { q: [1, 2] }
                \(tail)
                destination: "${asset.stem}-${matrix.q}.mp4"
              a: { asset: x/y.mp4, matrix: { h: [3, 4] }, \(tail), destination: "y${matrix.h}.mp4" }
            """)
        #expect(
            found.map(\.id.value) == [
                "b[h=3,q=1]", "b[h=4,q=1]", "b[h=3,q=2]", "b[h=4,q=2]", "a[h=3]", "a[h=4]",
            ])
        #expect(found[1].outputs[0].destination?.path.value == "y4-1.mp4")
    }

    /// Patterns, and the jobs that depend on them, are expanded in a separate step.
    @Test func patternsAreExpandedSeparately() throws {
        let yaml = """
            version: 1
            jobs:
              a: { asset: "m/*/x*.mp4", \(tail), destination: "o/${asset.stem}.${asset.ext}" }
              b: { asset: { job: a }, \(tail), destination: "p/${asset.stem}.mkv" }
            """
        let (file, sink) = decode(yaml)
        #expect(!sink.hasErrors, "\(rendered(sink, yaml))")
        #expect(file?.jobs.map(\.isTemplate) == [true, true])
        var expansion = DiagnosticSink()
        let unexpanded = try #require(file)
        let expanded = unexpanded.expanded(into: &expansion) { patterns, _ in
            let written = patterns.entries.map(\.written)
            #expect(written.map(\.value) == ["m/*/x*.mp4"])
            #expect(written.map(unexpanded.absolutePath) == ["//m/*/x*.mp4"])
            return ["m/1/x1.mp4", "m/2/x2.mp4"].map { FilePatterns.File(path: $0, entry: 0) }
        }
        #expect(
            expanded.jobs.map(\.id.value) == ["a[1/x1.mp4]", "a[2/x2.mp4]", "b[1/x1.mp4]", "b[2/x2.mp4]"])
        #expect(
            expanded.jobs.map(\.outputs[0].destination?.path.value) == [
                "o/x1.mp4", "o/x2.mp4", "p/x1.mkv", "p/x2.mkv",
            ])
        #expect(!expansion.hasErrors)
    }

    /// An error in `defaults` is reported once; the diagnostic names the first job and counts the others.
    @Test func errorsInDefaultsAreReportedOnce() throws {
        let yaml =
            "version: 1\ndefaults: { destination: { if_exists: no } }\njobs:\n"
            + (0..<50).map { "  j\($0): { asset: a/b.mp4, \(tail), destination: o\($0).mp4 }\n" }.joined()
        let (_, sink) = decode(yaml)
        #expect(sink.diagnostics.count == 1)
        #expect(sink.diagnostics.first?.repetitions == 49)
        #expect(sink.diagnostics.first?.notes.first?.message == "added by `defaults` to the job `j0`")
    }

    @Test(arguments: [
        ("a.mp4", "*.mp4", true), ("a.mp4", "?.mp4", true), ("ab.mp4", "?.mp4", false),
        (".a.mp4", "*.mp4", false), (".a", ".*", true), ("a5", "a[0-9]", true), ("ax", "a[!0-9]", true),
        ("a]", "a[]]", true), ("ab", "a[!]a]", true), ("a]", "a[!]a]", false), ("aaa", "a*a*a", true),
        ("aab", "a*a", false), ("ä.x", "?.x", true),
        ("[x]", "[[]x]", true), ("a?b", "a[?]b", true),
        ("", "*", true),
    ])
    func patternsMatchNames(_ name: String, _ pattern: String, _ matches: Bool) {
        #expect(GlobPattern.matches(name, pattern) == matches)
    }

    /// Random patterns match the same names as in the C library. Malformed patterns are rejected before matching.
    @Test func randomPatternsMatchAsInTheShell() {
        var random = SeededGenerator(7)
        func text(_ alphabet: String, _ length: Int) -> String {
            String((0..<length).map { _ in alphabet.randomElement(using: &random) ?? "a" })
        }
        var compared = 0
        for _ in 0..<20_000 {
            let pattern = text("ab.]]-!^[[*?", Int.random(in: 1...7, using: &random))
            // In the C library, `[.` within a set begins a collating symbol.
            guard GlobPattern.problem(pattern) == nil, !pattern.contains("[.") else { continue }
            let name = text("ab.]-!^[", Int.random(in: 1...4, using: &random))
            let expected = fnmatch(pattern, name, FNM_PERIOD | FNM_NOESCAPE) == 0
            #expect(GlobPattern.matches(name, pattern) == expected, "\(pattern) \(name)")
            compared += 1
        }
        #expect(compared > 5000)
    }

    /// A pattern that takes exponential time in backtracking implementations is matched quickly.
    @Test func patternsTakeNoExponentialTime() {
        let name = String(repeating: "a", count: 200)
        #expect(!GlobPattern.matches(name, String(repeating: "a*", count: 60) + "b"))
    }
}
