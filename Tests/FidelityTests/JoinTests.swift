import Diagnostics
import Foundation
import JobRun
import TestSupport
import Testing

/// With joined ranges, the output presents the source's ranges one after the other.
@Suite struct JoinTests {
    private static let ranges = [(0.5, 1.2), (3.1, 3.5), (0.1, 0.4)]
    private static let text =
        "[ { start: 0.5s, end: 1.2s }, { start: 3.1s, end: 3.5s }, { start: 0.1s, duration: 0.3s } ]"

    /// Returns the expected frames: the time in the output, and the source's frame number.
    private func wanted(_ times: [Double]) -> [(time: Double, frame: Int)] {
        var offset = 0.0
        var list: [(Double, Int)] = []
        for (start, end) in Self.ranges {
            let onScreen = times.lastIndex { $0 <= start + 1e-6 }
            if let onScreen { list.append((offset, onScreen)) }
            for (index, time) in times.enumerated() where time > start + 1e-6 && time < end - 1e-6 {
                list.append((offset + time - start, index))
            }
            offset += end - start
        }
        return list
    }

    @Test(arguments: [
        (["-g", "12"], "mp4"), (["-g", "250", "-bf", "3"], "mkv"),
        (["-vf", "select='not(eq(mod(n,7),3))'", "-fps_mode", "vfr"], "mov"), (["-bf", "2"], "ts"),
    ])
    func everyRangeShowsTheFramesOfTheSource(_ options: [String], _ container: String) async throws {
        let scratch = try Scratch()
        let source = scratch.file("s.\(container)")
        let result = try program(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=4", "-f", "lavfi",
                "-i", "aevalsrc='sin(2*PI*t*(200+150*t))':d=4:s=48000", "-c:v", "libx264", "-c:a",
                container == "ts" ? "mp2" : container == "mov" ? "pcm_s16le" : "flac", "-strict", "-2",
                // Newer versions of ffmpeg write FLAC with 32 bits, while Tandem writes 24.
                "-sample_fmt", "s16",
            ] + options + [source])
        #expect(result.status == 0, "\(result.errors)")
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  j:
                    asset: ./s.\(container)
                    range: \(Self.text)
                    tracks:
                      - { video: first, encode: { codec: ffv1 } }
                      - { audio: first, encode: { codec: flac } }
                    destination: o.mkv
                """, in: scratch.path))
        let (before, after) = (FFmpegFile(source), FFmpegFile(scratch.file("o.mkv")))
        let originals = try before.decodedFrames()
        let frames = try after.decodedFrames()
        let wanted = wanted(originals.map(\.time))
        #expect(frames.count == wanted.count)
        for (frame, want) in zip(frames, wanted) {
            #expect(abs(frame.time - want.time) < 0.0011)
            #expect(frame.hash == originals[want.frame].hash)
        }
        let audio = try before.audio(rate: 48_000)
        let joined = try FFmpegFile(scratch.file("o.mkv")).samples(channels: 1, rate: 48_000)
        let slices = Self.ranges.flatMap { range -> [Float] in
            Array(audio[Int((range.0 * 48_000).rounded())..<Int((range.1 * 48_000).rounded())])
        }
        #expect(joined.count == slices.count)
        if container == "mp4" || container == "mov" {
            #expect(joined == slices)
        } else {
            let found = lag(slices, joined, reach: 480)
            #expect(abs(found.lag) <= 48 && found.correlation > 0.99, "\(found)")
        }
    }

    @Test func chaptersAndCuesAreMovedAndCut() async throws {
        let scratch = try Scratch()
        try scratch.write(
            """
            ;FFMETADATA1
            [CHAPTER]
            TIMEBASE=1/1000
            START=0
            END=1000
            title=one
            [CHAPTER]
            TIMEBASE=1/1000
            START=1000
            END=4000
            title=two
            """, to: "meta.txt")
        try scratch.write(SubtitleTests.captions, to: "c.srt")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=4", "-i", scratch.file("c.srt"), "-i",
            scratch.file("meta.txt"), "-map", "0", "-map", "1", "-map_metadata", "2", "-c:v", "libx264",
            "-c:s",
            "srt", scratch.file("s.mkv"))
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  j:
                    asset: ./s.mkv
                    range: [ { start: 0.5s, end: 1.25s }, { start: 2.5s, end: 3s } ]
                    tracks:
                      - { video: first, encode: { codec: h264, preset: ultrafast } }
                      - { subtitle: first, copy: true }
                    destination: o.mkv
                """, in: scratch.path))
        let output = FFmpegFile(scratch.file("o.mkv"))
        let chapters = try output.probe(["-show_chapters"])["chapters"] as? [[String: Any]] ?? []
        let descriptions = chapters.map { chapter in
            "\(chapter["start_time"] ?? "") \(chapter["end_time"] ?? "") \((chapter["tags"] as? [String: String])?["title"] ?? "")"
        }
        #expect(
            descriptions == [
                "0.000000 0.500000 one", "0.500000 0.750000 two", "0.750000 1.250000 two",
            ], "\(descriptions)")
        let cues = try output.cues()
        #expect(cues.map { [$0.start, $0.end] } == [[0, 0.75], [0.75, 0.85], [0.95, 1.25]], "\(cues)")
    }

    /// A range without audio is silent in the output, and audio after it stays in sync.
    @Test func rangeWithoutAudioIsSilent() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=4", "-itsoffset", "1", "-f", "lavfi", "-i",
            "sine=d=1:r=48000", "-map", "0", "-map", "1", "-c:v", "libx264", "-c:a", "pcm_s16le",
            scratch.file("s.mov"))
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  j:
                    asset: ./s.mov
                    range: [ { start: 1.2s, end: 1.5s }, { start: 2.5s, end: 3s }, { start: 1.5s, end: 1.8s } ]
                    tracks:
                      - { video: first, encode: { codec: h264, preset: ultrafast } }
                      - { audio: first, encode: { codec: flac, normalize: { integrated: -23, true_peak: -1 } } }
                    destination: o.mkv
                    expect: { duration: { is: 1.1s, within: 1ms }, silence: { max: 0.5s } }
                """, in: scratch.path))
        let audio = try FFmpegFile(scratch.file("o.mkv")).samples(channels: 1, rate: 48_000)
        #expect(audio.count == 52_800)
        // Only dither.
        let loud = (14_400..<38_400).filter { abs(audio[$0]) > 1e-4 }
        #expect(loud.isEmpty, "\(loud.count) samples from \(loud.first ?? 0) to \(loud.last ?? 0)")
        #expect(audio[0..<14_400].contains { abs($0) > 0.05 } && audio[38_400...].contains { abs($0) > 0.05 })
    }

    @Test func joinedRangesAreLimitedAndCopied() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=4", "-c:v", "libx264", "-g", "25",
            scratch.file("s.mp4"))
        func job(_ tracks: String, _ more: String) -> String {
            """
            version: 1
            jobs:
              j:
                asset: ./s.mp4
                range: [ { start: 0s, end: 1s }, { start: 2s, end: 3s }, { start: 1s, end: 2s } ]
                tracks: [ \(tracks) ]
                destination: o.mp4
            \(more)
            """
        }
        let result = try success(
            try await run(
                job(
                    "{ video: first, encode: { codec: h264, preset: ultrafast } }",
                    "    limit: { duration: 1.5s }"),
                in: scratch.path))
        #expect(result.outputs[0].tracks.count == 1)
        #expect(try FFmpegFile(scratch.file("o.mp4")).frames().times.count == 38)
        for more in ["", "    cut: smart"] {
            _ = try success(try await run(job("{ video: first, copy: true }", more), in: scratch.path))
            let source = try FFmpegFile(scratch.file("s.mp4")).decodedFrames().map(\.hash)
            let copied = try FFmpegFile(scratch.file("o.mp4")).decodedFrames().map(\.hash)
            #expect(copied == Array(source[0..<25] + source[50..<75] + source[25..<50]))
        }
    }

    /// A range without samples of a track keeps its duration, even if it is the first one.
    @Test func firstRangeWithoutSamplesKeepsItsDuration() async throws {
        let scratch = try Scratch()
        try scratch.write("1\n00:00:03,000 --> 00:00:03,500\nlate\n", to: "c.srt")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=4", "-itsoffset", "2", "-f", "lavfi", "-i",
            "sine=d=2:r=48000", "-i", scratch.file("c.srt"), "-map", "0", "-map", "1", "-map", "2", "-c:v",
            "libx264", "-c:a", "pcm_s16le", "-c:s", "srt", scratch.file("s.mkv"))
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  j:
                    asset: ./s.mkv
                    range: [ { start: 0s, end: 1s }, { start: 2.5s, end: 4s } ]
                    tracks:
                      - { video: first, encode: { codec: h264, preset: ultrafast } }
                      - { audio: first, encode: { codec: flac } }
                      - { subtitle: first, copy: true }
                    destination: o.mkv
                """, in: scratch.path))
        let output = FFmpegFile(scratch.file("o.mkv"))
        let cue = try #require(try output.cues().first)
        #expect(abs(cue.start - 1.5) < 0.002 && abs(cue.end - 2) < 0.002, "\(cue)")
        let audio = try output.audio(rate: 48_000)
        let first = try #require(audio.firstIndex { abs($0) > 0.01 })
        #expect(abs(first - 48_000) < 100 && abs(audio.count - 120_000) <= 96, "\(first) \(audio.count)")
    }
}
