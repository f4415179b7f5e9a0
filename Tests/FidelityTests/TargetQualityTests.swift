import Diagnostics
import Foundation
import JobRun
import TestSupport
import Testing

/// With `quality`, the finished file has the similarity to the encoder's input that FFmpeg measures, within the accepted
/// difference.
@Suite struct TargetQualityTests {
    private func source(seconds: Int, in scratch: borrowing Scratch) throws {
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=\(seconds),noise=alls=12:allf=t",
            "-pix_fmt", "yuv420p", "-c:v", "ffv1", scratch.file("s.mkv"))
    }

    private func job(_ encode: String, _ destination: String = "o.mkv") -> String {
        """
        version: 1
        jobs:
          one:
            asset: ./s.mkv
            tracks:
              - { video: first, encode: { \(encode) } }
            destination: \(destination)

        """
    }

    /// Returns the mean SSIM of two files that FFmpeg measures.
    private func ssim(_ one: String, _ other: String, in scratch: borrowing Scratch) throws -> Double {
        let log = scratch.file("ssim.log")
        try ffmpeg("-i", one, "-i", other, "-lavfi", "ssim=f=\(log)", "-f", "null", "-")
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        let values = lines.compactMap { line in
            line.split(separator: " ").first { $0.hasPrefix("All:") }.flatMap { Double($0.dropFirst(4)) }
        }
        try FileManager.default.removeItem(atPath: log)
        return values.reduce(0, +) / Double(max(1, values.count))
    }

    @Test(arguments: [
        ("codec: h264, preset: veryfast", 3), ("codec: h264, preset: veryfast", 32),
        ("codec: hevc, preset: ultrafast", 3), ("codec: vp9, preset: good, options: { cpu-used: 5 }", 3),
        ("codec: av1, encoder: libsvtav1, preset: 12", 3),
    ])
    func similarityIsReached(_ encode: String, _ seconds: Int) async throws {
        let scratch = try Scratch()
        try source(seconds: seconds, in: scratch)
        let yaml = job("\(encode), quality: { ssim: 0.93, within: 0.008 }")
        let output = try success(try await run(yaml, in: scratch.path)).outputs[0]
        let quality = try #require(output.quality)
        let reported = try #require(quality.encodes.last).value
        let measured = try ssim(scratch.file("o.mkv"), scratch.file("s.mkv"), in: scratch)
        print("measured: \(encode), \(seconds) s: \(measured), \(quality.text)")
        #expect(abs(measured - reported) < 0.0001)
        #expect(measured >= 0.922 && (measured <= 0.938 || !output.warnings.isEmpty))
        #expect(scratch.contents.sorted() == ["o.mkv", "s.mkv"])
    }

    /// A target that can't be reached fails the job, which publishes nothing.
    @Test func unreachableTargetsFail() async throws {
        let scratch = try Scratch()
        try source(seconds: 2, in: scratch)
        let yaml = job("codec: h264, preset: veryfast, quality: { psnr: 60, crf: [20, 40] }")
        let records = try await run(yaml, in: scratch.path)
        guard case .failed(let failure) = try #require(records.first).outcome else {
            Issue.record("the job didn't fail")
            return
        }
        #expect(failure.location.line == 6, "\(failure.message)")
        #expect(failure.diagnostics.map(\.rule) == [.targetQuality], "\(failure.message)")
        #expect(scratch.contents.sorted() == ["s.mkv"])
    }
}
