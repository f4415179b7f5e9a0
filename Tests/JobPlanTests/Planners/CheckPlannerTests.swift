import Diagnostics
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

@testable import JobPlan

/// Tests the plan of a check: the tracks that are read, and their expectations.
@Suite struct CheckPlannerTests {
    private static let source = SourceDescription.file(
        .video(), .audio(), .other(2, codec: "subrip"), .cover(3), .other(4, .data) { $0.isTimecode = true })

    private func decide(
        _ check: String = "true", _ keys: String = "", _ description: SourceDescription = source,
        of source: InputPlan.Source = .file
    ) throws -> (decision: Decision<(input: InputPlan, output: OutputPlan)>, findings: [String]) {
        let snippet = try JobSnippet("check: \(check)", keys, to: nil)
        guard case .check(let spec) = snippet.output.kind else { throw ProgramError(message: "no check") }
        let decision = CheckPlanner(
            job: snippet.job, output: snippet.output, spec: spec, input: ResolvedInput(source, description),
            prober: FakeProber()
        ).decide()
        return (decision, snippet.findings(decision.reasons))
    }

    /// Video and audio of whole files are decoded, and packets of other tracks are read, except covers and timecodes.
    @Test func allTracksOfAFileAreRead() throws {
        let (decision, findings) = try decide()
        let (input, output) = try #require(decision.value)
        #expect(output.tracks.map(\.source.index) == [0, 1, 2])
        #expect(
            output.tracks.map(\.action) == [
                .read(decodes: true), .read(decodes: true), .read(decodes: false),
            ])
        #expect(output.tracks[0].expected.frames == 250 && output.tracks[1].expected.samples == 480_000)
        #expect(output.isCheck && output.destination == nil && output.expectedDuration == s(10))
        #expect(output.container == SourceDescription.movie && input.range == nil && findings == [])
        #expect(
            output.notes == ["cover mjpeg (track 3) is not read", "data subrip (track 4) is not read"])
    }

    @Test func packetsAreReadWithoutDecoding() throws {
        let (decision, _) = try decide("{ decode: false }")
        #expect(decision.value?.output.tracks.allSatisfy { $0.action == .read(decodes: false) } == true)
    }

    /// For a range, only video and audio are read, because packets of subtitles may exceed the range.
    @Test func checksOfRangesReadVideoAndAudio() throws {
        let (decision, _) = try decide("true", "range: { start: 1s, end: 3s }")
        let (input, output) = try #require(decision.value)
        #expect(output.tracks.map(\.source.index) == [0, 1] && input.range == span(1, 3))
        #expect(output.tracks[0].expected.frames == 50 && output.expectedDuration == s(2))
        #expect(output.notes.contains("subtitle subrip (track 2) is not read"))
    }

    @Test func tracksWithoutSamplesInTheRangeAreNotRead() throws {
        let (decision, findings) = try decide(
            "true", "range: { start: 5s, end: 6s }", .file(.video(), .audio(1, over: span(0, 2))))
        #expect(decision.value?.output.tracks.map(\.source.index) == [0] && findings == [])
        #expect(
            decision.reasons.notes == ["audio aac 48000 Hz stereo (track 1) has no samples in the range"])
    }

    @Test func truncationIsNoted() throws {
        let (decision, _) = try decide("true", "", .file(.video()) { $0.missingBytes = 9 })
        #expect(decision.reasons.notes == ["the source is truncated: 9 bytes are missing"])
    }

    /// Each error is located at `check`, or at the range that contains nothing.
    @Test func sourcesMustBeDecodable() throws {
        let undecodable = SourceDescription.file(.video(codec: "prores") { $0.isDecodable = false })
        let (decision, findings) = try decide("true", "", undecodable)
        #expect(decision.value == nil && findings == ["cannot-decode at true"])
        #expect(try decide("{ decode: false }", "", undecodable).findings == [])
        #expect(try decide("true", "", .file(.cover(0))).findings == ["no-such-track at true"])
        let range = "range: { start: 5s, end: 6s }"
        let (_, empty) = try decide(
            "true", range, .file(.video(over: span(0, 2)), .other(1, over: span(0, 9))))
        #expect(empty == ["no-such-track at { start: 5s, end: 6s }"])
    }

    /// A test signal has no packets, so it is decoded.
    @Test func generatedSourcesAreDecoded() throws {
        let pattern = TestPattern(
            name: "smpte", width: 64, height: 48, frameRate: Rational(25, 1), duration: s(1),
            toneFrequency: nil)
        let (decision, _) = try decide("true", "", .file(.video()), of: .pattern(pattern))
        #expect(decision.value?.output.tracks.map(\.action) == [.read(decodes: true)])
    }
}
