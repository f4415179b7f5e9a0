import Foundation
import TestSupport
import Testing

/// Encoders that read uninitialized memory, which MALLOC_PERTURB_ fills.
@Suite struct ChunkRunTests {
    private func packets(_ path: String) throws -> String {
        try program(
            "ffprobe",
            [
                "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts,dts,data_hash",
                "-show_data_hash", "md5", "-of", "csv", path,
            ]
        ).text
    }

    /// The macroblock tree of x264 reads uninitialized memory. Workers clear it, so that chunks have the same packets.
    @Test func packetsOfChunks_doNotDependOnMemory() throws {
        let scratch = try Scratch()
        defer { withExtendedLifetime(scratch) {} }
        try scratch.write(
            """
            version: 1
            assets: { clip: { pattern: testsrc, size: 320x240, frame_rate: 25, duration: 22s } }
            jobs:
              one:
                asset: clip
                matrix: { chunks: [1, 2, 3] }
                tracks: [ { video: first, encode: { codec: h264, parallel: "${matrix.chunks}" } } ]
                destination: "${matrix.chunks}.mp4"
            """, to: "jobs.yaml")
        let result = try tandem("run", "jobs.yaml", in: scratch)
        try #require(result.status == 0, "\(result.errors)")
        let first = try packets(scratch.file("1.mp4"))
        #expect(first.split(separator: "\n").count == 550)
        #expect(try packets(scratch.file("2.mp4")) == first)
        #expect(try packets(scratch.file("3.mp4")) == first)
    }

    /// x265 computes decoding times from uninitialized memory if there are less than three frames.
    @Test(arguments: [1, 2, 3], [1, 200]) func shortHEVC_hasDecodingTimes(_ frames: Int, _ fill: Int) throws {
        let scratch = try Scratch()
        defer { withExtendedLifetime(scratch) {} }
        try scratch.write(
            """
            version: 1
            assets: { clip: { pattern: testsrc, size: 64x64, frame_rate: 25, duration: \(frames * 40)ms } }
            jobs:
              whole: { asset: clip, tracks: [ { video: first, encode: { codec: hevc, preset: ultrafast } } ], destination: whole.mp4 }
              chunk: { asset: clip, tracks: [ { video: first, encode: { codec: hevc, preset: ultrafast, parallel: 1 } } ], destination: chunk.mp4 }
            """, to: "jobs.yaml")
        let result = try program(
            "/usr/bin/env",
            ["MALLOC_PERTURB_=\(fill)", TestPaths.tandem, "run", "--isolation", "none", "jobs.yaml"],
            directory: scratch.path)
        try #require(result.status == 0, "\(result.errors)")
        for name in ["whole.mp4", "chunk.mp4"] {
            #expect(try FFmpegFile(scratch.file(name)).frames().times.count == frames)
            #expect(try FFmpegFile(scratch.file(name)).decodeErrors() == "")
        }
    }
}
