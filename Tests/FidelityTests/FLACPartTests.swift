import Foundation
import JobRun
import Media
import TestSupport
import Testing

/// Copied ranges of FLAC are valid streams: header, frame numbers and checksums are correct.
@Suite struct FLACPartTests {
    @Test(arguments: [("4608", "flac"), ("64", "flac"), ("4096", "ogg"), ("1152", "mkv")])
    func copiedRangeIsAValidStream(_ frameSize: String, _ container: String) async throws {
        let scratch = try Scratch()
        let result = try program(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-f", "lavfi", "-i",
                "aevalsrc='0.5*sin(2*PI*t*(200+150*t))|0.3*sin(2*PI*t*900)':d=12:s=48000", "-c:a", "flac",
                "-frame_size", frameSize, scratch.file("s.flac"),
            ])
        #expect(result.status == 0, "\(result.errors)")
        let done = try success(
            try await run(
                """
                version: 1
                jobs:
                  j:
                    asset: ./s.flac
                    range: { start: 1s, end: 11s }
                    cut: keyframe
                    tracks: [ { audio: first, copy: true } ]
                    destination: o.\(container)
                """, in: scratch.path))
        let output = scratch.file("o.\(container)")
        let strict = try program(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-xerror", "-err_detect", "crccheck+bitstream+explode", "-i",
                output,
                "-f", "s16le", "-",
            ])
        #expect(strict.status == 0 && strict.errors.isEmpty, "\(strict.errors)")
        let frame = Int(frameSize) ?? 1
        let first = (48_000 + frame - 1) / frame * frame
        let last = 11 * 48_000 / frame * frame
        let whole = try program(
            "ffmpeg", ["-v", "error", "-nostdin", "-i", scratch.file("s.flac"), "-f", "s16le", "-"])
        #expect(strict.output == whole.output[(first * 4)..<(last * 4)])
        #expect(done.outputs[0].tracks[0].appendedSamples == (last - first) / frame)
        guard container == "flac" else { return }
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: output)))
        let samples = bytes[22..<26].reduce(Int(bytes[21] & 0x0f)) { $0 << 8 | Int($1) }
        #expect(samples == last - first)
        #expect(bytes[26..<42].allSatisfy { $0 == 0 })
        let packets = try FFmpegFile(output).probe(["-show_packets", "-select_streams", "a"])["packets"]
        let times = (packets as? [[String: Any]])?.compactMap { $0["pts"] as? Int } ?? []
        #expect(times.first == 0 && times.count == (last - first) / frame)
    }

    /// Ranges of FLAC in Ogg are exact, although timestamps are only estimates after a seek.
    @Test func rangesOfOggAreExact() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "aevalsrc='0.5*sin(2*PI*t*(200+150*t))':d=12:s=48000", "-c:a", "flac",
            "-sample_fmt", "s16", scratch.file("s.ogg"))
        let outcomes = try await run(
            """
            version: 1
            x-job: &job { asset: ./s.ogg, range: { start: 3.3s, end: 9.7s } }
            jobs:
              copy: { <<: *job, cut: keyframe, tracks: [ { audio: first, copy: true } ], destination: o.flac }
              mkv: { <<: *job, cut: keyframe, tracks: [ { audio: first, copy: true } ], destination: o.mkv }
              pcm: { <<: *job, tracks: [ { audio: first, encode: { codec: pcm_s16le } } ], destination: o.wav }
            """, in: scratch.path)
        for id in ["copy", "mkv", "pcm"] { _ = try success(outcomes, id) }
        func samples(_ name: String) throws -> Data {
            try program(
                "ffmpeg", ["-v", "error", "-nostdin", "-i", scratch.file(name), "-f", "s16le", "-"]
            ).output
        }
        let whole = try samples("s.ogg")
        let (first, last) = ((158_400 + 4607) / 4608 * 4608, 465_600 / 4608 * 4608)
        #expect(try samples("o.flac") == whole[(first * 2)..<(last * 2)])
        #expect(try samples("o.mkv") == whole[(first * 2)..<(last * 2)])
        #expect(try samples("o.wav") == whole[(158_400 * 2)..<(465_600 * 2)])
    }

    @Test func completeCopyKeepsItsHeader() async throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=d=2", "-c:a", "flac", scratch.file("s.flac"))
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  j:
                    asset: ./s.flac
                    tracks: [ { audio: first, copy: true } ]
                    destination: o.flac
                """, in: scratch.path))
        let (before, after) = (
            try Data(contentsOf: URL(fileURLWithPath: scratch.file("s.flac"))),
            try Data(contentsOf: URL(fileURLWithPath: scratch.file("o.flac")))
        )
        #expect(before[8..<42] == after[8..<42])
    }
}
