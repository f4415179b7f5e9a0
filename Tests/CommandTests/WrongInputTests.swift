import Foundation
import TestSupport
import Testing

/// An error in a job file, with its expected rule, location and exit statuses.
struct Mistake: Sendable, CustomTestStringConvertible {
    let name: String
    let yaml: String
    /// Rule id; the location is `line:column`.
    let rule: String
    let location: String
    let validate: Int32
    let plan: Int32
    let run: Int32
    var testDescription: String { name }

    static let all = [
        Mistake(
            name: "missing file", yaml: jobFile(asset: "./b.mp4"), rule: "source-unreadable",
            location: "4:12",
            validate: 0, plan: 3, run: 1),
        Mistake(
            name: "folder", yaml: jobFile(asset: "./folder"), rule: "source-unreadable", location: "4:12",
            validate: 0, plan: 3, run: 1),
        Mistake(
            name: "empty file", yaml: jobFile(asset: "./empty.mp4"), rule: "source-unreadable",
            location: "4:12",
            validate: 0, plan: 3, run: 1),
        Mistake(
            name: "no such track", yaml: jobFile(select: "4"), rule: "no-such-track", location: "7:16",
            validate: 0, plan: 3, run: 1),
        Mistake(
            name: "unknown codec", yaml: jobFile(video: "codec: h266"), rule: "unknown-codec",
            location: "8:26",
            validate: 3, plan: 3, run: 3),
        Mistake(
            name: "codec that the container can't store", yaml: jobFile(destination: "out.webm"),
            rule: "container-codec", location: "8:26", validate: 3,
            plan: 3, run: 3),
        Mistake(
            name: "option that the encoder doesn't take",
            yaml: jobFile(video: "codec: h264, options: { speed: 9 }"), rule: "encoder-option",
            location: "8:43", validate: 3, plan: 3, run: 3),
        Mistake(
            name: "range beyond the end", yaml: jobFile(range: "{ start: 5s, end: 6s }"),
            rule: "invalid-range", location: "5:21", validate: 0, plan: 3,
            run: 1),
        Mistake(
            name: "range that ends beyond", yaml: jobFile(range: "{ end: 6s }"), rule: "invalid-range",
            location: "5:19", validate: 0, plan: 3, run: 1),
        Mistake(
            name: "empty range", yaml: jobFile(range: "{ start: 0.5s, end: 0.5s }"),
            rule: "invalid-range", location: "5:32", validate: 3, plan: 3,
            run: 3),
        Mistake(
            name: "unrelated file at the destination", yaml: jobFile(destination: "theirs.mp4"),
            rule: "destination-exists", location: "9:18", validate: 0,
            plan: 3, run: 1),
        Mistake(
            name: "destination is the source", yaml: jobFile(destination: "./folder/../a.mp4"),
            rule: "destination-is-source", location: "9:18", validate: 0,
            plan: 3, run: 3),
        Mistake(
            name: "destination is the source by a link",
            yaml: jobFile(destination: "{ path: link.mp4, if_exists: replace }"),
            rule: "destination-is-source", location: "9:26", validate: 0, plan: 3, run: 3),
        Mistake(
            name: "destination is the source by a hard link",
            yaml: jobFile(destination: "{ path: hard.mp4, if_exists: replace }"),
            rule: "destination-is-source", location: "9:26", validate: 0, plan: 3, run: 3),
        Mistake(
            name: "two jobs with one destination",
            yaml: jobFile(
                more:
                    "  two: { asset: ./a.mp4, tracks: [ { video: first, encode: { codec: h264 } } ], destination: linked/../out.mp4 }"
            ),
            rule: "destination-collision", location: "10:94", validate: 0, plan: 3, run: 3),
        Mistake(
            name: "destination is the cover",
            yaml: jobFile(
                destination: "{ path: art.mp4, if_exists: replace }", more: "    metadata: { cover: art.mp4 }"
            ),
            rule: "destination-is-source", location: "9:26", validate: 0, plan: 3, run: 3),
        Mistake(
            name: "cover that is missing", yaml: jobFile(more: "    metadata: { cover: none.png }"),
            rule: "source-unreadable", location: "10:24", validate: 0, plan: 3, run: 1),
        Mistake(
            name: "cover that is a folder", yaml: jobFile(more: "    metadata: { cover: folder }"),
            rule: "source-unreadable", location: "10:24", validate: 0, plan: 3, run: 1),
        Mistake(
            name: "cover that is empty", yaml: jobFile(more: "    metadata: { cover: empty.mp4 }"),
            rule: "source-unreadable", location: "10:24", validate: 0, plan: 3, run: 1),
        Mistake(
            name: "cover that is a movie", yaml: jobFile(more: "    metadata: { cover: a.mp4 }"),
            rule: "source-unreadable", location: "10:24", validate: 0, plan: 3, run: 1),
        Mistake(
            name: "cover that is a device", yaml: jobFile(more: "    metadata: { cover: /dev/zero }"),
            rule: "source-unreadable", location: "10:24", validate: 0, plan: 3, run: 1),
        Mistake(
            name: "cover in a container that holds none",
            yaml: jobFile(destination: "out.mov", more: "    metadata: { cover: art.mp4 }"),
            rule: "container-setting", location: "10:24", validate: 3, plan: 3, run: 3),
        Mistake(
            name: "folder that is a file", yaml: jobFile(destination: "a.mp4/out.mp4"),
            rule: "destination-unwritable", location: "9:18", validate: 0,
            plan: 3, run: 1),
        Mistake(
            name: "folder that must not be created",
            yaml: jobFile(destination: "{ path: new/out.mp4, make_directories: false }"),
            rule: "destination-unwritable", location: "9:26", validate: 0, plan: 3, run: 1),
    ]
}

