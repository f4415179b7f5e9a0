import Foundation
import JobRun
import Media
import TestSupport
import Testing

/// With `limit: { size }`, the file never exceeds the size, all tracks end together, and their samples equal the
/// samples of an unlimited output.
@Suite struct SizeLimitTests {
    private func size(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }

    private func source(_ options: [String], in scratch: borrowing Scratch, seconds: Int = 8) throws -> String
    {
        let path = scratch.file("s.mkv")
        let result = try program(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=\(seconds)", "-f",
                "lavfi", "-i", "aevalsrc='0.5*sin(2*PI*t*(200+150*t))':d=\(seconds):s=48000",
            ] + options + [path])
        #expect(result.status == 0, "\(result.errors)")
        return path
    }

    /// Verifies that the output contains the source's first frames at their times, and that it can be decoded.
    private func expectPrefix(_ output: FFmpegFile, of source: FFmpegFile, isCopy: Bool) throws -> Int {
        let (before, after) = (try source.decodedFrames(), try output.decodedFrames())
        #expect(after.count > 0 && after.count < before.count)
        // Times of a transport stream are relative to its first packet, which may be encoder delay.
        let shift = (after.first?.time ?? 0) - (before.first?.time ?? 0)
        #expect(abs(shift) < (output.path.hasSuffix(".ts") ? 0.022 : 0.0011))
        for (frame, original) in zip(after, before) {
            #expect(abs(frame.time - shift - original.time) < 0.0011)
            if isCopy { #expect(frame.hash == original.hash) }
        }
        #expect(try output.decodeErrors() == "")
        return after.count
    }

    /// Verifies that the last edit of the second track ends at the given time.
    private func expectAudioEnds(at end: Double, in output: String) throws {
        let edit = try #require(try FFmpegFile(output).editDurations()[1])
        #expect(abs(edit.empty + edit.media - end) < 0.0001, "\(edit)")
    }

    @Test(arguments: [
        (["-c:v", "libx264", "-bf", "3", "-b_strategy", "0"], "mp4"),
        (["-c:v", "libx264", "-bf", "3", "-x264-params", "b-pyramid=strict:open-gop=1"], "mov"),
        (["-c:v", "libx264", "-bf", "0"], "mkv"), (["-c:v", "libx264", "-bf", "2"], "ts"),
        (["-c:v", "libx265", "-x265-params", "log-level=none"], "mp4"), (["-c:v", "mpeg2video"], "ts"),
        (["-c:v", "libx264", "-bf", "3", "-vf", "select='not(eq(mod(n,7),3))'", "-fps_mode", "vfr"], "mkv"),
    ])
    func copiedTracksEndTogether(_ options: [String], _ container: String) async throws {
        let scratch = try Scratch()
        let path = try source(options + ["-c:a", "aac", "-b:a", "96k"], in: scratch)
        for limit in [40_000, 150_000] {
            let result = try success(
                try await run(
                    """
                    version: 1
                    jobs:
                      j:
                        asset: ./s.mkv
                        limit: { size: \(limit) }
                        tracks:
                          - { video: first, copy: true }
                          - { audio: first, copy: true }
                        destination: o\(limit).\(container)
                    """, in: scratch.path))
            let output = scratch.file("o\(limit).\(container)")
            #expect(try size(output) <= limit)
            if limit > 100_000 { #expect(try size(output) > limit * 3 / 4) }
            #expect(result.warnings.count == 1 && result.warnings[0].contains("because of the `limit`"))
            _ = try expectPrefix(FFmpegFile(output), of: FFmpegFile(path), isCopy: true)
            let end = result.outputs[0].duration.seconds
            if container == "mp4" || container == "mov" {
                try expectAudioEnds(at: end, in: output)
            } else {
                // Only whole packets within the limit.
                let decoded = try FFmpegFile(output).samples(channels: 1, rate: 48_000).count
                let audio = Double(decoded - (try FFmpegFile(path).samplesBeforeZero())) / 48_000
                #expect(audio <= end + 0.001 && audio > end - 0.045)
            }
        }
    }

    @Test(arguments: [
        ("h264, crf: 18", "aac", "mp4"), ("hevc, crf: 20", "pcm_s16le", "mov"),
        ("vp9, crf: 20", "opus", "webm"),
        ("h264, bitrate: 2M, passes: 2", "opus", "mkv"), ("ffv1", "pcm_s16le", "mkv"),
        ("h264, crf: 18", "ac3", "ts"),
    ])
    func encodedTracksEndTogether(_ video: String, _ audio: String, _ container: String) async throws {
        let scratch = try Scratch()
        let path = try source(["-c:v", "ffv1", "-c:a", "pcm_s16le"], in: scratch, seconds: 4)
        let limit = video == "ffv1" ? 1_000_000 : audio == "pcm_s16le" ? 300_000 : 90_000
        let result = try success(
            try await run(
                """
                version: 1
                jobs:
                  j:
                    asset: ./s.mkv
                    limit: { size: \(limit) }
                    tracks:
                      - { video: first, encode: { codec: \(video) } }
                      - { audio: first, encode: { codec: \(audio) } }
                    destination: o.\(container)
                    expect: { similarity: { ssim: { min: 0.7 } }, decodes: true }
                """, in: scratch.path))
        let output = scratch.file("o.\(container)")
        #expect(try size(output) <= limit)
        #expect(try size(output) > limit * 2 / 3)
        _ = try expectPrefix(FFmpegFile(output), of: FFmpegFile(path), isCopy: video == "ffv1")
        let (wanted, found) = (
            try FFmpegFile(path).audio(rate: 48_000),
            try FFmpegFile(output).samples(channels: 1, rate: 48_000)
        )
        if container == "mp4" || container == "mov" {
            try expectAudioEnds(at: result.outputs[0].duration.seconds, in: output)
        }
        let shift = lag(Array(wanted.prefix(found.count)), found, reach: 480)
        #expect(abs(shift.lag) <= (container == "mp4" || container == "mov" ? 1 : 300), "\(shift)")
    }

    @Test(arguments: [
        ("aac", "m4a"), ("aac", "adts"), ("mp3", "mp3"), ("opus", "ogg"), ("vorbis", "ogg"),
        ("pcm_s24le", "wav"), ("pcm_s16le", "aiff"), ("opus", "mkv"), ("aac", "ts"),
    ])
    func audioFilesFitTheLimit(_ codec: String, _ container: String) async throws {
        let scratch = try Scratch()
        let path = try source(["-vn", "-c:a", "pcm_s16le"], in: scratch)
        let limit =
            container == "wav" ? 800_000 : container == "aiff" ? 300_000 : codec == "vorbis" ? 14_000 : 60_000
        let result = try success(
            try await run(
                """
                version: 1
                jobs:
                  j:
                    asset: ./s.mkv
                    container: \(container)
                    limit: { size: \(limit) }
                    tracks: [ { audio: first, encode: { codec: \(codec) } } ]
                    destination: o.\(container)
                """, in: scratch.path))
        let output = scratch.file("o.\(container)")
        let bytes = try size(output)
        #expect(bytes <= limit)
        #expect(bytes > limit * 3 / 4)
        #expect(result.warnings.count == 1)
        let (wanted, found) = (
            try FFmpegFile(path).audio(rate: 48_000),
            try FFmpegFile(output).samples(channels: 1, rate: 48_000)
        )
        #expect(abs(Double(found.count) / 48_000 - result.outputs[0].duration.seconds) < 0.06)
        let shift = lag(Array(wanted.prefix(found.count)), found, reach: 1200)
        #expect(shift.correlation > 0.95, "\(shift)")
    }

    @Test(arguments: ["mp4", "mkv"]) func chaptersAndSubtitlesEndWithTheOutput(_ container: String)
        async throws
    {
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
            END=6000
            title=two
            [CHAPTER]
            TIMEBASE=1/1000
            START=6000
            END=8000
            title=three
            """, to: "c.txt")
        try scratch.write(
            "1\n00:00:00,200 --> 00:00:00,900\nfirst\n\n2\n00:00:01,000 --> 00:00:07,500\nlong\n\n"
                + "3\n00:00:07,600 --> 00:00:07,900\nlast\n", to: "c.srt")
        _ = try source(
            [
                "-i", scratch.file("c.txt"), "-i", scratch.file("c.srt"), "-map", "0", "-map", "1", "-map",
                "3",
                "-map_chapters", "2", "-c:v", "libx264", "-c:a", "aac", "-c:s", "srt",
            ], in: scratch)
        let result = try success(
            try await run(
                """
                version: 1
                jobs:
                  j:
                    asset: ./s.mkv
                    limit: { size: 200kB }
                    tracks:
                      - { video: first, copy: true }
                      - { audio: first, copy: true }
                      - { subtitle: first, encode: { codec: \(container == "mp4" ? "mov_text" : "srt") } }
                    destination: o.\(container)
                """, in: scratch.path))
        let end = result.outputs[0].duration.seconds
        #expect(end > 1.5 && end < 6)
        let ffmpegFile = FFmpegFile(scratch.file("o.\(container)"))
        let chapters = try ffmpegFile.probe(["-show_chapters"])["chapters"] as? [[String: Any]] ?? []
        #expect(chapters.count == 2)
        let last = Double(chapters.last?["end_time"] as? String ?? "") ?? 0
        #expect(abs(last - end) < 0.0021)
        let text = try program(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-copyts", "-i", scratch.file("o.\(container)"), "-map", "0:s",
                "-f",
                "srt", "-",
            ])
        let cues = String(decoding: text.output, as: UTF8.self)
        #expect(cues.contains("long") && !cues.contains("last"))
        let times = cues.split(separator: "\n").filter { $0.contains("-->") }
        #expect(times.count == 2)
        let clock = times.last?.split(separator: " ").last?.split(separator: ":").map {
            Double($0.replacingOccurrences(of: ",", with: ".")) ?? 0
        }
        #expect(abs((clock?.last ?? 0) - end) < 0.0021, "\(times)")
    }

    /// A track that ends long before the others doesn't delay them and isn't cut.
    @Test(arguments: ["2", "0.04"]) func videoThatEndsEarlyIsComplete(_ seconds: String) async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=\(seconds)", "-f", "lavfi", "-i",
            "aevalsrc='0.5*sin(2*PI*t*(200+150*t))':d=20:s=48000", "-f", "lavfi", "-i",
            "testsrc=s=160x120:r=25:d=1", "-map", "0", "-map", "1", "-map", "2", "-c:v", "libx264", "-bf",
            "2",
            "-c:a", "aac", "-b:a", "96k", scratch.file("s.mp4"))
        let result = try success(
            try await run(
                """
                version: 1
                jobs:
                  j:
                    asset: ./s.mp4
                    limit: { size: 240kB }
                    tracks:
                      - { video: all, copy: true }
                      - { audio: first, copy: true }
                    destination: o.mp4
                """, in: scratch.path))
        let (before, after) = (FFmpegFile(scratch.file("s.mp4")), FFmpegFile(scratch.file("o.mp4")))
        #expect(result.outputs[0].duration.seconds > 5 && result.outputs[0].duration.seconds < 19)
        #expect(try after.decodedFrames().map(\.hash) == before.decodedFrames().map(\.hash))
        #expect(try after.stream("v:1", "nb_frames")["nb_frames"] as? String == "25")
        let edit = try #require(try after.editDurations()[2])
        #expect(abs(edit.empty + edit.media - result.outputs[0].duration.seconds) < 0.0001)
    }

    /// Frames of long duration are kept: the output may end while one is shown.
    @Test(arguments: [
        ("testsrc2=s=320x240:r=1/4:d=20", "mp4", 60_000), ("testsrc2=s=320x240:r=1/4:d=20", "mkv", 60_000),
        ("testsrc2=s=160x120:r=1/480:d=960", "mp4", 500_000_000),
        ("testsrc2=s=160x120:r=1/480:d=960", "mkv", 1_000_000),
    ])
    func framesOfLongDurationAreKept(_ frame: String, _ container: String, _ limit: Int) async throws {
        let scratch = try Scratch()
        let seconds = frame.split(separator: "=").last ?? ""
        let isSlides = frame.contains("r=1/4:")
        try ffmpeg(
            "-f", "lavfi", "-i", frame, "-f", "lavfi", "-i", "sine=r=48000:d=\(seconds)", "-f", "lavfi",
            "-i",
            frame, "-map", "0", "-map", "1", "-map", "2", "-c:v", "libx264", "-bf", "2", "-c:a", "aac",
            "-b:a",
            "32k", scratch.file("s.mp4"))
        let result = try success(
            try await run(
                """
                version: 1
                jobs:
                  j:
                    asset: ./s.mp4
                    limit: { size: \(limit) }
                    tracks:
                      - { video: all, copy: true }
                      - { audio: first, copy: true }
                    destination: o.\(container)
                """, in: scratch.path))
        let output = scratch.file("o.\(container)")
        let bytes = try size(output)
        #expect(bytes <= limit)
        if limit < 100_000_000 {
            // If the next slides don't fit, the output ends before them.
            #expect(bytes > limit / (isSlides ? 2 : 4) * (isSlides ? 1 : 3), "\(bytes) of \(limit)")
            #expect(result.warnings.count == 1)
        } else {
            #expect(result.warnings.isEmpty)
        }
        let end = result.outputs[0].duration.seconds
        for track in 0..<2 {
            let packets = try FFmpegFile(output).probe(["-show_packets", "-select_streams", "v:\(track)"])[
                "packets"]
            let times = (packets as? [[String: Any]] ?? []).compactMap {
                Double($0["pts_time"] as? String ?? "")
            }
            let step = isSlides ? 4.0 : 480
            #expect(times.count == Int((end / step).rounded(.up)), "\(times) until \(end) s")
        }
        guard container == "mp4", isSlides else { return }
        for edit in try FFmpegFile(output).editDurations() {
            let edit = try #require(edit)
            #expect(abs(edit.empty + edit.media - end) < 0.001, "\(edit)")
        }
    }

    @Test func subtitleFilesFitTheLimit() async throws {
        let scratch = try Scratch()
        let cues = (0..<200).map { number in
            let at = { String(format: "00:%02d:%02d,%03d", $0 / 60_000, $0 / 1000 % 60, $0 % 1000) }
            return
                "\(number + 1)\n\(at(number * 1000)) --> \(at(number * 1000 + 2500))\ncue number \(number)\n"
        }
        try scratch.write(cues.joined(separator: "\n"), to: "s.srt")
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  j:
                    asset: ./s.srt
                    limit: { size: 4kB }
                    tracks: [ { subtitle: first, copy: true } ]
                    destination: o.srt
                """, in: scratch.path))
        let text = try String(contentsOfFile: scratch.file("o.srt"), encoding: .utf8)
        let kept = text.components(separatedBy: "-->").count - 1
        #expect(text.utf8.count <= 4000 && kept > 15 && kept < 70, "\(kept) cues")
        // The last cues end with the output.
        #expect(text.contains("--> 00:00:\(kept),000"), "\(text.suffix(200))")
    }

    @Test func outputWithinTheLimitIsUnchanged() async throws {
        let scratch = try Scratch()
        _ = try source(["-c:v", "libx264", "-c:a", "aac"], in: scratch, seconds: 2)
        let outcomes = try await run(
            """
            version: 1
            x-job: &job
              asset: ./s.mkv
              tracks: [ { video: first, copy: true }, { audio: first, copy: true } ]
            jobs:
              plain: { <<: *job, destination: plain.mkv }
              fits: { <<: *job, limit: { size: 50MB }, destination: fits.mkv }
              tiny: { <<: *job, limit: { size: 500B }, destination: tiny.mkv }
            """, in: scratch.path)
        #expect(try success(outcomes, "fits").warnings.isEmpty)
        let (plain, fits) = (
            try program(
                "ffmpeg",
                ["-v", "error", "-i", scratch.file("plain.mkv"), "-c", "copy", "-f", "framemd5", "-"]),
            try program(
                "ffmpeg",
                ["-v", "error", "-i", scratch.file("fits.mkv"), "-c", "copy", "-f", "framemd5", "-"])
        )
        #expect(plain.output.count > 1000 && plain.output == fits.output)
        #expect(try size(scratch.file("plain.mkv")) == size(scratch.file("fits.mkv")))
        guard case .failed(let failure) = outcomes.first(where: { $0.id == "tiny" })?.outcome else {
            Issue.record("nothing fits into 500 bytes")
            return
        }
        #expect(failure.message.contains("no sample fits"))
        #expect(!FileManager.default.fileExists(atPath: scratch.file("tiny.mkv")))
    }
}
