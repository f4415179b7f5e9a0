import Foundation
import TestSupport
import Testing

/// Tests conditions of large archives: names that differ only in normalization, unreadable files, and runs that end
/// early.
@Suite struct ArchiveTests {
    /// Tests names with `é` as one scalar and as two, which file systems distinguish and Swift's `String` doesn't.
    @Test(arguments: ["worker", "none"]) func namesThatDifferInNormalizationAreTwoFiles(_ isolation: String)
        throws
    {
        let scratch = try Scratch()
        let names = ["caf\u{e9}", "cafe\u{301}"]
        for (name, color) in zip(names, ["red", "blue"]) {
            try ffmpeg(
                "-f", "lavfi", "-i", "color=\(color):s=\(color == "red" ? "64x48" : "128x96"):d=1",
                "-metadata", "title=\(color)", scratch.file("\(name).mp4"))
        }
        let jobs = names.enumerated().map {
            "  j\($0.offset): { asset: \"\($0.element).mp4\", tracks: [ { video: first, encode: { codec: h264 } } ], destination: \"o/\($0.element).mkv\" }\n"
        }
        let pattern =
            "  all: { asset: \"*.mp4\", tracks: [ { video: first, copy: true } ], destination: \"out/${asset.stem}.mkv\" }\n"
        try write(jobs.joined() + pattern, in: scratch)
        for done in ["4 of 4 jobs done", "4 of 4 jobs done, 4 of them up to date"] {
            let run = try tandem("run", "--isolation", isolation, "jobs.yaml", in: scratch)
            #expect(run.status == 0 && run.errors.contains(done + "\n"), "\(run.errors)")
        }
        for folder in ["o", "out"] {
            for (name, color) in zip(names, ["red", "blue"]) {
                let json = try FFmpegFile(scratch.file("\(folder)/\(name).mkv")).probe([
                    "-show_entries", "format_tags=title:stream=width",
                ])
                let tags = (json["format"] as? [String: Any])?["tags"] as? [String: String]
                let width = (json["streams"] as? [[String: Any]])?.first?["width"] as? Int
                #expect(tags?["title"] == color && width == (color == "red" ? 64 : 128), "\(json)")
            }
        }
    }

