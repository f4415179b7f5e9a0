import Foundation
import JobRun
import TestSupport
import Testing

/// Outputs of encoders that a job names have the requested properties, as measured by ffprobe and ffmpeg.
@Suite struct NamedEncoderTests {
    private func output(_ encode: String, in scratch: Scratch) async throws -> String {
        let outcomes = try await run(
            """
            version: 1
            assets: { bars: { pattern: testsrc, size: 128x96, frame_rate: 25, duration: 1s } }
            jobs:
              one: { asset: bars, tracks: [ { video: first, encode: { codec: av1, \(encode) } } ], destination: o.mkv }

            """, in: scratch.path)
        return try #require(success(outcomes).outputs[0].destination)
    }

    private func hashes(_ arguments: [String]) throws -> [String] {
        let result = try program(
            "ffmpeg", ["-v", "error"] + arguments + ["-pix_fmt", "yuv420p", "-f", "framemd5", "-"])
        return result.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap {
            $0.split(separator: ",").last.map(String.init)
        }
    }

    @Test(arguments: [
        "encoder: libaom-av1, preset: 8, crf: 40", "encoder: libaom-av1, preset: 8, bitrate: 150k",
        "encoder: libaom-av1, preset: 8, bitrate: 150k, passes: 2, frame_rate: 25",
        "encoder: librav1e, preset: 10", "encoder: librav1e, preset: 10, bitrate: 150k",
    ])
    func namedEncoder_encodesAV1(_ encode: String) async throws {
        let scratch = try Scratch()
        let path = try await output(encode, in: scratch)
        let stream = try FFmpegFile(path).stream("0", "codec_name,width,height")
        #expect(stream["codec_name"] as? String == "av1" && stream["width"] as? Int == 128)
        let (times, hidden) = try FFmpegFile(path).frames()
        #expect(times.count == 25 && hidden == 0)
        #expect(try FFmpegFile(path).decodeErrors() == "")
    }

    @Test func aom_lossless_keepsEveryPixel() async throws {
        let scratch = try Scratch()
        let outcomes = try await run(
            """
            version: 1
            assets: { bars: { pattern: testsrc, size: 128x96, frame_rate: 25, duration: 0.4s } }
            jobs:
              plain: { asset: bars, tracks: [ { video: first, encode: { codec: ffv1, pixel_format: yuv420p } } ], destination: plain.mkv }
              one: { asset: { job: plain }, tracks: [ { video: first, encode: { codec: av1, encoder: libaom-av1, preset: 8, lossless: true } } ], destination: o.mkv }

            """, in: scratch.path)
        _ = try success(outcomes, "one")
        let decoded = try hashes(["-i", scratch.file("o.mkv")])
        #expect(decoded.count == 10)
        #expect(try decoded == hashes(["-i", scratch.file("plain.mkv")]))
    }
}
