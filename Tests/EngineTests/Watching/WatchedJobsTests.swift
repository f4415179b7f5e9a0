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

    /// Runs the batch that is due, with the given outcomes of jobs that aren't up to date. Returns the ids of its jobs.
    private func batch(
        _ jobs: inout WatchedJobs, _ inputs: JobInputs, _ tokens: [String: String],
        _ outcomes: [String: JobOutcome] = [:]
    ) -> [String] {
        let found = jobs.assess(inputs, state: state(tokens))
        let ids = ids(found.batch)
        if !ids.isEmpty { jobs.add(ids.map { record($0, outcomes[$0] ?? .upToDate) }, of: found) }
        return ids
    }

    /// The ids and outcomes that the report of the next batch contains beside its own.
    private func carried(
        _ jobs: WatchedJobs, _ inputs: JobInputs, _ tokens: [String: String]
    ) -> [String] {
        jobs.carried(jobs.assess(inputs, state: state(tokens))).map {
            "\($0.id) \($0.outcome.isSuccess ? "done" : "failed")"
        }
    }

    @Test func jobsAreDue_onceForEachStateOfTheirFiles() {
        var jobs = WatchedJobs()
        let inputs = JobInputs(jobs: [job("a", ["/a"]), job("b", ["/b"]), job("tone")])
        let first = jobs.assess(inputs, state: state(["/a": "1", "/b": "~"]))
        #expect(first.waits == [key("b"): .incomplete("/b")] && first.next == start)
        #expect(batch(&jobs, inputs, ["/a": "1", "/b": "~"]) == ["a", "tone"])
        #expect(batch(&jobs, inputs, ["/a": "1", "/b": "~"]) == [])
        #expect(carried(jobs, inputs, ["/a": "1", "/b": "1"]) == ["a done", "tone done"])
        #expect(batch(&jobs, inputs, ["/a": "1", "/b": "1"]) == ["b"])
        #expect(batch(&jobs, inputs, ["/a": "2", "/b": "1"]) == ["a"])
        jobs.reset()
        #expect(batch(&jobs, inputs, ["/a": "2", "/b": "1"]) == ["a", "b", "tone"])
    }

    @Test func optionalFile_mayBeMissing() {
        var jobs = WatchedJobs()
        let inputs = JobInputs(jobs: [job("a", ["/a", "?s"])])
        #expect(batch(&jobs, inputs, ["/a": "1"]) == ["a"])
        #expect(batch(&jobs, inputs, ["/a": "1", "?s": "~"]) == [])
        #expect(batch(&jobs, inputs, ["/a": "1", "?s": "1"]) == ["a"])
    }

    /// A failed job isn't repeated by batches for other files, whose reports contain it.
    @Test func failedJob_runsAgainAfterAChange() {
        var jobs = WatchedJobs()
        let inputs = JobInputs(jobs: [job("a", ["/a"]), job("b", ["/b"])])
        #expect(batch(&jobs, inputs, ["/a": "1", "/b": "1"], ["a": failure()]) == ["a", "b"])
        #expect(batch(&jobs, inputs, ["/a": "1", "/b": "1"]) == [])
        #expect(carried(jobs, inputs, ["/a": "1", "/b": "2"]) == ["a failed"])
        #expect(batch(&jobs, inputs, ["/a": "1", "/b": "2"]) == ["b"])
        #expect(batch(&jobs, inputs, ["/a": "2", "/b": "2"]) == ["a"])
        #expect(carried(jobs, inputs, ["/a": "2", "/b": "3"]) == ["a done"])
    }

    @Test func jobs_waitForTheJobsThatTheyRead() {
        let jobs = WatchedJobs()
        let inputs = JobInputs(
            jobs: [job("a", ["/a"]), job("b", needs: ["a"]), job("c", needs: ["b"]), job("d", ["/d"])],
            problems: [(key("e"), "the pattern matches no file")])
        let found = jobs.assess(inputs, state: state(["/d": "1"]))
        #expect(ids(found.batch) == ["d"])
        #expect(
            found.waits == [
                key("a"): .missing("/a"), key("b"): .prerequisite(key("a")),
                key("c"): .prerequisite(key("b")), key("e"): .pattern("the pattern matches no file"),
            ])
    }

    /// A batch contains the jobs that depend on new files, and all that these read.
    @Test func batch_containsDependentJobs() {
        var jobs = WatchedJobs()
        let inputs = JobInputs(
            jobs: [
                job("a", ["/a"]), job("b", ["/b"]), job("both", needs: ["a", "b"]),
                job("after", needs: ["both"]), job("other", ["/o"]),
            ])
        let all = batch(&jobs, inputs, ["/a": "1", "/b": "1", "/o": "1"])
        #expect(all == ["a", "after", "b", "both", "other"])
        #expect(batch(&jobs, inputs, ["/a": "2", "/b": "1", "/o": "1"]) == ["a", "after", "b", "both"])
        #expect(batch(&jobs, inputs, ["/a": "2", "/b": "1", "/o": "2"]) == ["other"])
    }

    /// A job that needs one that failed isn't run, nor is the failed one for its sake.
    @Test func jobsThatNeedAFailedOne_areNotRun() {
        var jobs = WatchedJobs()
        var inputs = JobInputs(jobs: [job("a", ["/a"]), job("b", ["/b"]), job("all", needs: ["a", "b"])])
        let failed = batch(
            &jobs, inputs, ["/a": "1", "/b": "1"], ["a": failure(), "all": .notRun("")])
        #expect(failed == ["a", "all", "b"])
        inputs = JobInputs(
            jobs: [job("a", ["/a"]), job("b", ["/b"]), job("c", ["/c"]), job("all", needs: ["a", "b", "c"])])
        let files = ["/a": "1", "/b": "1", "/c": "1"]
        #expect(jobs.assess(inputs, state: state(files)).waits == [key("all"): .failure(key("a"))])
        #expect(batch(&jobs, inputs, files) == ["c"])
        #expect(batch(&jobs, inputs, files) == [])
        #expect(carried(jobs, inputs, files) == ["a failed", "all failed", "b done", "c done"])
        #expect(batch(&jobs, inputs, ["/a": "2", "/b": "1", "/c": "1"]) == ["a", "all", "b", "c"])
    }

    /// A job runs when the failed one that it needed is gone.
    @Test func jobsThatNeededARemovedOne_run() {
        var jobs = WatchedJobs()
        let inputs = JobInputs(jobs: [job("a", ["/a"]), job("b", ["/b"]), job("all", needs: ["a", "b"])])
        let outcomes = ["a": failure(), "all": JobOutcome.notRun("")]
        #expect(batch(&jobs, inputs, ["/a": "1", "/b": "1"], outcomes) == ["a", "all", "b"])
        let rest = JobInputs(jobs: [job("b", ["/b"]), job("all", needs: ["b"])])
        #expect(batch(&jobs, rest, ["/b": "1"]) == ["all", "b"])
        #expect(carried(jobs, rest, ["/b": "1"]) == ["all done", "b done"])
    }

    /// A removed file takes its result out of the reports.
    @Test func resultOfARemovedFile_isForgotten() {
        var jobs = WatchedJobs()
        let inputs = JobInputs(jobs: [job("a", ["/a"]), job("b", ["/b"])])
        #expect(batch(&jobs, inputs, ["/a": "1", "/b": "1"], ["a": failure()]).count == 2)
        let rest = JobInputs(jobs: [job("b", ["/b"])])
        #expect(carried(jobs, rest, ["/b": "2"]) == [])
        #expect(batch(&jobs, rest, ["/b": "2"]) == ["b"])
        #expect(carried(jobs, inputs, ["/a": "1", "/b": "2"]) == ["b done"])
    }

    /// The jobs with the conflict fail, and the others of the batch run. A conflict is examined again when a file of the job changes,
    /// or another job is removed.
    @Test func rejectedJobs_failAlone() {
        var jobs = WatchedJobs()
        let conflict = Diagnostic(.error, .destinationCollision, "two jobs", at: .startOfFile("jobs.yaml"))
        func list(_ numbers: some Sequence<Int>) -> JobInputs {
            JobInputs(
                jobs: numbers.map { job("j\($0)", ["/\($0)"]) }
                    + [job("all", needs: numbers.map { "j\($0)" })])
        }
        var inputs = list(0..<4)
        var tokens = Dictionary(uniqueKeysWithValues: (0..<9).map { ("/\($0)", "1") })
        func reject(_ ids: String...) {
            let found = jobs.assess(inputs, state: state(tokens))
            jobs.addRejection([conflict], ofJobs: Set(ids.map(key)), in: found)
        }
        reject("j1", "j2", "unrelated")
        #expect(jobs.assess(inputs, state: state(tokens)).waits == [key("all"): .failure(key("j1"))])
        #expect(batch(&jobs, inputs, tokens) == ["j0", "j3"])
        let results = ["all failed", "j0 done", "j1 failed", "j2 failed", "j3 done"]
        #expect(carried(jobs, inputs, tokens) == results)
        // Other files don't solve the conflict.
        inputs = list(0..<5)
        #expect(batch(&jobs, inputs, tokens) == ["j4"])
        tokens["/1"] = "2"
        #expect(jobs.assess(inputs, state: state(tokens)).batch == [key("j1")])
        reject("j1")
        inputs = list([0, 1, 3, 4])
        #expect(batch(&jobs, inputs, tokens) == ["all", "j0", "j1", "j3", "j4"])
    }

    /// If the jobs with a problem aren't known, the batch isn't repeated.
    @Test func rejectionWithoutJobs_concernsTheBatch() {
        var jobs = WatchedJobs()
        let inputs = JobInputs(jobs: [job("a", ["/a"]), job("b", ["/b"])])
        jobs.addRejection([], ofJobs: [], in: jobs.assess(inputs, state: state(["/a": "1", "/b": "1"])))
        #expect(batch(&jobs, inputs, ["/a": "1", "/b": "1"]) == [])
        #expect(batch(&jobs, inputs, ["/a": "1", "/b": "2"]) == ["b"])
    }
}

