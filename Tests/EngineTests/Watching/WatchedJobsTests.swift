import Diagnostics
import JobPlan
import JobRun
import PlanWork
import Testing

@testable import Engine

@Suite struct WatchedJobsTests {
    private let start = ContinuousClock.now

    private func key(_ id: String) -> JobKey { JobKey(file: "jobs.yaml", id: id) }

    private func job(_ id: String, _ files: [String] = [], needs: [String] = []) -> JobInputs.Job {
        JobInputs.Job(
            key: key(id), files: files.map { JobInputs.File(path: $0, isOptional: $0.hasPrefix("?")) },
            prerequisites: needs.map(key))
    }

    private func record(_ id: String, _ outcome: JobOutcome = .upToDate) -> JobRecord {
        JobRecord(id: id, file: "jobs.yaml", outcome: outcome)
    }

    private func failure() -> JobOutcome {
        .failed(JobFailure("damaged", at: SourceRange.startOfFile("jobs.yaml")))
    }

    /// Returns the state of files: tokens, of which `~` is that of a file that is still written.
    private func state(_ tokens: [String: String]) -> (String) -> FileSettling.State {
        { path in
            guard let token = tokens[path] else { return .missing }
            return token == "~" ? .incomplete(until: start) : .complete(token: token)
        }
    }

    private func ids(_ keys: some Sequence<JobKey>) -> [String] { keys.map(\.id).sorted() }

    @Test func jobsAreDue_onceForEachStateOfTheirFiles() {
        var jobs = WatchedJobs()
        let inputs = JobInputs(jobs: [job("a", ["/a"]), job("b", ["/b"]), job("tone")])
        let first = jobs.assess(inputs, state: state(["/a": "1", "/b": "~"]))
        #expect(ids(first.due) == ["a", "tone"] && ids(first.omitted) == ["b"])
        #expect(first.waits == [key("b"): .incomplete("/b")] && first.next == start)
        jobs.add([record("a"), record("tone")], of: first)
        #expect(jobs.assess(inputs, state: state(["/a": "1", "/b": "~"])).due.isEmpty)
        let second = jobs.assess(inputs, state: state(["/a": "1", "/b": "1"]))
        #expect(ids(second.due) == ["b"] && second.omitted.isEmpty && second.next == nil)
        jobs.add([record("a"), record("b"), record("tone")], of: second)
        #expect(ids(jobs.assess(inputs, state: state(["/a": "2", "/b": "1"])).due) == ["a"])
        jobs.reset()
        #expect(ids(jobs.assess(inputs, state: state(["/a": "1", "/b": "1"])).due) == ["a", "b", "tone"])
    }

    @Test func optionalFile_mayBeMissing() {
        var jobs = WatchedJobs()
        let inputs = JobInputs(jobs: [job("a", ["/a", "?s"])])
        let without = jobs.assess(inputs, state: state(["/a": "1"]))
        #expect(ids(without.due) == ["a"])
        jobs.add([record("a")], of: without)
        #expect(jobs.assess(inputs, state: state(["/a": "1", "?s": "~"])).omitted == [key("a")])
        #expect(ids(jobs.assess(inputs, state: state(["/a": "1", "?s": "1"])).due) == ["a"])
    }

    /// A failed job isn't repeated by batches for other files, whose reports contain it.
    @Test func failedJob_isOmittedUntilItsFileChanges() {
        var jobs = WatchedJobs()
        let inputs = JobInputs(jobs: [job("a", ["/a"]), job("b", ["/b"])])
        let first = jobs.assess(inputs, state: state(["/a": "1", "/b": "1"]))
        #expect(jobs.carried(first).isEmpty)
        jobs.add([record("a", failure()), record("b")], of: first)
        #expect(jobs.assess(inputs, state: state(["/a": "1", "/b": "1"])).due.isEmpty)
        let other = jobs.assess(inputs, state: state(["/a": "1", "/b": "2"]))
        #expect(ids(other.due) == ["b"] && ids(other.omitted) == ["a"])
        #expect(jobs.carried(other).map(\.id) == ["a"])
        jobs.add([record("b")], of: other)
        let mended = jobs.assess(inputs, state: state(["/a": "2", "/b": "2"]))
        #expect(ids(mended.due) == ["a"] && mended.omitted.isEmpty && jobs.carried(mended).isEmpty)
        jobs.add([record("a"), record("b")], of: mended)
        #expect(jobs.assess(inputs, state: state(["/a": "2", "/b": "2"])).omitted.isEmpty)
    }

