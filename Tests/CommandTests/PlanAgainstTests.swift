import Foundation
import TestSupport
import Testing

/// `tandem plan --against`, and plans as Markdown.
@Suite struct PlanAgainstTests {
    private static let video = "codec: h264, preset: ultrafast, crf: 30"

    @Test func differencesFromASavedPlanArePrinted() throws {
        let scratch = try Scratch()
        try write(job("web", video: Self.video) + job("old"), in: scratch)
        #expect(try tandem("plan", "--out", "saved.json", "jobs.yaml", in: scratch).status == 0)
        try scratch.write(
            tandem("plan", "--format", "json", "jobs.yaml", in: scratch).text, to: "printed.json")
        try write(job("web", video: Self.video.replacing("30", with: "40")) + job("new"), in: scratch)
        for plan in ["saved.json", "printed.json"] {
            let text = try tandem("plan", "--against", plan, "jobs.yaml", in: scratch)
            #expect(text.status == 0 && text.errors == "", "\(text.errors)")
            let lines = text.text.split(separator: "\n")
            #expect(lines.first == "new of jobs.yaml: added")
            #expect(lines[1].hasPrefix("  test signal testsrc → out/new.mp4, 0:01"))
            #expect(lines.contains("  track 0 crf: 30 → 40"))
            #expect(lines.contains("1 added, 1 changed, 1 removed"))
            let markdown = try tandem(
                "plan", "--against", plan, "--format", "markdown", "jobs.yaml", in: scratch)
            #expect(markdown.text.hasPrefix("### Tandem plan: 1 added, 1 changed, 1 removed\n"))
            #expect(markdown.text.contains("| <code>old</code> |") && markdown.text.contains("<code>out/old"))
        }
        let none = try tandem("plan", "--out", "same.json", "jobs.yaml", in: scratch)
        #expect(none.status == 0)
        #expect(
            try tandem("plan", "--against", "same.json", "jobs.yaml", in: scratch).text == "2 unchanged\n")
        #expect(!FileManager.default.fileExists(atPath: scratch.file("out")))
    }

    @Test func plansArePrintedAsMarkdown() throws {
        let scratch = try Scratch()
        try write(job("web"), in: scratch)
        let result = try tandem("plan", "--format", "markdown", "jobs.yaml", in: scratch)
        #expect(result.status == 0 && result.text.hasPrefix("### Tandem plan: 1 job, 1 output\n"))
        #expect(result.text.contains("\n| output | state | source | destination | expected |\n"))
        #expect(result.text.contains("| <code>web</code> | run | "))
        // Diagnostics remain text on standard error.
        try write(job("web", asset: "./none.mp4"), in: scratch)
        let failed = try tandem("plan", "--format", "markdown", "jobs.yaml", in: scratch)
        #expect(failed.status == 3 && failed.errors.contains("error["))
        #expect(failed.text.contains("#### Rejected"))
    }

    @Test func otherFilesAndFormatsAreRejected() throws {
        let scratch = try Scratch()
        try write(job("web"), in: scratch)
        try scratch.write("{}", to: "broken.json")
        for plan in ["broken.json", "missing.json", "."] {
            let result = try tandem("plan", "--against", plan, "jobs.yaml", in: scratch)
            #expect(result.status == 3 && result.errors.hasPrefix("error: ") && result.text == "")
        }
        for format in ["json", "sarif", "github"] {
            let result = try tandem(
                "plan", "--against", "x.json", "--format", format, "jobs.yaml", in: scratch)
            #expect(result.status == 64)
        }
        #expect(try tandem("validate", "--format", "markdown", "jobs.yaml", in: scratch).status == 64)
    }
}

/// `tandem help`, for commands and topics.
@Suite struct HelpCommandTests {
    @Test func commandsAndTopicsHaveHelp() throws {
        let scratch = try Scratch()
        let overview = try tandem("help", in: scratch)
        #expect(overview.status == 0 && overview.text.contains("\nTOPICS:\n"))
        #expect(try tandem("help", "run", in: scratch).text.contains("USAGE: tandem run"))
        let times = try tandem("help", "times", in: scratch)
        #expect(times.status == 0 && times.errors == "" && times.text.hasPrefix("Times\n"))
        let unknown = try tandem("help", "tims", in: scratch)
        #expect(unknown.status == 64 && unknown.text == "")
        #expect(unknown.errors == "error: unknown command or topic `tims`; did you mean `times`?\n")
    }

    /// A topic with the name of a command would have no help.
    @Test func topicsArentCommands() throws {
        let scratch = try Scratch()
        for command in [
            "validate", "plan", "run", "probe", "schema", "codecs", "presets", "init", "explain", "history",
            "clean",
            "collect", "doctor",
        ] {
            #expect(
                try tandem("help", command, in: scratch).text.contains("USAGE: tandem \(command)"),
                "\(command)")
        }
    }

    @Test func misspelledWordsHaveASuggestion() throws {
        let scratch = try Scratch()
        for (words, suggestion) in [
            (["rnu", "jobs.yaml"], "`run`"), (["run", "--fail-fsat", "jobs.yaml"], "'--fail-fast'"),
        ] {
            let result = try program(TestPaths.tandem, words, directory: scratch.path)
            #expect(result.status == 64 && result.errors.lowercased().contains("did you mean \(suggestion)?"))
        }
    }
}
