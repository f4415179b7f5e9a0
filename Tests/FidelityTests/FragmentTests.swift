import Foundation
import JobRun
import Media
import TestSupport
import Testing

/// A file with `fragment` contains the same samples at the same times as an unfragmented file. Its fragments can be
/// played separately.
@Suite struct FragmentTests {
    /// Returns the packets of a track with their times; with hashes of their data on request, since not all encoders
    /// are deterministic within a process.
    private func packets(_ path: String, _ selector: String, withData: Bool) throws -> [String] {
        let result = try program(
            "ffprobe",
            [
                "-v", "error", "-advanced_editlist", "0", "-select_streams", selector, "-show_data_hash",
                "md5", "-show_entries", withData ? "packet=pts,dts,size,data_hash" : "packet=pts,dts", "-of",
                "csv=p=0", path,
            ])
        return String(decoding: result.output, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func source(_ options: [String], in scratch: borrowing Scratch) throws {
        let result = try program(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=6", "-f", "lavfi",
                "-i", "aevalsrc='0.5*sin(2*PI*t*(200+150*t))':d=6.03:s=48000",
            ] + options + [scratch.file("s.mkv")])
        #expect(result.status == 0, "\(result.errors)")
    }

    /// Runs a job without fragments, and with fragments of half a second.
    private func both(
        _ video: String, _ audio: String, _ container: String, more: String = "",
        in scratch: borrowing Scratch
    ) async throws -> (whole: String, parts: String) {
        for name in ["whole", "parts"] {
            _ = try success(
                try await run(
                    """
                    version: 1
                    jobs:
                      j:
                        asset: ./s.mkv
                        tracks:
                          - { video: first, \(video) }
                          - { audio: first, \(audio) }
                        \(name == "parts" ? "fragment: 500ms" : "x-whole: true")
                        \(more.isEmpty ? "x-more: none" : more)
                        destination: \(name).\(container)
                    """, in: scratch.path))
        }
        return (scratch.file("whole.\(container)"), scratch.file("parts.\(container)"))
    }

    @Test(arguments: [
        (["-c:v", "libx264", "-g", "20", "-bf", "3", "-c:a", "aac"], "copy: true", "copy: true", "mp4", ""),
        (
            [
                "-vf", "select='not(eq(mod(n,7),3))'", "-fps_mode", "vfr", "-c:v", "libx264", "-g", "9",
                "-c:a", "aac",
            ], "copy: true", "copy: true", "mov", ""
        ),
        (
            [
                "-c:v", "libx264", "-g", "10", "-af", "aselect='not(between(t,0.95,1.2))'", "-c:a",
                "libmp3lame",
            ],
            "copy: true", "copy: true", "mov", ""
        ),
        (
            ["-c:v", "ffv1", "-c:a", "flac"], "encode: { codec: h264, keyframe_interval: 10 }",
            "encode: { codec: aac }",
            "mp4", "range: { start: 0.53s, end: 5.61s }"
        ),
        (
            ["-c:v", "ffv1", "-c:a", "flac"], "encode: { codec: hevc, preset: ultrafast }",
            "encode: { codec: opus }",
            "mp4", "optimize_for_network: true"
        ),
        (
            ["-c:v", "ffv1", "-c:a", "flac"], "encode: { codec: prores }", "encode: { codec: pcm_s24le }",
            "mov", ""
        ),
        (["-c:v", "ffv1", "-c:a", "flac"], "encode: { codec: h264 }", "encode: { codec: flac }", "mp4", ""),
        (
            ["-c:v", "libx264", "-g", "25", "-bf", "2", "-c:a", "aac"], "copy: true", "copy: true", "mov",
            "{ start: 0.53s, end: 5.61s }"
        ),
    ])
    func fragmentsHaveTheSamplesOfAnUnfragmentedFile(
        _ options: [String], _ video: String, _ audio: String, _ container: String, _ more: String
    ) async throws {
        let scratch = try Scratch()
        try source(options, in: scratch)
        let keys = more.hasPrefix("{") ? "cut: smart\n    range: \(more)" : more
        let (whole, parts) = try await both(video, audio, container, more: keys, in: scratch)
        for selector in ["v:0", "a:0"] {
            // libavformat determines the packet size of PCM in unfragmented files.
            if selector == "a:0", audio.contains("pcm") { continue }
            let isCopy = (selector == "v:0" ? video : audio) == "copy: true" && !more.hasPrefix("{")
            let before = try packets(whole, selector, withData: isCopy)
            let after = try packets(parts, selector, withData: isCopy)
            #expect(before.count > 50 && before == after)
        }
        // ffmpeg ignores edit lists of fragmented files, except for their start.
        let audio = try FFmpegFile(whole).samples(channels: 1, rate: 48_000)
        let fragmented = try FFmpegFile(parts).samples(channels: 1, rate: 48_000)
        let isThere = (0...max(0, fragmented.count - audio.count)).contains {
            fragmented.count - $0 >= audio.count && fragmented[$0..<($0 + audio.count)].elementsEqual(audio)
        }
        #expect(audio.count > 200_000 && fragmented.count - audio.count < 5000 && isThere)
        let edits = zip(try MovieBoxes(whole).editDurations, try MovieBoxes(parts).editDurations)
        for (before, after) in edits.prefix(2) {
            let (before, after) = (try #require(before), try #require(after))
            #expect(abs(before.empty - after.empty) < 1e-6 && abs(before.media - after.media) < 1e-6)
        }
        // Decoded: the same frames at the same times.
        #expect(try FFmpegFile(parts).decodeErrors() == "")
        let (first, second) = (try FFmpegFile(whole).decodedFrames(), try FFmpegFile(parts).decodedFrames())
        #expect(first.map(\.time) == second.map(\.time))
        if video == "copy: true", !more.hasPrefix("{") {
            #expect(first.map(\.hash) == second.map(\.hash))
        }

        let boxes = try MovieBoxes(parts)
        let names = boxes.outline.map(\.name)
        #expect(names.prefix(4) == ["ftyp", "moov", "moof", "mdat"] && names.last == "mfra")
        let scale = try FFmpegFile(parts).timescale("v:0")
        let starts = boxes.fragmentStarts(trackID: 1).map { Double($0) / scale }
        #expect(starts.count >= 5)
        for (start, next) in zip(starts, starts.dropFirst()) {
            #expect(next - start >= 0.5 - 0.001 && next - start < 1.05, "\(starts)")
        }
    }

    /// A truncated file plays up to its end, like a partial download.
    @Test func truncatedFilePlaysUpToItsEnd() async throws {
        let scratch = try Scratch()
        try source(["-c:v", "libx264", "-g", "12", "-c:a", "aac"], in: scratch)
        let (_, parts) = try await both("copy: true", "copy: true", "mp4", in: scratch)
        let boxes = try MovieBoxes(parts)
        let ends = boxes.outline.filter { $0.name == "mdat" }.map(\.end)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: parts))
        let cut = scratch.file("cut.mp4")
        // In the middle of the sixth fragment.
        try bytes.prefix((ends[4] + ends[5]) / 2).write(to: URL(fileURLWithPath: cut))
        let scale = try FFmpegFile(parts).timescale("v:0")
        let start = Double(boxes.fragmentStarts(trackID: 1)[5]) / scale
        let result = try program(
            "ffmpeg", ["-v", "quiet", "-i", cut, "-map", "0:v", "-f", "framemd5", "-"])
        let lines = String(decoding: result.output, as: UTF8.self).split(separator: "\n").filter {
            !$0.hasPrefix("#")
        }
        #expect(Double(lines.count) / 25 >= start - 0.1, "\(lines.count) of \(start)")
    }

