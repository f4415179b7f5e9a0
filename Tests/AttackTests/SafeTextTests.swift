import Diagnostics
import Foundation
import JobPlan
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

@testable import JobRun
@testable import PlanWork

/// Tests names, tags and messages that contain every control, separator and bidirectional character, with every
/// renderer.
@Suite struct SafeTextTests {
    /// Text with every control, separator, mark and override between letters.
    private static let hostile: String = {
        let ranges: [ClosedRange<UInt32>] = [
            1...0x1f, 0x7f...0x9f, 0x200b...0x200f, 0x2028...0x202e, 0x2060...0x2069, 0xfeff...0xfeff,
            0x61c...0x61c,
        ]
        let scalars = ranges.flatMap { $0 }.compactMap { Unicode.Scalar($0) }
        return "a\r\n::error::b\u{1b}]0;c\u{7}<script>|`*_&\"'" + scalars.map { "x\($0)" }.joined() + "\r\n"
    }()

    /// Compares `SafeText.isHidden` with Unicode's properties for all scalars.
    @Test func hiddenCharactersMatchTheUnicodeProperties() {
        for value in UInt32(0)...0x10ffff {
            guard let scalar = Unicode.Scalar(value), !(0xfe00...0xfe0f).contains(value), value != 9 else {
                continue
            }
            let category = scalar.properties.generalCategory
            let shows =
                ![.control, .lineSeparator, .paragraphSeparator].contains(category)
                && !scalar.properties.isDefaultIgnorableCodePoint && !scalar.properties.isBidiControl
            // Interlinear annotation characters are hidden too, although their Unicode properties don't state it.
            if SafeText.isHidden(scalar) == shows, !(0xfff9...0xfffb).contains(value) {
                Issue.record("U+\(String(value, radix: 16))")
            }
        }
    }

