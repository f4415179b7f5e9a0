import Diagnostics
import Foundation
import JobPlan
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

    /// Creates two seconds of video and audio, one second of black and silence, and one second of video and audio.
    private func source(in scratch: Scratch) throws {
        try ffmpeg(
            "-f", "lavfi", "-i",
            "testsrc2=size=160x120:rate=25:duration=4,drawbox=t=fill:c=black:enable='between(t,2,2.999)'",
            "-f", "lavfi",
            "-i", "sine=frequency=997:d=4:r=48000,volume=0:enable='between(t,2,3)'", "-c:v", "ffv1", "-c:a",
            "flac",
            "-ac", "2", scratch.file("source.mkv"))
    }

    /// A language is expected as the job writes it, and mp4 stores another code of it.
    @Test func languagesAreComparedByTheirMeaning() async throws {
        let scratch = try Scratch()
        try source(in: scratch)
        let outcomes = try await run(
            """
            version: 1
            jobs:
              j:
                asset: ./source.mkv
                tracks: [ { audio: first, language: de, encode: { codec: aac } } ]
                destination: o.mp4
                expect: { audio: { language: de } }
            """, in: scratch.path)
        #expect(try success(outcomes).outputs[0].expectations.map(\.holds) == [true])
    }

    /// Expectations that are met, and others that fail with the measured value, so that nothing is published.
    @Test(arguments: [
        ("duration: { is: 3s, within: 1ms }", true, ""),
        ("duration: { is: 2.9s, within: 10ms }", false, "measured 3 s"), ("duration: 3s", true, ""),
        ("frames: 76", true, ""),
        ("size: { max: 10MB }", true, ""), ("size: { max: 1kB }", false, "bytes"),
        ("video: { codec: h264, width: 160, height: 120, frame_rate: 25, pixel_format: yuv420p }", true, ""),
        ("video: { profile: Main }", false, "expected video profile Main, measured"),
        ("audio: { codec: flac, channels: stereo, sample_rate: 48kHz }", true, ""),
        ("audio: { language: deu }", false, "measured unknown"),
        ("loudness: { integrated: { is: -21.8, within: 0.5 }, true_peak: { max: -15 } }", true, ""),
        ("loudness: { integrated: { is: -30, within: 1 } }", false, "LUFS"),
        ("loudness: { true_peak: { max: -40 } }", false, "dBTP"),
        ("silence: { max: 1100ms }", true, ""), ("silence: { max: 900ms }", false, "measured 1"),
        ("black: { max: 1100ms }", true, ""), ("black: { max: 900ms }", false, "measured 1"),
        ("decodes: true", true, ""),
        ("similarity: { ssim: { min: 0.97 }, psnr: { min: 35 } }", true, ""),
        ("similarity: { ssim: { min: 0.99999 } }", false, "measured 0.9"),
        ("similarity: { psnr: { min: 120 } }", false, " dB"),
    ])
    func failedExpectationIsReportedWithTheMeasuredValue(_ expect: String, _ holds: Bool, _ message: String)
        async throws
    {
        let scratch = try Scratch()
        try source(in: scratch)
        let outcomes = try await run(job(expect, scratch.file("out.mp4")), in: scratch.path)
        if holds {
            let result = try success(outcomes)
            #expect(
                result.outputs[0].expectations.allSatisfy { $0.holds }
                    && !result.outputs[0].expectations.isEmpty)
            return
        }
        guard case .failed(let failure) = outcomes[0].outcome else {
            Issue.record("the job didn't fail")
            return
        }
        #expect(failure.rule == .expectationFailed)
        #expect(failure.message.contains(message), "\(failure.message)")
        #expect(failure.location.line == 10)
        #expect(scratch.contents == ["source.mkv"])
    }

    /// Expectations that contradict the plan are errors before the run, at their lines.
    @Test func impossibleExpectationIsAnErrorOfThePlan() throws {
        let scratch = try Scratch()
        try source(in: scratch)
        let wrong = [
            "video: { width: 320 }", "video: { codec: hevc }", "video: { pixel_format: yuv422p }",
            "audio: { channels: mono }", "audio: { sample_rate: 44100 }",
        ]
        for expect in wrong {
            let file = decode(job(expect, scratch.file("out.mp4")), directory: scratch.path).file
            let found = BatchPlanner.plan([try #require(file)]).diagnostics.diagnostics
            #expect(found.map(\.rule) == [.expectationImpossible], "\(expect): \(found.map(\.message))")
            #expect(found.first?.range.line == 10)
        }
        // For a source with an index, duration and number of frames are reliable.
        try ffmpeg("-i", scratch.file("source.mkv"), "-c:v", "libx264", scratch.file("source.mp4"))
        for (expect, isWrong) in [
            ("frames: 99", true), ("duration: 5s", true), ("frames: 100", false), ("duration: 4s", false),
        ] {
            let text =
                "version: 1\njobs: { j: { asset: ./source.mp4, tracks: [ { video: first, encode: { codec: h264 } } ], expect: { \(expect) }, destination: out.mp4 } }"
            let file = decode(text, directory: scratch.path).file
            let found = BatchPlanner.plan([try #require(file)]).diagnostics.diagnostics
            #expect(found.map(\.rule) == (isWrong ? [.expectationImpossible] : []), "\(expect)")
        }
    }

    /// The similarity equals ffmpeg's measurement against the source, scaled and cut as by the job.
    @Test func similarityIsMeasuredAgainstTheEncodersInput() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25:duration=3", "-c:v", "ffv1",
            scratch.file("source.mkv"))
        let yaml = """
            version: 1
            jobs:
              it:
                asset: ./source.mkv
                range: { start: 1s, end: 2s }
                tracks: [ { video: first, encode: { codec: h264, crf: 35, size: 160x120 } } ]
                destination: o.mkv
                expect: { similarity: { ssim: { min: 0 }, psnr: { min: 0 } } }
            """
        let result = try success(try await run(yaml, in: scratch.path))
        let measured = try program(
            "ffmpeg",
            [
                "-nostdin", "-i", scratch.file("o.mkv"), "-ss", "1", "-t", "1", "-i",
                scratch.file("source.mkv"),
                "-lavfi",
                "[1:v]scale=160:120:flags=bicubic,settb=1/25,setpts=N,split[r1][r2];[0:v]settb=1/25,setpts=N,split[o1][o2];[o1][r1]ssim;[o2][r2]psnr",
                "-f", "null", "-",
            ])
        func value(_ pattern: String) throws -> Double {
            let line = try #require(measured.errors.split(separator: "\n").last { $0.contains(pattern) })
            let rest = try #require(line.range(of: pattern)).upperBound
            return try #require(Double(line[rest...].prefix { $0.isNumber || $0 == "." }))
        }
        let ssim = try #require(Double(result.outputs[0].expectations[0].measured))
        let psnr = try #require(Double(result.outputs[0].expectations[1].measured.dropLast(3)))
        #expect(
            abs(ssim - (try value("All:"))) < 0.0002,
            "\(result.outputs[0].expectations) \(measured.errors.suffix(400))")
        #expect(
            abs(psnr - (try value("average:"))) < 0.02,
            "\(result.outputs[0].expectations) \(measured.errors.suffix(400))")
    }

    @Test func failedOutputIsKeptOnRequest() async throws {
        let scratch = try Scratch()
        try source(in: scratch)
        for _ in 0..<2 {
            let outcomes = try await run(
                job("frames: 75", scratch.file("out.mp4")), in: scratch.path, keepsFailed: true)
            guard case .failed(let failure) = outcomes[0].outcome else {
                Issue.record("the job didn't fail")
                return
            }
            #expect(
                failure.message.hasSuffix("kept as \(scratch.file("out.failed.mp4"))"), "\(failure.message)")
            #expect(scratch.contents == ["out.failed.mp4", "source.mkv"])
        }
        #expect(try FFmpegFile(scratch.file("out.failed.mp4")).frames().times.count == 76)
        // An existing file of that name isn't replaced, and the failed expectation is still reported.
        try scratch.write("mine", to: "out.failed.mp4")
        let outcomes = try await run(
            job("frames: 75", scratch.file("out.mp4")), in: scratch.path, keepsFailed: true)
        guard case .failed(let failure) = outcomes[0].outcome else {
            Issue.record("the job didn't fail")
            return
        }
        #expect(failure.rule == .expectationFailed && failure.message.contains("measured 76; not kept"))
        #expect(try String(contentsOfFile: scratch.file("out.failed.mp4"), encoding: .utf8) == "mine")
    }
}