@Suite struct WaitMessagesTests {
    private let start = ContinuousClock.now

    private func key(_ id: String) -> JobKey { JobKey(file: "jobs.yaml", id: id) }

    @Test func waits_areReportedOnce() {
        var messages = WaitMessages(isVerbose: false)
        let waits: [JobKey: WatchedJobs.Wait] = [
            key("a"): .missing("/a"), key("b"): .incomplete("/b"), key("c"): .prerequisite(key("a")),
        ]
        #expect(messages.lines(waits, at: start) == ["a: waiting for /a, which doesn't exist"])
        #expect(messages.lines(waits, at: start + .seconds(1)) == [])
        #expect(
            messages.lines(waits, at: start + WaitMessages.patience) == [
                "b: waiting for /b, which may still be written", "c: waiting for the job `a`",
            ])
        #expect(messages.lines([:], at: start) == [])
        #expect(messages.lines([key("a"): .missing("/a")], at: start).count == 1)
    }

    @Test func verboseMessages_reportFilesAtOnce() {
        var messages = WaitMessages(isVerbose: true)
        #expect(
            messages.lines([key("b"): .incomplete("/b")], at: start) == [
                "b: waiting for /b, which may still be written"
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

    @Test func theWatch_isReportedOnce() {
        var messages = WaitMessages(isVerbose: false)
        func lines(_ all: Bool) -> [String] { messages.lines(reportsAllChanges: all, every: .seconds(5)) }
        #expect(lines(true) == ["watching for files; Ctrl-C ends the watch"])
        #expect(lines(true) == [])
        #expect(
            lines(false) == [
                "warning: the system doesn't report all changes in the watched folders (network file system, or limit of inotify): they are examined every 5 seconds"
            ])
        #expect(lines(false) == [])
    }
}