    private func isSafe(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0 == "\n" || !SafeText.isHidden($0) }
    }

    private var sink: DiagnosticSink {
        var sink = DiagnosticSink()
        let text = Self.hostile
        sink.add(
            Diagnostic(
                .error, .invalidValue, text, at: .startOfFile(text),
                notes: [Diagnostic.Note(text, at: .startOfFile(text)), Diagnostic.Note(text)], help: text))
        sink.warning(.invalidValue, text, at: .startOfFile("a.yaml"))
        return sink
    }

    @Test func diagnosticsAreSafeInEveryFormat() throws {
        #expect(isSafe(TextRenderer(sources: SourceTexts("a.yaml", Self.hostile)).render(sink)))
        let annotations = GitHubRenderer.render(sink)
        #expect(isSafe(annotations))
        // Each diagnostic is rendered as exactly one workflow command.
        #expect(annotations.split(separator: "\n").count == 2)
        #expect(
            annotations.split(separator: "\n").allSatisfy {
                $0.hasPrefix("::error ") || $0.hasPrefix("::warning ")
            })
        for data in [try JSONRenderer.render(sink), try SARIFRenderer.render(sink, version: "1")] {
            let raw = String(decoding: data, as: UTF8.self)
            #expect(isSafe(raw))
            #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: data) }
        }
    }

    /// Tests a source, a job and a run in which every text is hostile.
    @Test func plansAndReportsAreSafe() async throws {
        let scratch = try Scratch()
        // File names may contain anything but `/` and NUL.
        let name = Self.hostile.replacingOccurrences(of: "/", with: "").prefix(40)
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=0.2", "-metadata", "title=\(Self.hostile)",
            "-metadata",
            "\(Self.hostile.prefix(30).filter { $0 != "=" })=x", "-c:v", "ffv1", scratch.file("in.mkv"))
        try FileManager.default.moveItem(atPath: scratch.file("in.mkv"), toPath: scratch.file("\(name).mkv"))
        let (file, sink) = decode(
            "version: 1\njobs: { one: { asset: './*.mkv', tracks: [ { video: first, copy: true } ], destination: 'out/${asset.stem}.mp4' } }",
            directory: scratch.path)
        #expect(!sink.hasErrors)
        let result = BatchPlanner.plan([try #require(file)])
        #expect(isSafe(PlanText.render(result.plan, reasons: { _ in RunReasons(lines: [Self.hostile]) })))
        #expect(isSafe(rendered(result.diagnostics, "")))
        let description = try LocalProber().description(of: scratch.file("\(name).mkv"))
        #expect(isSafe(ProbeText.render(description, name: Self.hostile)))
        let runner = BatchRunner(
            plan: result.plan, files: result.files, policy: RunPolicy(budget: .ofThisMachine(jobs: 1)),
            performer: LocalPerformer(MediaEnvironment()), prober: LocalProber(),
            observer: RecordingObserver())
        let records = await runner.run()
        let report = RunReport(records, files: [Self.hostile], begun: 0, seconds: 1, status: .failed)
        // The HTML page contains only its own script.
        for (text, scripts) in [
            (HTMLRenderer.render(report), 1), (JUnitRenderer.render(report), 0),
            (StepSummary.render(report), 0),
        ] {
            #expect(isSafe(text))
            #expect(text.components(separatedBy: "<script>").count - 1 == scripts)
        }
        #expect(isSafe(String(decoding: try report.json(), as: UTF8.self)))
    }

    /// Tests the output of commands with hostile names.
    @Test func outputOfCommandsIsSafe() throws {
        let scratch = try folderWithSource()
        let name = "e\u{1b}[2J\r\n::error::x\u{202e}.mp4"
        try FileManager.default.moveItem(atPath: scratch.file("a.mp4"), toPath: scratch.file(name))
        try scratch.write(
            "version: 1\njobs: { one: { asset: './*.mp4', tracks: [ { video: first, copy: true } ], destination: 'out/${asset.stem}.mkv' } }\n",
            to: "jobs.yaml")
        for words in [
            ["plan", "jobs.yaml"], ["explain", "jobs.yaml", "one"], ["accept", "jobs.yaml", "one"],
            ["run", "jobs.yaml"],
            ["run", "-v", "jobs.yaml"],
            ["history", "jobs.yaml"], ["probe", name], ["init", name], ["presets", name],
            ["clean", "jobs.yaml"],
            ["plan", "--format", "github", "jobs.yaml"], ["plan", "--format", "json", "jobs.yaml"],
            ["probe", "--format", "json", name], ["run", "--force", "--events", "-", "jobs.yaml"],
            ["run", "--only", "no\u{1b}such", "jobs.yaml"],
            ["plan", "--root", "/no\u{1b}such", "jobs.yaml"], ["validate", "no\u{1b}\r\n::error::such"],
        ] {
            let result = try tandem(words, in: scratch, environment: ["GITHUB_ACTIONS": ""])
            #expect(
                isSafe(result.text) && isSafe(result.errors),
                "\(words): \(result.text.debugDescription) \(result.errors.debugDescription)")
            let lines = (result.text + "\n" + result.errors).split(separator: "\n")
            #expect(!lines.contains { $0.hasPrefix("::error::x") || $0.hasPrefix("::error::such") })
        }
    }

    /// Tests that a shell evaluates a quoted word to the original, and that it contains no hidden characters.
    @Test(arguments: [
        "", "plain-1.a_b/c", "two words", "it's", "$HOME `id` \\ \"", "zero\u{200b}width", "tab\there",
        "\u{1b}[31m'\\\u{7}",
        "line\nend\r", "\u{202e}1\u{e0041}2", "é*?[a]",
    ])
    func quotedShellWordsAreUnchanged(_ word: String) throws {
        let shell = SafeText.shellWord(word)
        #expect(!shell.unicodeScalars.contains { $0 == "\t" || SafeText.isHidden($0) }, "\(shell)")
        // The dot prevents the removal of trailing newlines.
        let result = try program("/bin/bash", ["-c", "printf '%s.' \(shell)"])
        #expect(result.text == word + ".", "\(shell)")
    }
}
