import Diagnostics
import JobRun
import JobSpec
import TestSupport
import Testing

@testable import JobPlan

/// The outputs that a run would create, from the reasons of a state that is given.
@Suite struct RunForecastTests {
    private func forecast(
        _ known: [String: RunReasons]
    ) throws -> (forecast: RunForecast, tasks: [OutputTask], asked: [String]) {
        let yaml = """
            version: 1
            assets: { bars: { pattern: smpte, size: 64x48, frame_rate: 25, duration: 1s } }
            defaults: { tracks: [ { video: first, encode: { codec: h264 } } ] }
            jobs:
              a: { asset: bars, destination: a.mkv }
              b: { asset: { job: a }, destination: b.mkv }
              c: { asset: { job: b }, destination: c.mkv }
              d: { asset: bars, destination: d.mkv }

            """
        let (file, sink) = decode(yaml, directory: "/nowhere")
        guard let file, !sink.hasErrors else { throw ProgramError(message: rendered(sink, yaml)) }
        let plan = BatchPlanner.plan([file]).plan
        var asked: [String] = []
        let forecast = try RunForecast(plan, files: [file], prober: FakeProber()) { task, _ in
            asked.append(task.name)
            return known[task.name] ?? RunReasons(lines: [])
        }
        return (forecast, plan.jobs.flatMap(\.tasks).sorted { $0.name < $1.name }, asked.sorted())
    }

    private func lines(_ known: [String: RunReasons]) throws -> [[String]] {
        let (forecast, tasks, _) = try forecast(known)
        return tasks.map { forecast.reasons(for: $0).lines }
    }

    @Test func outputsWithoutReasonsAreUpToDate() throws {
        let (forecast, tasks, asked) = try forecast([:])
        #expect(tasks.map(\.name) == ["a", "b", "c", "d"] && asked == ["a", "b", "c", "d"])
        #expect(tasks.allSatisfy { forecast.reasons(for: $0).lines.isEmpty })
    }

    /// A job whose source is created anew runs, and so do those that read its output. The state isn't asked about them.
    @Test func jobsThatReadCreatedOutputsRun() throws {
        let (forecast, tasks, asked) = try forecast(["a": RunReasons(lines: ["no output yet"])])
        #expect(
            tasks.map { forecast.reasons(for: $0).lines } == [
                ["no output yet"], ["the job `a`, whose output it reads, runs"],
                ["the job `b`, whose output it reads, runs"], [],
            ])
        #expect(asked == ["a", "d"])
    }

    /// Jobs that read the output of a job that declined it are skipped, directly and through other jobs.
    @Test func jobsThatReadDeclinedOutputsAreSkipped() throws {
        let declined = RunReasons(lines: [], omission: .declined("too large"))
        let (forecast, tasks, asked) = try forecast(["a": declined])
        #expect(
            tasks.map { forecast.reasons(for: $0).omission } == [
                .declined("too large"), .skipped("the job `a`, whose output it reads, has no output"),
                .skipped("the job `b`, whose output it reads, has no output"), nil,
            ])
        #expect(asked == ["a", "d"])
    }

    /// Evaluating expectations doesn't change an output.
    @Test func evaluatedOutputsAreNotCreated() throws {
        let evaluated = RunReasons(lines: ["added expectation: frames 25"], onlyEvaluates: true)
        #expect(try lines(["a": evaluated]) == [["added expectation: frames 25"], [], [], []])
    }
}
