import Foundation
import TestSupport
import Testing

/// What a careless or hostile user does to a batch: names, places and folders that nobody foresaw.
@Suite struct CarelessRunTests {
    /// What a run writes for others is never written over what it reads or makes, and never twice.
    @Test func reportsSpareWhatMatters() throws {
        let scratch = try folderWithSource()
        try write(job("one", asset: "./a.mp4"), in: scratch)
        try FileManager.default.createSymbolicLink(
            atPath: scratch.file("link.xml"), withDestinationPath: "a.mp4")
        let before = try Data(contentsOf: URL(filePath: scratch.file("a.mp4")))
        for (arguments, reason) in [
            (["--junit", "a.mp4"], "a source"), (["--events", "jobs.yaml"], "a job file"),
            (["--junit", "link.xml"], "a source"), (["--junit", "out/one.mp4"], "the destination of a job"),
            (["--report", "r.json", "--junit", "./r.json"], "given twice"),
            (["--report", "none/r.json"], "can't be written"),
        ] {
            let run = try program(
                Places.tandem, ["run"] + arguments + ["jobs.yaml"], directory: scratch.path)
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

    /// A job of which some run can't be is refused by its own name, and what needs it does not run.
    @Test func refusedRunsBearTheirJobsName() throws {
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
        // A name that no job has is a mistake of the call: nothing is started.
        let typo = try tandem("run", "--only", "g", "--only", "gg", "jobs.yaml", in: scratch)
        #expect(typo.status == 3 && typo.errors.contains("unknown job `gg`"), "\(typo.errors)")
        #expect(!typo.errors.contains("started"))
        // One of which there is no run is there.
        let none = try tandem("run", "--only", "h", "jobs.yaml", in: scratch)
        #expect(none.errors.contains("matches no file") && !none.errors.contains("unknown job"))
    }

    /// What a folder has that can't be looked into is not missing without a word, nor are names that are no text.
    @Test func patternsMissNothing() throws {
        let scratch = try folderWithSource()
        try write(job("f", asset: "{ path: \"in/*.mp4\" }", to: "\"out/${asset.stem}.mp4\""), in: scratch)
        let script = """
            mkdir in && cp a.mp4 "$(printf 'in/bad\\377.mp4')" && "$0" plan jobs.yaml
            """
        let bad = try program("/bin/bash", ["-c", script, Places.tandem], directory: scratch.path)
        #expect(bad.status == 3 && bad.errors.contains("a file name that is not UTF-8"), "\(bad.errors)")
        // Root may look everywhere: the system's refusal is made.
        let closed = try program(
            "strace",
            [
                "-f", "-o", "/dev/null", "-P", scratch.file("in"), "-e", "trace=openat", "-e",
                "inject=openat:error=EACCES", Places.tandem, "plan", "jobs.yaml",
            ], directory: scratch.path)
        #expect(closed.status == 3 && closed.errors.contains("covers, can't be read"), "\(closed.errors)")
    }

    /// Commands to a terminal, or to GitHub, in the names of files are shown and not carried out.
    @Test func namesGiveNoCommands() throws {
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

    /// For programs there is one document, with what failed in it.
    @Test func oneDocumentTellsAll() throws {
        let scratch = try folderWithSource()
        try write(job("one", asset: "./a.mp4", more: "expect: { size: { max: 10B } }"), in: scratch)
        let run = try tandem("run", "--format", "json", "jobs.yaml", in: scratch)
        let document = try JSONSerialization.jsonObject(with: run.output) as? [String: Any]
        #expect(run.status == 5 && document?["errors"] as? Int == 1, "\(run.text)")
        let sarif = try tandem("run", "--format", "sarif", "jobs.yaml", in: scratch)
        #expect(sarif.text.contains("expectation-failed"), "\(sarif.text)")
    }

    /// What a job published before its destination was changed is not forgotten by the run that made the new one.
    @Test func cleanKnowsWhereOutputsWere() throws {
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

    /// Two job files ask for one output, and one of them no longer does: `clean` of that one leaves it to the other.
    @Test(arguments: [[String](), ["--state", "kept"]]) func cleanLeavesWhatAnotherFileAsksFor(
        state: [String]
    ) throws {
        let scratch = try folderWithSource()
        let rule = "tracks: [ { audio: first, encode: { codec: flac } } ]"
        func spec(_ jobs: [String]) -> String {
            "version: 1\njobs:\n"
                + jobs.map { "  \($0): { asset: ./a.mp4, \(rule), destination: \($0).flac }\n" }.joined()
        }
        func run(_ arguments: [String]) throws -> ProgramResult {
            try program(Places.tandem, arguments + state, directory: scratch.path)
        }
        try scratch.write(spec(["x", "y"]), to: "one.yaml")
        try scratch.write(spec(["x"]), to: "two.yaml")
        #expect(try run(["run", "one.yaml"]).status == 0)
        #expect(try run(["run", "two.yaml"]).status == 0)
        try scratch.write(spec(["y"]), to: "one.yaml")
        for file in ["one.yaml", "two.yaml"] { #expect(try run(["clean", "--yes", file]).status == 0) }
        #expect(scratch.contents.filter { $0.hasSuffix(".flac") } == ["x.flac", "y.flac"])
        // Once nobody asks for it, it goes.
        try scratch.write(spec(["z"]), to: "two.yaml")
        #expect(try run(["clean", "--yes", "two.yaml"]).status == 0)
        #expect(scratch.contents.filter { $0.hasSuffix(".flac") } == ["y.flac"])
    }

    /// Another name for a job, or a default that is said, changes nothing that its output is made of.
    @Test func whatChangesNothingRunsNothing() throws {
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

    /// Where bytes count, a tree that was copied or moved is up to date: in its new place, and for other names.
    @Test func copiedTreesStayUpToDate() throws {
        let scratch = try folderWithSource()
        try write(job("one", asset: "./a.mp4"), in: scratch)
        let script = """
            self=$0
            told() { "$self" run -v --fingerprint content "$1/jobs.yaml" 2>&1 | grep -oE 'same one|done one'; }
            mkdir A && mv a.mp4 jobs.yaml A && told A && cp -a A B && told B && rm -rf A && mv B A && told A
            "$0" history A/jobs.yaml | grep -c '^run'
            cp A/jobs.yaml A/other.yaml && "$0" history A/other.yaml
            """
        let run = try program("/bin/bash", ["-c", script, Places.tandem], directory: scratch.path)
        #expect(
            run.text == "done one\nsame one\nsame one\n3\nno runs recorded\n", "\(run.text) \(run.errors)")
    }

    /// An included file of an untrusted job file lies beneath the root as well.
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

    /// A closed terminal is heard: reports are written on the way out. Who began with nohup goes on.
    @Test func aHangupEndsARunInOrder() throws {
        let scratch = try Scratch()
        try write(job("one", asset: testSignal.replacingOccurrences(of: "1s", with: "300s")), in: scratch)
        let script = """
            "$0" run --report r.json jobs.yaml 2>log & pid=$!
            until grep -q 'one: started' log; do kill -0 $pid || exit 99; done
            "$0" history jobs.yaml | grep -o running
            kill -HUP $pid; wait $pid; echo $?
            """
        let run = try program("/bin/bash", ["-c", script, Places.tandem], directory: scratch.path)
        #expect(run.text == "running\n143\n", "\(run.text) \(run.errors)")
        let report = try String(contentsOfFile: scratch.file("r.json"), encoding: .utf8)
        #expect(report.contains("\"status\" : \"interrupted\""))
        #expect(try tandem("history", "none.yaml", in: scratch).errors.contains("job file not found"))
    }
}
