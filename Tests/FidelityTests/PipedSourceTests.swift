import Foundation
import JobRun
import TestSupport
import Testing

/// Files that were written to a pipe have no length in their header, and are read to their end.
@Suite struct PipedSourceTests {
    /// Writes the output of ffmpeg through a pipe to a file.
    private func piped(_ arguments: [String], to path: String) throws {
        let result = try program("ffmpeg", ["-v", "error", "-nostdin"] + arguments + ["-"])
        #expect(result.status == 0, "\(result.errors)")
        try result.output.write(to: URL(fileURLWithPath: path))
    }

    @Test(
        arguments: [("wav", []), ("wav", ["-rf64", "always"]), ("w64", []), ("au", [])]
            as [(String, [String])])
    func audio_isReadToItsEnd(_ format: String, _ options: [String]) async throws {
        let scratch = try Scratch()
        let codec = format == "au" ? "pcm_s16be" : "pcm_s16le"
        try piped(
            ["-f", "lavfi", "-i", "sine=d=2.01", "-c:a", codec, "-f", format] + options,
            to: scratch.file("s.bin"))
        for policy in ["fail", "skip"] {
            let yaml =
                "version: 1\njobs:\n  it: { asset: ./s.bin, on_damage: \(policy), tracks: [ { audio: first, encode: { codec: pcm_s16le } } ], destination: { path: o.wav, if_exists: replace } }\n"
            _ = try success(try await run(yaml, in: scratch.path))
            #expect(try FFmpegFile(scratch.file("o.wav")).samples(channels: 1, rate: 44_100).count == 88_641)
        }
    }

    @Test(arguments: [("ivf", "libvpx"), ("avi", "mpeg4")])
    func video_hasItsLength(_ format: String, _ codec: String) async throws {
        let scratch = try Scratch()
        try piped(
            ["-f", "lavfi", "-i", "testsrc=d=2:s=64x64:r=25", "-c:v", codec, "-f", format],
            to: scratch.file("s.bin"))
        let yaml =
            "version: 1\njobs:\n  it: { asset: ./s.bin, range: { start: -1s }, tracks: [ { video: first, encode: { codec: h264, preset: ultrafast } } ], destination: o.mp4 }\n"
        _ = try success(try await run(yaml, in: scratch.path))
        let frames = try FFmpegFile(scratch.file("o.mp4")).frames().times.count
        #expect(format == "ivf" ? frames == 25 : (24...26).contains(frames), "\(frames)")
    }

    /// A file that states its length and ends early is damaged.
    @Test func truncatedWave_isDamaged() async throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=d=2", scratch.file("whole.wav"))
        let data = try Data(contentsOf: URL(fileURLWithPath: scratch.file("whole.wav")))
        try data.prefix(100_000).write(to: URL(fileURLWithPath: scratch.file("s.wav")))
        let yaml =
            "version: 1\njobs:\n  it: { asset: ./s.wav, tracks: [ { audio: first, encode: { codec: pcm_s16le } } ], destination: o.wav }\n"
        let records = try await run(yaml, in: scratch.path)
        #expect(throws: ProgramError.self) { try success(records) }
    }

    /// Ogg whose positions don't start at 0, as if cut from a stream, is read to its end.
    @Test(arguments: ["flac", "libopus", "libvorbis"])
    func oggWithOffsetPositions_isReadToItsEnd(_ codec: String) async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "sine=d=5", "-c:a", codec, "-page_duration", "500000", scratch.file("a.ogg"))
        var ogg = OggPages([UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch.file("a.ogg")))))
        for index in ogg.pages.indices where ogg.pages[index].position > 0 {
            ogg.pages[index].position += 100 * 48_000
        }
        try Data(ogg.bytes).write(to: URL(fileURLWithPath: scratch.file("b.ogg")))
        let rate = codec == "libopus" ? 48_000 : 44_100
        for timing in ["fast", "precise"] {
            let records = try await run(
                """
                version: 1
                defaults: { destination: { if_exists: replace } }
                x-a: &a { audio: first, encode: { codec: pcm_s16le } }
                jobs:
                  whole: { asset: { path: ./b.ogg, timing: \(timing) }, tracks: [ *a ], destination: "${job}.wav" }
                  tail: { asset: { path: ./b.ogg, timing: \(timing) }, range: { start: -2s }, tracks: [ *a ], destination: "${job}.wav" }
                  copy: { asset: { path: ./b.ogg, timing: \(timing) }, tracks: [ { audio: first, copy: true } ], destination: "${job}.mka" }
                """, in: scratch.path)
            for record in records { _ = try success(records, record.id) }
            let whole = try FFmpegFile(scratch.file("whole.wav")).samples(channels: 1, rate: rate)
            // For Vorbis, libavformat counts half a short block before the first sample of the first page.
            #expect(
                (5 * rate...5 * rate + (codec == "libvorbis" ? 128 : 0)).contains(whole.count),
                "\(whole.count)")
            let tail = try FFmpegFile(scratch.file("tail.wav")).samples(channels: 1, rate: rate)
            #expect(tail.count == 2 * rate)
            let difference =
                zip(tail, whole.dropFirst(whole.count - tail.count)).map { abs($0 - $1) }.max() ?? 1
            #expect(difference < 0.001, "\(difference)")
            let copy = try FFmpegFile(scratch.file("copy.mka")).samples(channels: 1, rate: rate)
            #expect(abs(copy.count - 5 * rate) <= 1024, "\(copy.count)")
        }
    }
}

/// Real files are decoded to their known number of samples.
@Suite(.enabled(if: TestPaths.media != nil)) struct PipedFileTests {
    @Test(arguments: [("pipe.wav", 96_000), ("oggflac_plus10s.oga", 8000)])
    func samples_areReadToTheEnd(_ name: String, _ count: Int) async throws {
        let scratch = try Scratch()
        let media = try #require(TestPaths.media) + "/reports/" + name
        let yaml =
            "version: 1\njobs:\n  it: { asset: \"\(media)\", tracks: [ { audio: first, encode: { codec: pcm_s16le } } ], destination: o.wav }\n"
        _ = try success(try await run(yaml, in: scratch.path))
        let stream = try FFmpegFile(scratch.file("o.wav")).stream("a:0", "duration_ts")
        #expect(stream["duration_ts"] as? Int == count)
    }
}