    /// Subtitles, chapters, timecode, title and language are kept, and sparse subtitles don't delay other tracks.
    @Test func subtitlesChaptersAndTagsAreKept() async throws {
        let scratch = try Scratch()
        try scratch.write(
            "1\n00:00:04,500 --> 00:00:05,000\nlate\n\n2\n00:00:05,500 --> 00:00:05,900\nlater\n",
            to: "c.srt")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=6", "-f", "lavfi", "-i", "sine=d=6", "-i",
            scratch.file("c.srt"), "-c:v", "libx264", "-g", "12", "-c:a", "aac", "-c:s", "mov_text",
            "-metadata:s:a:0", "language=deu", "-timecode", "01:00:00:00", scratch.file("s.mp4"))
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  j:
                    asset: ./s.mp4
                    tracks:
                      - { video: first, copy: true }
                      - { audio: first, copy: true }
                      - { subtitle: first, copy: true }
                    chapters: [ { start: 0s, title: one }, { start: 3s, title: two } ]
                    metadata: { set: { title: Parts } }
                    fragment: 1s
                    destination: o.mp4
                """, in: scratch.path))
        // As read from the output, a subtitle lasts until the next sample.
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  j: { asset: ./o.mp4, tracks: [ { subtitle: first, encode: { codec: srt } } ], destination: o.srt }
                """, in: scratch.path))
        let text = String(
            decoding: try Data(contentsOf: URL(fileURLWithPath: scratch.file("o.srt"))), as: UTF8.self)
        #expect(
            text.contains("00:00:04,500 --> 00:00:05,000") && text.contains("00:00:05,500 --> 00:00:05,900"))
        let ffmpegFile = FFmpegFile(scratch.file("o.mp4"))
        let all = try ffmpegFile.probe(["-show_chapters", "-show_format", "-show_streams"])
        let chapters = try #require(all["chapters"] as? [[String: Any]])
        #expect(chapters.map { ($0["tags"] as? [String: Any])?["title"] as? String } == ["one", "two"])
        #expect(chapters.map { $0["start_time"] as? String } == ["0.000000", "3.000000"])
        let format = try #require(all["format"] as? [String: Any])
        #expect((format["tags"] as? [String: Any])?["title"] as? String == "Parts")
        let streams = try #require(all["streams"] as? [[String: Any]])
        let tags = streams.map { $0["tags"] as? [String: Any] ?? [:] }
        #expect(tags[1]["language"] as? String == "deu")
        #expect(tags.contains { $0["timecode"] as? String == "01:00:00:00" })
        // ffprobe doesn't report the duration of samples in fragments; the one after a subtitle is empty.
        let list = try ffmpegFile.probe(["-select_streams", "s", "-show_entries", "packet=pts_time,size"])
        let cues = try #require(list["packets"] as? [[String: String]])
        let shown = cues.map { "\(Double($0["pts_time"] ?? "") ?? -1) \($0["size"] == "2" ? "-" : "cue")" }
        #expect(shown.filter { $0 != "0.0 -" } == ["4.5 cue", "5.0 -", "5.5 cue", "5.9 -"])
        #expect(try MovieBoxes(scratch.file("o.mp4")).fragmentStarts(trackID: 1).count >= 5)
    }

    /// A fragmented source ends at the end of its edit list, exact to the sample. If the edit list covers only the
    /// samples of the movie box, as some recorders write it, the source is read completely.
    @Test(arguments: [nil, 1]) func editListsOfFragmentedSourcesAreApplied(_ seconds: Int?) async throws {
        let scratch = try Scratch()
        try source(["-c:v", "libx264", "-g", "12", "-c:a", "flac"], in: scratch)
        let (_, parts) = try await both("copy: true", "encode: { codec: aac }", "mp4", in: scratch)
        if let seconds {
            var bytes = try Data(contentsOf: URL(fileURLWithPath: parts))
            for track in 0..<2 {
                let (offset, scale) = try #require(try MovieBoxes(parts).lastEditOffset(track: track))
                for i in 0..<4 { bytes[offset + i] = UInt8((seconds * scale) >> (24 - 8 * i) & 255) }
            }
            try bytes.write(to: URL(fileURLWithPath: parts))
        }
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  j:
                    asset: ./parts.mp4
                    tracks: [ { audio: first, encode: { codec: pcm_s16le } } ]
                    destination: o.wav
                """, in: scratch.path))
        let count = try FFmpegFile(scratch.file("o.wav")).samples(channels: 1, rate: 48_000).count
        // 6.03 s; without an end, the last packet is presented completely.
        #expect(seconds == nil ? count == 289_440 : (289_440..<290_600).contains(count), "\(count)")
    }

    /// For audio that starts after the video, and whose encoder has a delay, the empty edit and the start are written
    /// and read.
    /// AAC of a transport stream has ADTS headers, which movies don't have.
    @Test(arguments: ["fragment: 500ms", "x-whole: true"]) func copiedADTSIsUnwrapped(_ more: String)
        async throws
    {
        let scratch = try Scratch()
        try source(["-c:v", "libx264", "-g", "20", "-c:a", "aac", "-f", "mpegts"], in: scratch)
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  j:
                    asset: ./s.mkv
                    tracks: [ { video: first, copy: true }, { audio: first, copy: true } ]
                    destination: o.mp4
                    \(more)
                """, in: scratch.path))
        let output = FFmpegFile(scratch.file("o.mp4"))
        #expect(try output.decodeErrors() == "")
        #expect(
            try output.samples(channels: 1, rate: 48_000)
                == FFmpegFile(scratch.file("s.mkv")).samples(channels: 1, rate: 48_000))
    }

    @Test func lateAudioKeepsItsStart() async throws {
        let scratch = try Scratch()
        let encoded = try program(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=4", "-f", "lavfi",
                "-itsoffset", "1", "-i", "aevalsrc='0.5*sin(2*PI*t*(200+150*t))':d=3:s=48000", "-c:v",
                "libx264", "-g", "10", "-c:a",
                "pcm_s16le", scratch.file("s.mov"),
            ])
        #expect(encoded.status == 0, "\(encoded.errors)")
        for job in [
            "asset: ./s.mov, fragment: 500ms, tracks: [ { video: first, copy: true }, { audio: first, encode: { codec: aac } } ], destination: parts.mp4",
            "asset: ./parts.mp4, tracks: [ { audio: first, encode: { codec: flac } } ], destination: back.mkv",
        ] {
            _ = try success(
                try await run("version: 1\njobs:\n  j: { \(job) }\n", in: scratch.path))
        }
        let edit = try #require(try MovieBoxes(scratch.file("parts.mp4")).editDurations[1])
        #expect(edit.empty == 1 && abs(edit.media - 3) < 0.022)
        let start =
            try FFmpegFile(scratch.file("back.mkv")).stream("a:0", "start_time")["start_time"] as? String
        #expect(start == "1.000000")
        let before = try FFmpegFile(scratch.file("s.mov")).samples(channels: 1, rate: 48_000)
        let after = try FFmpegFile(scratch.file("back.mkv")).samples(channels: 1, rate: 48_000)
        let found = lag(Array(before.prefix(140_000)), Array(after.prefix(140_000)), reach: 480)
        #expect(abs(found.lag) <= 2 && found.correlation > 0.99, "\(found)")
    }

    /// A range that starts in a gap isn't damaged. If the audio starts after zero, ffmpeg's fragmented mp4 has the
    /// encoder's delay at zero, followed by a gap.
    @Test(arguments: ["mp4", "mkv", "wav"]) func rangeThatBeginsInAGapIsIntact(_ container: String)
        async throws
    {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=10", "-f", "lavfi", "-itsoffset", "3", "-i",
            "sine=d=5:r=48000", "-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-c:a", "aac",
            "-movflags", "frag_keyframe+empty_moov", scratch.file("s.mp4"))
        let frames = container == "wav" ? "" : "{ video: first, encode: { codec: h264 } }, "
        let codec = container == "mp4" ? "aac" : "pcm_s16le"
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  j:
                    asset: ./s.mp4
                    range: { start: 2s, end: 6s }
                    tracks: [ \(frames){ audio: first, encode: { codec: \(codec) } } ]
                    destination: o.\(container)
                """, in: scratch.path))
        let output = FFmpegFile(scratch.file("o.\(container)"))
        var audio = try output.samples(channels: 1, rate: 48_000)
        if container != "wav" {
            #expect(try output.stream("a:0", "start_time")["start_time"] as? String == "1.000000")
            audio = [Float](repeating: 0, count: 48_000) + audio
        }
        #expect((192_000...193_024).contains(audio.count), "\(audio.count)")
        let first = try #require(audio.firstIndex { abs($0) > 0.01 })
        #expect((47_900...49_100).contains(first), "\(first)")
    }

    /// Copies of fragmented sources equal those of unfragmented ones, although libavformat doesn't report the durations
    /// of their packets.
    @Test(arguments: ["", "range: { start: 1.6s, end: 4s }", "fragment: 1s"])
    func copiesOfFragmentedSourcesEqualUnfragmentedOnes(_ more: String) async throws {
        let scratch = try Scratch()
        let encoded = try program(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=5", "-f", "lavfi",
                "-i", "sine=d=5.01:r=48000", "-c:v", "libx264", "-g", "20", "-bf", "2", "-c:a", "aac",
                scratch.file("whole.mp4"),
            ])
        #expect(encoded.status == 0, "\(encoded.errors)")
        try ffmpeg(
            "-i", scratch.file("whole.mp4"), "-c", "copy", "-movflags", "frag_keyframe+delay_moov",
            scratch.file("parts.mp4"))
        for name in ["whole", "parts"] {
            _ = try success(
                try await run(
                    """
                    version: 1
                    jobs:
                      j:
                        asset: ./\(name).mp4
                        cut: keyframe
                        \(more.isEmpty ? "x-more: none" : more)
                        tracks: [ { video: first, copy: true }, { audio: first, copy: true } ]
                        destination: \(name)-out.mp4
                    """, in: scratch.path))
        }
        let (whole, parts) = (scratch.file("whole-out.mp4"), scratch.file("parts-out.mp4"))
        for selector in ["v:0", "a:0"] {
            let (a, b) = (
                try packets(whole, selector, withData: true), try packets(parts, selector, withData: true)
            )
            #expect(a.count > 50 && a == b)
        }
        let (a, b) = (try MovieBoxes(whole).editDurations, try MovieBoxes(parts).editDurations)
        #expect(abs(a[0]!.media - b[0]!.media) < 1e-6)
        // An unfragmented source states the exact end of its audio; in ffmpeg's fragmented files, it is exact to a
        // packet.
        #expect(
            more.hasPrefix("range") ? a[1]!.media == b[1]!.media : abs(a[1]!.media - b[1]!.media) < 0.0214)
    }
}
