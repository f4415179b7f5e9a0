import Foundation
import JobRun
import TestSupport
import Testing

/// Video that is encoded in chunks: the same frames at the same times, whatever the number of chunks in progress.
@Suite struct ChunkTests {
    private func jobs(_ encode: String, _ container: String, _ counts: [String]) -> String {
        """
        version: 1
        assets: { clip: { pattern: testsrc, size: 160x120, frame_rate: 30000/1001, duration: 20s, tone: 440Hz } }
        jobs:
          one:
            asset: clip
            matrix: { chunks: [\(counts.joined(separator: ", "))] }
            range: { start: 1s, end: 19.5s }
            tracks:
              - { video: first, encode: { \(encode), parallel: "${matrix.chunks}" } }
              - { audio: first, encode: { codec: \(container == "webm" ? "opus" : "aac") } }
            destination: "${matrix.chunks}.\(container)"

        """
    }

    /// Returns the packets of the video track: times, flags and hashes.
    private func packets(_ path: String) throws -> String {
        try program(
            "ffprobe",
            [
                "-v", "error", "-select_streams", "v", "-show_entries",
                "packet=pts,dts,duration,flags,data_hash",
                "-show_data_hash", "md5", "-of", "csv", path,
            ]
        ).text
    }

    @Test(arguments: [
        ("codec: h264, crf: 30, preset: ultrafast", "mp4"), ("codec: h264, qp: 30, preset: ultrafast", "ts"),
        ("codec: hevc, crf: 30, preset: ultrafast", "mp4"),
        ("codec: vp9, crf: 40, options: { cpu-used: 8 }", "webm"),
        ("codec: av1, encoder: libaom-av1, preset: 8, crf: 50", "mkv"),
    ])
    func chunks_inProgress_doNotChangeTheOutput(_ encode: String, _ container: String) async throws {
        let scratch = try Scratch()
        defer { withExtendedLifetime(scratch) {} }
        let outcomes = try await run(jobs(encode, container, ["1", "3", "off"]), in: scratch.path)
        for id in ["one[chunks=1]", "one[chunks=3]", "one[chunks=off]"] { _ = try success(outcomes, id) }
        let (one, three) = (scratch.file("1.\(container)"), scratch.file("3.\(container)"))
        #expect(try packets(one) == packets(three))
        let (times, hidden) = try FFmpegFile(three).frames()
        let whole = try FFmpegFile(scratch.file("off.\(container)")).frames()
        #expect(times == whole.times && hidden == whole.hidden)
        #expect(try FFmpegFile(three).decodeErrors() == "")
    }

    /// The segments of a package begin at their times, also within chunks and across their joins.
    @Test func segmentsOfAPackage_beginAtTheirTimes() async throws {
        let scratch = try Scratch()
        defer { withExtendedLifetime(scratch) {} }
        let outcomes = try await run(
            """
            version: 1
            assets: { clip: { pattern: testsrc, size: 160x120, frame_rate: 25, duration: 24s } }
            jobs:
              one:
                asset: clip
                outputs: { hd: { tracks: [ { video: first, encode: { codec: h264, preset: ultrafast, parallel: 2 } } ] } }
                package: { formats: [hls], segment: 4s, destination: p }

            """, in: scratch.path)
        _ = try success(outcomes)
        let playlist = try String(contentsOfFile: scratch.file("p/hd/playlist.m3u8"), encoding: .utf8)
        #expect(
            playlist.split(separator: "\n").filter { $0.hasPrefix("#EXTINF") }
                == Array(repeating: "#EXTINF:4.000000,", count: 6))
        let (times, hidden) = try FFmpegFile(scratch.file("p/master.m3u8")).frames()
        #expect(times.count == 600 && hidden == 0)
    }
}