    @Test func jobs_waitForTheJobsThatTheyRead() {
        let jobs = WatchedJobs()
        let inputs = JobInputs(
            jobs: [job("a", ["/a"]), job("b", needs: ["a"]), job("c", needs: ["b"]), job("d", ["/d"])],
            unmatched: [(key("e"), "the pattern matches no file")])
        let found = jobs.assess(inputs, state: state(["/d": "1"]))
        #expect(ids(found.due) == ["d"] && ids(found.omitted) == ["a", "b", "c", "e"])
        #expect(
            found.waits == [
                key("a"): .missing("/a"), key("b"): .prerequisite(key("a")),
                key("c"): .prerequisite(key("b")), key("e"): .unmatched("the pattern matches no file"),
            ])
    }

    /// With the job that failed, those that depend on it are tried again, and others that these need.
    @Test func failedJobs_areTriedAgainTogether() {
        var jobs = WatchedJobs()
        let inputs = JobInputs(
            jobs: [job("a", ["/a"]), job("b", ["/b"]), job("both", needs: ["a", "b"]), job("other", ["/o"])])
        let files = ["/a": "1", "/b": "1", "/o": "1"]
        let first = jobs.assess(inputs, state: state(files))
        jobs.add(
            [
                record("a", failure()), record("b", failure()), record("both", .notRun("")),
                record("other", failure()),
            ], of: first)
        let again = jobs.assess(inputs, state: state(["/a": "2", "/b": "1", "/o": "1"]))
        #expect(ids(again.due) == ["a"] && ids(again.omitted) == ["other"])
    }

    /// A removed file takes its failure out of the reports.
    @Test func failureOfARemovedFile_isForgotten() {
        var jobs = WatchedJobs()
        let inputs = JobInputs(jobs: [job("a", ["/a"]), job("b", ["/b"])])
        let first = jobs.assess(inputs, state: state(["/a": "1", "/b": "1"]))
        jobs.add([record("a", failure()), record("b")], of: first)
        let rest = JobInputs(jobs: [job("b", ["/b"])])
        let next = jobs.assess(rest, state: state(["/b": "2"]))
        jobs.add([record("b")], of: next)
        #expect(jobs.carried(jobs.assess(inputs, state: state(["/a": "1", "/b": "3"]))).isEmpty)
    }
}

@Suite struct WaitMessagesTests {
    private let start = ContinuousClock.now

    private func key(_ id: String) -> JobKey { JobKey(file: "jobs.yaml", id: id) }

    @Test func waits_areMentionedOnce() {
        var messages = WaitMessages(isVerbose: false)
        let waits: [JobKey: WatchedJobs.Wait] = [
            key("a"): .missing("/a"), key("b"): .incomplete("/b"), key("c"): .prerequisite(key("a")),
        ]
        #expect(messages.lines(waits, at: start) == ["a: waiting for /a, which doesn't exist"])
        #expect(messages.lines(waits, at: start + .seconds(1)) == [])
        #expect(
            messages.lines(waits, at: start + WaitMessages.patience) == [
                "b: waiting for /b, which is still being written", "c: waiting for the job `a`",
            ])
        #expect(messages.lines([:], at: start) == [])
        #expect(messages.lines([key("a"): .missing("/a")], at: start).count == 1)
    }

    @Test func verboseMessages_mentionFilesAtOnce() {
        var messages = WaitMessages(isVerbose: true)
        #expect(
            messages.lines([key("b"): .incomplete("/b")], at: start) == [
                "b: waiting for /b, which is still being written"
            ])
    }

    @Test func manyWaits_areCounted() {
        var messages = WaitMessages(isVerbose: false)
        let waits = Dictionary(
            uniqueKeysWithValues: (10..<35).map { (key("j\($0)"), WatchedJobs.Wait.missing("/\($0)")) })
        let lines = messages.lines(waits, at: start)
        #expect(lines.count == 11 && lines[0] == "j10: waiting for /10, which doesn't exist")
        #expect(lines.last == "15 more jobs waiting")
    }

    @Test func theWatch_isMentionedOnce() {
        var messages = WaitMessages(isVerbose: false)
        func lines(_ all: Bool) -> [String] { messages.lines(reportsAllChanges: all, every: .seconds(5)) }
        #expect(lines(true) == ["watching for files; Ctrl-C ends the watch"])
        #expect(lines(true) == [])
        #expect(
            lines(false) == [
                "warning: the system doesn't report all changes in these folders (network file system, or limit of inotify): they are examined every 5 seconds"
            ])
        #expect(lines(false) == [])
    }
}
