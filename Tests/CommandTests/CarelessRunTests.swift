import Foundation
import TestSupport
import Testing

/// Tests unusual names, paths and options, used by mistake or by an attacker.
@Suite struct CarelessRunTests {
    /// Reports never overwrite sources, job files or outputs, and two reports can't have the same path.
    @Test func reportsDontOverwriteInputsOrOutputs() throws {
        let scratch = try folderWithSource()
        try write(job("one", asset: "./a.mp4"), in: scratch)
        try FileManager.default.createSymbolicLink(
            atPath: scratch.file("link.xml"), withDestinationPath: "a.mp4")
        let before = try Data(contentsOf: URL(filePath: scratch.file("a.mp4")))
        for (arguments, reason) in [
            (["--junit", "a.mp4"], "a source"), (["--events", "jobs.yaml"], "a job file"),
            (["--junit", "link.xml"], "a source"), (["--junit", "out/one.mp4"], "the destination of a job"),
            (["--report", "r.json", "--junit", "./r.json"], "destination of two reports"),
            (["--report", "none/r.json"], "can't be written"),
        ] {
            let run = try program(
                TestPaths.tandem, ["run"] + arguments + ["jobs.yaml"], directory: scratch.path)
            #expect(run.status == 4 && run.errors.contains(reason), "\(arguments): \(run.errors)")
        }
        #expect(try Data(contentsOf: URL(filePath: scratch.file("a.mp4"))) == before)
        #expect(
            scratch.contents == ["a.mp4", "jobs.yaml", "link.xml", "out"]
                || !scratch.contents.contains("out/one.mp4"))
        let text = job("one", asset: "./a.mp4", to: "{ path: jobs.yaml, if_exists: replace }")
        try write(text.replacingOccurrences(of: "tracks", with: "container: mp4, tracks"), in: scratch)
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 3 && run.errors.contains("the destination is a job file"), "\(run.errors)")
    }

    /// An instance that can't be planned fails its job, with the job's name in the report, and jobs that need it don't
    /// run.
    @Test func instancesThatCantBePlannedFailTheirJob() throws {
        let scratch = try folderWithSource()
        let long = String(repeating: "x", count: 251) + ".mp4"
        try FileManager.default.createDirectory(
            atPath: scratch.file("in"), withIntermediateDirectories: true)
        for name in ["a.mp4", long] {
            try FileManager.default.copyItem(
                atPath: scratch.file("a.mp4"), toPath: scratch.file("in/\(name)"))
        }
        try write(
            job("f", asset: "{ path: \"in/*.mp4\" }", to: "\"out/long-${asset.stem}.mp4\"")
                + job("g", asset: "./a.mp4", more: "needs: f")
                + job("h", asset: "{ path: \"none/*.mp4\" }", to: "\"out/h-${asset.stem}.mp4\""), in: scratch)
        let run = try tandem("run", "--report", "r.json", "jobs.yaml", in: scratch)
        #expect(run.status != 0 && run.errors.contains("--only f --only h"), "\(run.errors)")
        #expect(run.errors.contains("the job `f`, which it needs, did not succeed"), "\(run.errors)")
        #expect(!scratch.contents.contains("out/g.mp4") && scratch.contents.contains("out/long-a.mp4"))
        let report = try String(contentsOfFile: scratch.file("r.json"), encoding: .utf8)
        #expect(!report.contains("pattern["))
        // An unknown job in `--only` is a usage error, and no job starts.
        let typo = try tandem("run", "--only", "g", "--only", "gg", "jobs.yaml", in: scratch)
        #expect(typo.status == 3 && typo.errors.contains("unknown job `gg`"), "\(typo.errors)")
        #expect(!typo.errors.contains("started"))
        // A job whose pattern matches no file isn't unknown.
        let none = try tandem("run", "--only", "h", "jobs.yaml", in: scratch)
        #expect(none.errors.contains("matches no file") && !none.errors.contains("unknown job"))
    }

    /// Folders that can't be read and file names that aren't UTF-8 are errors, not silently skipped.
    @Test func patternsReportUnreadableFoldersAndNames() throws {
        let scratch = try folderWithSource()
        try write(job("f", asset: "{ path: \"in/*.mp4\" }", to: "\"out/${asset.stem}.mp4\""), in: scratch)
        let script = """
            mkdir in && cp a.mp4 "$(printf 'in/bad\\377.mp4')" && "$0" plan jobs.yaml
            """
        let bad = try program("/bin/bash", ["-c", script, TestPaths.tandem], directory: scratch.path)
        #expect(bad.status == 3 && bad.errors.contains("a file name that is not UTF-8"), "\(bad.errors)")
        // Root can read every folder, so strace injects EACCES.
        let closed = try program(
            "strace",
            [
                "-f", "-o", "/dev/null", "-P", scratch.file("in"), "-e", "trace=openat", "-e",
                "inject=openat:error=EACCES", TestPaths.tandem, "plan", "jobs.yaml",
            ], directory: scratch.path)
        #expect(closed.status == 3 && closed.errors.contains("covers, can't be read"), "\(closed.errors)")
    }

    /// Escape sequences and workflow commands in file names are escaped in the terminal and in GitHub's log.
    @Test func commandsInFileNamesAreEscaped() throws {
        let scratch = try folderWithSource()
        try FileManager.default.copyItem(
            atPath: scratch.file("a.mp4"), toPath: scratch.file("b\n::warning::x\u{1b}[31m.mp4"))
        try write(job("f", asset: "{ path: \"b*.mp4\" }", to: "out/b.mp4"), in: scratch)
        let run = try tandem("run", "jobs.yaml", in: scratch, environment: ["GITHUB_ACTIONS": "true"])
        #expect(run.status == 0, "\(run.errors)")
        for text in [run.text, run.errors] {
            #expect(!text.contains("\u{1b}") && !text.contains("\n::"), "\(text)")
        }
    }

    /// `--format json` and `sarif` print a single document that includes the failures.
    @Test func runPrintsOneDocumentWithItsFailures() throws {
        let scratch = try folderWithSource()
        try write(job("one", asset: "./a.mp4", more: "expect: { size: { max: 10B } }"), in: scratch)
        let run = try tandem("run", "--format", "json", "jobs.yaml", in: scratch)
        let document = try JSONSerialization.jsonObject(with: run.output) as? [String: Any]
        #expect(run.status == 5 && document?["errors"] as? Int == 1, "\(run.text)")
        let sarif = try tandem("run", "--format", "sarif", "jobs.yaml", in: scratch)
        #expect(sarif.text.contains("expectation-failed"), "\(sarif.text)")
    }

    /// Outputs at earlier destinations of a job stay recorded after a run publishes to a new destination.
    @Test func cleanListsOutputsAtEarlierDestinations() throws {
        let scratch = try Scratch()
        for name in ["x", "y", "z"] {
            try write(job("f", to: "out/\(name).mp4"), in: scratch)
            try tandem("run", "jobs.yaml", in: scratch)
        }
        let listed = try tandem("clean", "jobs.yaml", in: scratch)
        #expect(
            listed.text == ["x", "y"].map { "\(scratch.file("out/\($0).mp4"))  (f of jobs.yaml)\n" }.joined())
        #expect(try tandem("clean", "--yes", "jobs.yaml", in: scratch).status == 0)
        #expect(scratch.contents.filter { $0.hasPrefix("out/") } == ["out/z.mp4"])
        #expect(try tandem("clean", "jobs.yaml", in: scratch).text == "")
        #expect(try tandem("run", "-v", "jobs.yaml", in: scratch).errors.contains("same f"))
    }

    /// An output that another job file declares is kept by `clean`, even if the job file that created it no longer
    /// declares it.
    @Test(arguments: [[String](), ["--state", "kept"]]) func cleanKeepsOutputsOfOtherJobFiles(
        state: [String]
    ) throws {
        let scratch = try folderWithSource()
        let rule = "tracks: [ { audio: first, encode: { codec: flac } } ]"
        func spec(_ jobs: [String]) -> String {
            "version: 1\njobs:\n"
                + jobs.map { "  \($0): { asset: ./a.mp4, \(rule), destination: \($0).flac }\n" }.joined()
        }
        func run(_ arguments: [String]) throws -> ProgramResult {
            try program(TestPaths.tandem, arguments + state, directory: scratch.path)
        }
        try scratch.write(spec(["x", "y"]), to: "one.yaml")
        try scratch.write(spec(["x"]), to: "two.yaml")
        #expect(try run(["run", "one.yaml"]).status == 0)
        #expect(try run(["run", "two.yaml"]).status == 0)
        try scratch.write(spec(["y"]), to: "one.yaml")
        for file in ["one.yaml", "two.yaml"] { #expect(try run(["clean", "--yes", file]).status == 0) }
        #expect(scratch.contents.filter { $0.hasSuffix(".flac") } == ["x.flac", "y.flac"])
        // When no job file declares the output, it is removed.
        try scratch.write(spec(["z"]), to: "two.yaml")
        #expect(try run(["clean", "--yes", "two.yaml"]).status == 0)
        #expect(scratch.contents.filter { $0.hasSuffix(".flac") } == ["y.flac"])
    }

    /// Renaming a job, or writing a default explicitly, doesn't change the output and causes no rerun.
    @Test func renamedJobsAndExplicitDefaultsCauseNoRerun() throws {
        let scratch = try folderWithSource()
        let audio = "tracks: [ { audio: first, encode: { codec: aac%@ } } ], leftover: drop"
        func spec(_ id: String, _ more: String) -> String {
            "version: 1\njobs:\n  \(id): { asset: ./a.mp4, \(audio.replacingOccurrences(of: "%@", with: more)), destination: o.m4a }\n"
        }
        try scratch.write(spec("one", ""), to: "jobs.yaml")
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        for text in [spec("two", ""), spec("two", ", bitrate: 96000")] {
            try scratch.write(text, to: "jobs.yaml")
            let run = try tandem("run", "-v", "jobs.yaml", in: scratch)
            #expect(run.errors.contains("same two"), "\(run.errors)")
        }
        try scratch.write(
            spec("two", "").replacingOccurrences(
                of: "leftover", with: "expect: { duration: { is: 1s, within: 1s } }, leftover"
            ),
            to: "jobs.yaml")
        let why = try tandem("explain", "jobs.yaml", "two", in: scratch).text
        #expect(
            why.contains(
                "will evaluate its expectations; the output is kept\n  added expectation: duration 1 s"),
            "\(why)")
    }

    /// With content fingerprints, outputs of a copied or moved tree are up to date at the new path.
    @Test func copiedTreesStayUpToDate() throws {
        let scratch = try folderWithSource()
        try write(job("one", asset: "./a.mp4"), in: scratch)
        let script = """
            self=$0
            outcome() { "$self" run -v --fingerprint content "$1/jobs.yaml" 2>&1 | grep -oE 'same one|done one'; }
            mkdir A && mv a.mp4 jobs.yaml A && outcome A && cp -a A B && outcome B && rm -rf A && mv B A && outcome A
            "$0" history A/jobs.yaml | grep -c '^run'
            cp A/jobs.yaml A/other.yaml && "$0" history A/other.yaml
            """
        let run = try program("/bin/bash", ["-c", script, TestPaths.tandem], directory: scratch.path)
        #expect(
            run.text == "done one\nsame one\nsame one\n3\nno runs recorded\n", "\(run.text) \(run.errors)")
    }

    /// Included files must be inside the root.
    @Test func includesStayBeneathTheRoot() throws {
        let scratch = try Scratch()
        try scratch.write("settings: { a: { codec: aac } }\nsecret: 1\n", to: "outside.yaml")
        for include in ["../outside.yaml", scratch.file("outside.yaml"), "link.yaml"] {
            try scratch.write(
                "version: 1\ninclude: [ \(include) ]\njobs:\n" + job("one", to: "o.mp4"), to: "r/jobs.yaml")
            try? FileManager.default.createSymbolicLink(
                atPath: scratch.file("r/link.yaml"), withDestinationPath: "../outside.yaml")
            let plan = try tandem("plan", "--root", "r", "r/jobs.yaml", in: scratch)
            #expect(plan.status == 3 && plan.errors.contains("outside the folder"), "\(plan.errors)")
            #expect(!plan.errors.contains("secret"))
        }
    }

    /// On SIGHUP, a run writes its reports before it exits, unless it inherits that the signal is ignored, as from `nohup`,
    /// which may have started the tests too.
    @Test func hangupEndsARunWithItsReports() throws {
        let scratch = try Scratch()
        try write(job("one", asset: endlessSignal), in: scratch)
        let script = """
            env --default-signal=HUP "$0" run --report r.json jobs.yaml 2>log & pid=$!
            until grep -q 'one: started' log; do kill -0 $pid || exit 99; done
            "$0" history jobs.yaml | grep -o running
            kill -HUP $pid; wait $pid; echo $?
            """
        let run = try program("/bin/bash", ["-c", script, TestPaths.tandem], directory: scratch.path)
        #expect(run.text == "running\n143\n", "\(run.text) \(run.errors)")
        let report = try String(contentsOfFile: scratch.file("r.json"), encoding: .utf8)
        #expect(report.contains("\"status\" : \"interrupted\""))
        #expect(try tandem("history", "none.yaml", in: scratch).errors.contains("job file not found"))
    }
}