    /// Tests that a match that isn't a readable media file fails with its name, and that the other matches are
    /// processed.
    @Test func unreadableMatchesFailAndTheOthersRun() throws {
        let scratch = try folderWithSource()
        let script = """
            mkdir in && cp a.mp4 in/a.mp4 && cp a.mp4 "$(printf 'in/bad\\377.mp4')"
            ln -s nowhere in/gone.mp4; mkfifo in/pipe.mp4; mkdir in/folder.mp4
            for i in 1 2; do ffmpeg -v error -f lavfi -i sine=d=1 in/audio$i.mp4; done
            """
        #expect(try program("/bin/bash", ["-c", script], directory: scratch.path).status == 0)
        try write(job("f", asset: "{ path: \"in/*.mp4\" }", to: "\"out/${asset.stem}.mp4\""), in: scratch)
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 1 && run.errors.contains("1 of 4 jobs done, 3 not"), "\(run.errors)")
        #expect(run.errors.contains("a file name that is not UTF-8"))
        for name in ["gone.mp4", "pipe.mp4"] {
            #expect(run.errors.contains("in/\(name), which is a dangling link"), "\(run.errors)")
        }
        #expect(!run.errors.contains("folder.mp4"))
        #expect(run.errors.contains("in the jobs f[audio1.mp4], f[audio2.mp4]"), "\(run.errors)")
        #expect(scratch.contents.contains("out/a.mp4"))
        let plan = try tandem("plan", "--out", "p.json", "jobs.yaml", in: scratch)
        #expect(plan.status == 3 && plan.errors.contains("no plan was written"), "\(plan.errors)")
        #expect(plan.errors.contains("in the jobs f[audio1.mp4], f[audio2.mp4]"))
    }

    @Test func destinationsInStateFoldersAreErrors() throws {
        let scratch = try folderWithSource()
        try write(job("f", asset: "{ path: a.mp4 }", to: ".tandem/out.mp4"), in: scratch)
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status != 0 && run.errors.contains("is inside a `.tandem` folder"), "\(run.errors)")
    }

    /// Tests that reports of an earlier run are replaced even if this run ends before its first job.
    @Test func reportsOfRunsThatFailValidationAreWritten() throws {
        let scratch = try folderWithSource()
        let reports = ["--junit", "j.xml", "--report", "r.html", "--report", "r.json", "--events", "e.jsonl"]
        func run(_ more: [String] = []) throws -> ProgramResult {
            try program(
                TestPaths.tandem, ["run"] + reports + more + ["jobs.yaml"], directory: scratch.path,
                environment: [
                    "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": scratch.file("s.md"),
                    "SWIFT_BACKTRACE": "enable=no",
                ])
        }
        func text(_ name: String) throws -> String {
            try String(contentsOfFile: scratch.file(name), encoding: .utf8)
        }
        try write(job("one", asset: "./a.mp4"), in: scratch)
        #expect(try run().status == 0)
        try write(job("one", asset: "./a.mp4", more: "wrong: 1"), in: scratch)
        #expect(try run().status == 3)
        for name in ["j.xml", "r.html", "r.json", "s.md"] {
            #expect(try text(name).contains("a job has no key"), "\(name)")
        }
        #expect(try text("e.jsonl").contains("\"status\":\"failed\""))
        // A file that isn't a report may be a source, and is not overwritten.
        try scratch.write("no report", to: "j.xml")
        let spared = try run()
        #expect(spared.status == 3 && spared.errors.contains("j.xml is not a report"), "\(spared.errors)")
        #expect(try text("j.xml") == "no report")
        try FileManager.default.removeItem(atPath: scratch.file("j.xml"))
        try write(job("one", asset: "./a.mp4", to: "a.mp4"), in: scratch)
        #expect(try run().status == 3)
        #expect(try text("j.xml").contains("destination-is-source"))
    }

    @Test func savedPlansDontOverwriteInputsOrOutputs() throws {
        let scratch = try folderWithSource()
        try write(job("one", asset: "./a.mp4"), in: scratch)
        let before = try Data(contentsOf: URL(filePath: scratch.file("a.mp4")))
        for name in ["a.mp4", "jobs.yaml", "out/one.mp4"] {
            let plan = try tandem("plan", "--out", name, "jobs.yaml", in: scratch)
            #expect(plan.status == 4, "\(plan.errors)")
        }
        #expect(try Data(contentsOf: URL(filePath: scratch.file("a.mp4"))) == before)
    }

    /// Tests that outputs stay up to date if the `--fingerprint` mode is changed.
    @Test func fingerprintModesCanBeSwitchedWithoutRerun() throws {
        let scratch = try folderWithSource()
        try write(job("one", asset: "./a.mp4"), in: scratch)
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        let content = ["--fingerprint", "content", "jobs.yaml"]
        func output(_ command: String, _ arguments: [String]) throws -> String {
            let result = try program(TestPaths.tandem, [command] + arguments, directory: scratch.path)
            return result.text + result.errors
        }
        #expect(try output("plan", content).contains("  up to date"))
        #expect(try output("run", content).contains("1 of them up to date"))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1e9)], ofItemAtPath: scratch.file("a.mp4"))
        #expect(try output("plan", content).contains("  up to date"))
        #expect(try output("run", content).contains("1 of them up to date"))
        #expect(try output("plan", ["jobs.yaml"]).contains("  up to date"))
        #expect(try output("run", ["jobs.yaml"]).contains("1 of them up to date"))
    }

    /// Tests that annotations contain paths relative to the repository, as GitHub requires.
    @Test func annotationsHavePathsRelativeToTheRepository() throws {
        let scratch = try folderWithSource()
        try FileManager.default.createDirectory(
            atPath: scratch.file("ci/deep"), withIntermediateDirectories: true)
        try scratch.write("version: 1\njobs:\n" + job("one", more: "wrong: 1"), to: "ci/jobs.yaml")
        for (folder, name) in [
            ("ci", "jobs.yaml"), ("ci/deep", "../jobs.yaml"), ("", scratch.file("ci/jobs.yaml")),
        ] {
            let run = try program(
                TestPaths.tandem, ["run", name], directory: scratch.file(folder),
                environment: ["GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": scratch.path])
            #expect(run.text.contains("::error file=ci/jobs.yaml,line=3,"), "\(run.text)")
        }
    }
}
