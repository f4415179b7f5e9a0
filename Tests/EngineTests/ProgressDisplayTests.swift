import Diagnostics
import Locking
import Testing

@testable import Engine
@testable import JobRun
@testable import PlanWork

/// Tests a run's progress text, summary and exit status for given job records.
@Suite struct ProgressDisplayTests {
    /// Returns the text shown for finished jobs, and the diagnostics at the end.
    private func show(
        _ records: [JobRecord], _ verbosity: ProgressDisplay.Verbosity = .normal,
        rerunCommand: ProgressDisplay.RerunCommand? = nil
    ) -> (text: String, details: DiagnosticSink) {
        let written = Guarded("")
        let console = Console(
            isInteractive: false, usesColor: false, width: { 80 },
            write: { text in written.withLock { $0 += text } })
        let display = ProgressDisplay(
            on: console, renderer: TextRenderer(sources: SourceTexts(), usesColor: false),
            verbosity: verbosity, rerunCommand: rerunCommand)
        for record in records { display.jobFinished(record) }
        let details = display.end(records, refusals: []) { _ in nil }
        return (written.withLock { $0 }, details)
    }

    private func record(_ id: String, _ outcome: JobOutcome) -> JobRecord {
        JobRecord(id: id, file: "jobs.yaml", outcome: outcome)
    }

    private func failure(_ message: String, _ rule: Rule? = nil) -> JobOutcome {
        .failed(JobFailure(message, at: .argument("test"), rule: rule))
    }

    @Test func upToDateJobsAreListedWithVerboseOnly() {
        let records = [record("a", .upToDate)]
        #expect(show(records).text == "1 of 1 jobs done, 1 of them up to date\n")
        #expect(show(records, .verbose).text.hasPrefix("same a: up to date\n"))
        #expect(show(records, .quiet).text == "")
    }

    @Test func failuresAreSummarizedWithACommandThatRerunsThem() {
        let records = [
            record("a", .upToDate), record("b\u{1b}[2J", failure("the disk is full")),
            record("c", .notRun("`b` failed")),
        ]
        let (text, details) = show(
            records, .quiet,
            rerunCommand: ProgressDisplay.RerunCommand(
                arguments: ["run", "my jobs.yaml"], acceptsNames: true))
        #expect(text.contains("fail b") && text.contains("the disk is full"))
        #expect(!text.contains("\u{1b}"))
        #expect(text.contains("1 of 3 jobs done, 1 of them up to date, 2 not done\n"))
        #expect(
            text.contains("run again: tandem run 'my jobs.yaml' --only $'b\\033[2J' --only c\n"), "\(text)")
        #expect(details.errorCount == 1)
    }

    @Test func statusIsTheWorstOutcomeOfJobsThatRan() {
        let unmet = failure("5 s instead of 6 s", .expectationFailed)
        #expect(RunStatus(of: []) == .succeeded)
        #expect(RunStatus(of: [.upToDate, .skipped("there is a file")]) == .succeeded)
        #expect(RunStatus(of: [unmet, .notRun("it waits")]) == .expectationFailed)
        #expect(RunStatus(of: [unmet, failure("no")]) == .jobFailed)
        #expect(RunStatus(of: [.cancelled]) == .jobFailed)
    }
}
