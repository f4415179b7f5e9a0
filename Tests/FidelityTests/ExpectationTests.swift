import Diagnostics
import Foundation
import JobRun
import JobSpec
import TestSupport
import Testing

@Suite struct ExpectationTests {
    private func job(_ expect: String, _ output: String) -> String {
        """
        version: 1
        jobs:
          it:
            asset: ./source.mkv
            range: { start: 0.5, end: 3.5 }
            tracks:
              - { video: first, encode: { codec: h264, preset: ultrafast } }
              - { audio: first, encode: { codec: flac } }
            destination: \(output)
            expect: { \(expect) }
        """
    }

    /// Two seconds of picture and sound, then one of black and silence, and picture and sound again.
    private func source(in scratch: Scratch) throws {
        try ffmpeg(
            "-f", "lavfi", "-i",
            "testsrc2=size=160x120:rate=25:duration=4,drawbox=t=fill:c=black:enable='between(t,2,2.999)'",
            "-f", "lavfi",
            "-i", "sine=frequency=997:d=4:r=48000,volume=0:enable='between(t,2,3)'", "-c:v", "ffv1", "-c:a",
            "flac",
            "-ac", "2", scratch.file("source.mkv"))
    }

    /// Each that holds, each that doesn't, with what was measured; where one fails nothing is published.
    @Test(arguments: [
        ("duration: { is: 3s, within: 1ms }", true, ""),
        ("duration: { is: 2.9s, within: 10ms }", false, "measured 3 s"),
        ("frames: 76", true, ""), ("frames: 75", false, "measured 76"),
        ("size: { max: 10MB }", true, ""), ("size: { max: 1kB }", false, "bytes"),
        ("video: { codec: h264, width: 160, height: 120, frame_rate: 25, pixel_format: yuv420p }", true, ""),
        ("video: { width: 320 }", false, "expected video width 320, measured 160"),
        ("audio: { codec: flac, channels: stereo, sample_rate: 48kHz }", true, ""),
        ("audio: { channels: mono }", false, "measured stereo"),
        ("loudness: { integrated: { is: -21.8, within: 0.5 }, true_peak: { max: -15 } }", true, ""),
        ("loudness: { integrated: { is: -30, within: 1 } }", false, "LUFS"),
        ("loudness: { true_peak: { max: -40 } }", false, "dBTP"),
        ("silence: { max: 1100ms }", true, ""), ("silence: { max: 900ms }", false, "measured 1"),
        ("black: { max: 1100ms }", true, ""), ("black: { max: 900ms }", false, "measured 1"),
        ("decodes: true", true, ""),
    ])
    func whatIsExpectedMustHold(_ expect: String, _ holds: Bool, _ says: String) async throws {
        let scratch = try Scratch()
        try source(in: scratch)
        let outcomes = try await run(job(expect, scratch.file("out.mp4")), in: scratch.path)
        if holds {
            let result = try success(outcomes)
            #expect(result.expectations.allSatisfy { $0.holds } && !result.expectations.isEmpty)
            return
        }
        guard case .failed(let failure) = outcomes[0].outcome else {
            Issue.record("it did not fail")
            return
        }
        #expect(failure.rule == .expectationFailed)
        #expect(failure.message.contains(says), "\(failure.message)")
        #expect(failure.location.line == 10)
        #expect(scratch.contents == ["source.mkv"])
    }
}
