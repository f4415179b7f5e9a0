import Diagnostics
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

@testable import JobPlan

/// The timecode of the first frame is the source's, shifted with the range, or the job's.
@Suite struct TimecodePlannerTests {
    private func decide(
        _ code: String? = "01:00:00:00", keys: String = "", metadata: String = "{}",
        in container: String = "mov",
        rate: Rational? = Rational(25, 1), frameRate: Rational? = nil, hasVideo: Bool = true,
        start: MediaTime = .zero, from first: Double = 0
    ) throws -> (decision: Decision<String>, findings: [String]) {
        let snippet = try JobSnippet(
            rule: "{ video: first, copy: true\(keys.isEmpty ? "" : ", ")\(keys) }", "metadata: \(metadata)",
            "container: \(container)", to: "o.x")
        let track = TrackDescription.video(rate: rate, over: span(first, 10))
        let action: TrackPlan.Action =
            frameRate.map { wanted in
                .encoded(track, as: "h264", by: "libx264") { $0.video?.frameRate = wanted }
            } ?? .copy
        let timecode = TrackDescription.other(5, .data, codec: "none") { $0.isTimecode = true }
        let decision = TimecodePlanner(
            source: .file(track, timecode) { $0.timecode = code }, output: snippet.output,
            container: try .required(container), track: hasVideo ? .planned(track, action) : nil, start: start
        ).decide()
        return (decision, snippet.findings(decision.reasons))
    }

    /// Frames are counted, with drop-frame timecode at 29.97 frames/s. The timecode applies to the first frame, even if
    /// that frame starts after zero.
    @Test(
        arguments: [
            ("01:00:00:00", Rational(25, 1), 0, 0, "01:00:00:00", "kept"),
            ("01:00:00:00", Rational(25, 1), 2.5, 0, "01:00:02:12", "moved with the range to 01:00:02:12"),
            ("23:59:59:24", Rational(25, 1), 0.04, 0, "00:00:00:00", "moved with the range to 00:00:00:00"),
            (
                "00:00:59;28", Rational(30_000, 1001), 0.08, 0, "00:01:00;02",
                "moved with the range to 00:01:00;02"
            ),
            ("01:00:00:00", Rational(25, 1), 2, 1, "01:00:01:00", "moved with the range to 01:00:01:00"),
            ("01:00:00:00", Rational(25, 1), 0.5, 1, "01:00:00:00", "kept"),
        ] as [(String, Rational, Double, Double, String, String)])
    func timecodesMoveWithTheRange(
        _ code: String, _ rate: Rational, _ start: Double, _ first: Double, _ expected: String,
        _ reason: String
    ) throws {
        let (decision, findings) = try decide(code, rate: rate, start: s(start), from: first)
        #expect(decision.value == expected && findings == [])
        #expect(
            decision.reasons.lines == [
                "timecode \(code) copied: \(reason)", "timecode track copied: rewritten",
            ])
    }

    /// An image has no key that could drop the timecode; its format can't store it.
    @Test func imagesDropTimecodesBecauseOfTheirFormat() throws {
        let snippet = try JobSnippet("images: { every: 1s, format: jpeg }", to: "\"o-${image.number}.jpg\"")
        let track = TrackDescription.video(over: span(0, 10))
        let decision = TimecodePlanner(
            source: .file(track) { $0.timecode = "01:00:00:00" }, output: snippet.output,
            container: try .required("jpeg"), track: .planned(track, .copy), start: .zero
        ).decide()
        #expect(decision.reasons.lines == ["timecode 01:00:00:00 dropped: jpeg can't store it"])
    }

    @Test func timecodesAreDroppedWithAReason() throws {
        func line(_ decision: Decision<String>) -> String? {
            #expect(decision.value == "")
            #expect(decision.reasons.lines.last == "data unknown codec dropped: no rule selects it")
            return decision.reasons.lines.first
        }
        let name = "timecode 01:00:00:00 dropped: "
        #expect(try line(decide(metadata: "{ keep: none }").decision) == name + "the job doesn't keep it")
        #expect(try line(decide(in: "webm").decision) == name + "webm can't store it")
        #expect(try line(decide(hasVideo: false).decision) == name + "the output has no video")
        #expect(try line(decide(frameRate: Rational(50, 1)).decision) == name + "the frame rate changes")
        let invalid = "timecode 01:00:00:29 dropped: it is not a valid timecode at 25 frames/s"
        #expect(try line(decide("01:00:00:29").decision) == invalid)
        #expect(try decide(nil).decision.value == "")
        #expect(try decide(frameRate: Rational(25, 1)).decision.value == "01:00:00:00")
    }

    /// The rule's timecode takes precedence over the job's; both replace the source's.
    @Test(arguments: [
        ("", "{ set: { timecode: '10:00:00:00' } }", "10:00:00:00"),
        ("metadata: { timecode: '11:00:00:00' }", "{ set: { timecode: '10:00:00:00' } }", "11:00:00:00"),
    ])
    func timecodesOfTheJobTakePrecedence(_ keys: String, _ metadata: String, _ expected: String) throws {
        let (decision, findings) = try decide(keys: keys, metadata: metadata)
        #expect(decision.value == expected && findings == [])
        #expect(decision.reasons.lines.first == "timecode 01:00:00:00 dropped: set by the job")
        #expect(decision.reasons.lines.last == "timecode track copied: rewritten")
    }

    @Test(arguments: [
        ("10:00:00:25", "mov", true, "invalid-value at timecode"),
        ("10:00", "mov", true, "invalid-value at timecode"),
        ("10:00:00:00", "webm", true, "container-setting at timecode"),
        ("10:00:00:00", "mov", false, "container-setting at timecode"),
    ])
    func impossibleTimecodesAreErrors(
        _ code: String, _ container: String, _ hasVideo: Bool, _ finding: String
    )
        throws
    {
        let (decision, findings) = try decide(
            metadata: "{ set: { timecode: '\(code)' } }", in: container, hasVideo: hasVideo)
        #expect(decision.value == nil && findings == [finding], "\(decision.reasons.messages)")
    }
}
