import Diagnostics
import Engine
import Foundation
import JobRun
import Locking
import Media
import TestSupport
import Testing

/// Tests runs in this process, from the job files to the reports.
@Suite struct RunSessionTests {
    /// An output that records its calls.
    private final class Recorder: RunOutput {
        let hasSingleResult: Bool
        private let calls = Guarded<[String]>([])
        var recorded: [String] { calls.withLock { $0 } }

        init(hasSingleResult: Bool = false) { self.hasSingleResult = hasSingleResult }

        private func record(_ call: String) { calls.withLock { $0.append(call) } }
        func filesLoaded(_ set: JobFileSet) { record("loaded") }
        func report(_ diagnostics: DiagnosticSink, of set: JobFileSet, annotates: Bool) {
            record("diagnostics " + diagnostics.diagnostics.map(\.rule.rawValue).joined(separator: " "))
        }
        func printLine(_ line: String) { record(line) }
        func ended(_ report: RunReport, _ diagnostics: DiagnosticSink) { record("ended") }
    }

    private func options(_ jobs: String, in scratch: Scratch) throws -> RunOptions {
        var workers = WorkerSettings(notify: { _ in })
        workers.usesWorkers = false
        var options = RunOptions(
            state: StateLocation(folder: scratch.file("state"), mode: .stat, notify: { _ in }),
            workers: workers,
            console: Console(isInteractive: false, usesColor: false, width: { 80 }, write: { _ in }))
        options.files = [try scratch.write("version: 1\njobs:\n" + jobs, to: "jobs.yaml")]
        options.destinations = ReportDestinations(junit: nil, reports: [scratch.file("r.json")])
        return options
    }

    private func job(_ id: String, to name: String, _ more: String = "") -> String {
        "  \(id): { asset: { pattern: smpte, duration: 1s, tone: 1kHz }, \(more) tracks: [ { audio: first, encode: { codec: pcm_s16le } } ], destination: \(name) }\n"
    }

    private func report(_ scratch: Scratch) throws -> String {
        try String(contentsOfFile: scratch.file("r.json"), encoding: .utf8)
    }

    @Test func run_ofValidFile_publishesAndRecords() async throws {
        let scratch = try Scratch()
        let options = try options(job("a", to: "a.wav"), in: scratch)
        for outcome in ["succeeded", "up-to-date"] {
            let output = Recorder()
            #expect(try await RunSession(options, output: output).run().status == .succeeded)
            #expect(output.recorded == ["loaded", "diagnostics ", "ended"])
            let report = try report(scratch)
            #expect(report.contains("\"outcome\" : \"\(outcome)\""), "\(report)")
        }
        #expect(FileManager.default.fileExists(atPath: scratch.file("a.wav")))
    }

    @Test func run_withSingleResult_reportsAtItsEnd() async throws {
        let scratch = try Scratch()
        let output = Recorder(hasSingleResult: true)
        let session = RunSession(try options(job("a", to: "a.wav"), in: scratch), output: output)
        #expect(try await session.run().status == .succeeded)
        #expect(output.recorded == ["loaded", "diagnostics ", "ended"])
    }

    /// Reports are written although no job starts.
    @Test func run_ofInvalidFile_startsNoJob() async throws {
        let scratch = try Scratch()
        let output = Recorder()
        let session = RunSession(
            try options(job("a", to: "a.wav", "nonsense: 1,"), in: scratch), output: output)
        #expect(try await session.run().status == .invalidSpec)
        #expect(output.recorded == ["loaded", "diagnostics unknown-key"])
        #expect(try report(scratch).contains("\"status\" : \"failed\""))
        #expect(!FileManager.default.fileExists(atPath: scratch.file("state")))
    }

    @Test func run_withCollidingDestinations_startsNoJob() async throws {
        let scratch = try Scratch()
        let output = Recorder()
        let session = RunSession(
            try options(job("a", to: "a.wav") + job("b", to: "a.wav"), in: scratch), output: output)
        #expect(try await session.run().status == .invalidSpec)
        #expect(output.recorded == ["loaded", "diagnostics ", "diagnostics destination-collision"])
        #expect(!FileManager.default.fileExists(atPath: scratch.file("a.wav")))
    }

    /// A report that would overwrite an output is an error, and isn't written.
    @Test func run_withReportAtDestination_throws() async throws {
        let scratch = try Scratch()
        var options = try options(job("a", to: "r.json", ""), in: scratch)
        options.files = [
            try scratch.write(
                "version: 1\njobs:\n  a: { asset: { pattern: smpte, duration: 1s, tone: 1kHz }, waveform: { format: json }, destination: r.json }\n",
                to: "jobs.yaml")
        ]
        let session = RunSession(options, output: Recorder())
        let error = await #expect(throws: EngineError.self) { _ = try await session.run() }
        #expect(error?.status == .environment)
        #expect(!FileManager.default.fileExists(atPath: scratch.file("r.json")))
    }

    @Test func run_ofFailingJob_hasItsStatus() async throws {
        let scratch = try Scratch()
        try scratch.write("occupied", to: "a.wav")
        var options = try options(
            job("a", to: "b.wav", "expect: { loudness: { true_peak: { max: -60 } } },"), in: scratch)
        #expect(try await RunSession(options, output: Recorder()).run().status == .expectationFailed)
        options = try self.options(job("a", to: "a.wav"), in: scratch)
        #expect(try await RunSession(options, output: Recorder()).run().status == .jobFailed)
    }
}