@Suite struct WrongInputTests {
    /// Each error is reported at its location with its exit status. No file is changed or left.
    @Test(arguments: Mistake.all) func mistakesAreLocated(_ mistake: Mistake) throws {
        let scratch = try folderWithSource()
        try FileManager.default.createDirectory(
            atPath: scratch.file("folder"), withIntermediateDirectories: true)
        try FileManager.default.createDirectory(
            atPath: scratch.file("linked"), withIntermediateDirectories: true)
        try scratch.write("", to: "empty.mp4")
        try scratch.write("not tandem's", to: "theirs.mp4")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc=size=32x32:rate=1", "-frames:v", "1", "-f", "image2",
            "-c:v", "png", scratch.file("art.mp4"))
        try FileManager.default.createSymbolicLink(
            atPath: scratch.file("link.mp4"), withDestinationPath: "a.mp4")
        try FileManager.default.linkItem(atPath: scratch.file("a.mp4"), toPath: scratch.file("hard.mp4"))
        try scratch.write(mistake.yaml, to: "jobs.yaml")
        let (before, source) = (scratch.contents, FileManager.default.contents(atPath: scratch.file("a.mp4")))
        for (command, status) in [
            ("validate", mistake.validate), ("plan", mistake.plan), ("run", mistake.run),
        ] {
            let result = try tandem(command, "jobs.yaml", in: scratch)
            #expect(result.status == status, "\(command): \(result.errors)")
            if status != 0 {
                let line = "jobs.yaml:\(mistake.location): error[\(mistake.rule)]: "
                #expect(result.errors.contains(line), "\(command): \(result.errors)")
                #expect(result.errors.contains("^"))
            }
            #expect(scratch.contents == before)
            #expect(FileManager.default.contents(atPath: scratch.file("a.mp4")) == source)
            #expect(
                FileManager.default.contents(atPath: scratch.file("theirs.mp4")) == Data("not tandem's".utf8))
        }
    }

    @Test func unwritableFoldersFailTheJob() throws {
        let scratch = try folderWithSource()
        try scratch.write(jobFile(destination: "/proc/tandem/out.mp4"), to: "jobs.yaml")
        let result = try tandem("run", "jobs.yaml", in: scratch)
        #expect(result.status == 1)
        #expect(result.errors.contains("jobs.yaml:9:18: error["), "\(result.errors)")
    }

    @Test func unreadableJobFilesAndWrongArgumentsAreErrors() throws {
        let scratch = try Scratch()
        #expect(try tandem("validate", "nothing.yaml", in: scratch).status == 3)
        #expect(try tandem("validate", ".", in: scratch).status == 3)
        #expect(try tandem("validate", in: scratch).status == 64)
        #expect(try tandem("run", "--jobs", "0", "x.yaml", in: scratch).status == 64)
        #expect(try tandem("frobnicate", in: scratch).status == 64)
    }

    @Test func jsonContainsTheNumberOfErrors() throws {
        let scratch = try Scratch()
        try scratch.write(jobFile(video: "codec: h266"), to: "jobs.yaml")
        let result = try tandem("validate", "--format", "json", "jobs.yaml", in: scratch)
        #expect(result.status == 3)
        let json = try JSONSerialization.jsonObject(with: result.output) as? [String: Any]
        #expect(json?["errors"] as? Int == 1)
    }

    /// `include` may contain variables from `vars`, `--set` and the environment. An included file can be validated
    /// alone, but not run. A job's name may begin with `x-`.
    @Test func includesMayContainVariables() throws {
        let scratch = try folderWithSource()
        try scratch.write(
            "version: 1\nsettings:\n  small: { codec: h264, crf: 30, preset: ultrafast }\n",
            to: "house/web.yaml")
        try scratch.write("version: 1\nsettings:\n  small: { codec: h264, crf: 99 }\n", to: "house/tv.yaml")
        try scratch.write(
            """
            version: 1
            vars: { kind: web, folder: house }
            include: "${folder}/${kind}.yaml"
            jobs:
              x-cut: { asset: ./a.mp4, tracks: [ { video: first, encode: small } ], destination: "${job}.mp4" }
            """, to: "jobs.yaml")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 0, "\(run.errors)")
        #expect(scratch.contents.contains("x-cut.mp4"))
        let other = try tandem("validate", "--set", "kind=tv", "jobs.yaml", in: scratch)
        #expect(
            other.status == 3 && other.errors.contains("house/tv.yaml:3:30: error[invalid-value]"),
            "\(other.errors)")
        let missing = try tandem("validate", "--set", "kind=none", "jobs.yaml", in: scratch)
        #expect(
            missing.status == 3 && missing.errors.contains("jobs.yaml:3:10: error[file-unreadable]"),
            "\(missing.errors)")
        #expect(try tandem("validate", "house/web.yaml", in: scratch).status == 0)
        let wrong = try tandem("validate", "house/tv.yaml", in: scratch)
        #expect(wrong.status == 3 && wrong.errors.contains("`crf` can't be `99`"), "\(wrong.errors)")
        let alone = try tandem("run", "house/web.yaml", in: scratch)
        #expect(alone.status == 3 && alone.errors.contains("the key `jobs` is missing"), "\(alone.errors)")
    }

    /// A failed job prevents only jobs that read its output.
    @Test func failedJobsDontStopTheOthers() throws {
        let scratch = try folderWithSource()
        try scratch.write(
            jobFile(
                asset: "./missing.mp4",
                more: """
                      reads: { asset: { job: one }, tracks: [ { video: first, encode: { codec: h264 } } ], destination: reads.mp4 }
                      two: { asset: ./a.mp4, tracks: [ { video: first, encode: { codec: h264 } } ], destination: two.mp4 }
                    """), to: "jobs.yaml")
        let result = try tandem("run", "jobs.yaml", in: scratch)
        #expect(result.status == 1)
        #expect(result.errors.contains("1 of 3 jobs done"), "\(result.errors)")
        #expect(scratch.contents == ["a.mp4", "jobs.yaml", "two.mp4"])
    }
}

/// Tests misspelled commands, and media files in place of job files.
@Suite struct MisspelledCommandTests {
    @Test func misspelledCommandsAndMediaFilesAreErrors() throws {
        let scratch = try Scratch()
        let command = try program(TestPaths.tandem, ["vaildate", "jobs.yaml"], directory: scratch.path)
        #expect(command.status == 64 && command.text.isEmpty)
        #expect(command.errors == "error: unknown command `vaildate`; did you mean `validate`?\n")
        try ffmpeg("-f", "lavfi", "-i", "sine=d=0.1", scratch.file("a.mp4"))
        for name in ["validate", "plan", "run"] {
            let result = try program(TestPaths.tandem, [name, "a.mp4"], directory: scratch.path)
            #expect(result.status == 3 && result.text.isEmpty, "\(result.text)")
            #expect(
                result.errors.contains("a.mp4:1:1: error[yaml-syntax]: the file is binary"),
                "\(result.errors)")
            #expect(result.errors.utf8.allSatisfy { $0 == 0x0a || $0 >= 0x20 })
        }
    }
}
