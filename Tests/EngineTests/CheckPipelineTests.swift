import Diagnostics
import Engine
import Foundation
import JobPlan
import JobRun
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

/// Tests checks of generated sources in this process, from the job file to the outcome.
@Suite struct CheckPipelineTests {
    private static let signal = "{ pattern: testsrc, size: 64x48, frame_rate: 25, duration: 1s, tone: 440Hz }"

    @Test func check_ofGeneratedSource_passesAndPublishesNothing() async throws {
        let scratch = try Scratch()
        let result = try success(
            try await run(
                """
                version: 1
                jobs:
                  c:
                    asset: \(Self.signal)
                    check: true
                    expect: { duration: 1s, frames: 25, video: { width: 64 }, silence: { max: 100ms }, loudness: { true_peak: { max: 0 } } }
                """, in: scratch.path))
        let output = try #require(result.outputs.first)
        #expect(output.destination == nil && output.size == 0 && output.warnings.isEmpty)
        #expect(output.tracks.map(\.appendedSamples) == [25, 48_000])
        #expect(output.duration == MediaTime(value: 1, timescale: 1))
        #expect(output.expectations.count == 5 && output.expectations.allSatisfy(\.holds))
        #expect(scratch.contents.isEmpty, "\(scratch.contents)")
    }

    /// An unmet expectation fails the check at the expectation's line; all expectations are evaluated.
    @Test func check_withUnmetExpectation_failsAtItsLine() async throws {
        let scratch = try Scratch()
        let outcomes = try await run(
            """
            version: 1
            jobs:
              c:
                asset: \(Self.signal)
                check: true
                expect:
                  frames: 26
                  video: { height: 48 }
              w: { asset: \(Self.signal), needs: [c], tracks: [ { audio: first, encode: { codec: flac } } ], destination: o.flac }
            """, in: scratch.path)
        guard case .failed(let failure)? = outcomes.first(where: { $0.id == "c" })?.outcome else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(failure.rule == .expectationFailed && failure.location.line == 7)
        #expect(failure.message == "expected frames 26, measured 25")
        #expect(failure.expectations.map(\.holds) == [false, true])
        guard case .notRun? = outcomes.first(where: { $0.id == "w" })?.outcome else {
            Issue.record("a job that needs a failed check ran")
            return
        }
    }

    /// With a range, only this section is decoded and measured.
    @Test func check_ofRange_measuresThatPart() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "sine=d=1", "-f", "lavfi", "-i", "anullsrc=d=2", "-filter_complex",
            "[0][1]concat=v=0:a=1", "-c:a", "flac", scratch.file("a.flac"))
        func outcome(_ range: String) async throws -> JobOutcome {
            try await run(
                "version: 1\njobs:\n  c: { asset: ./a.flac, check: true\(range), expect: { silence: { max: 500ms } } }",
                in: scratch.path)[0].outcome
        }
        guard case .failed(let failure) = try await outcome("") else {
            Issue.record("two seconds of silence pass")
            return
        }
        #expect(failure.rule == .expectationFailed)
        guard case .succeeded(let result) = try await outcome(", range: { end: 1.2s }") else {
            Issue.record("the silence behind the range counts")
            return
        }
        #expect(result.outputs[0].tracks[0].appendedSamples == 52_920)
    }
}
