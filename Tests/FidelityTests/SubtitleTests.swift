import Foundation
import JobRun
import TestSupport
import Testing

/// A conversion between text subtitle formats, as a track or a file.
struct SubtitlePath: Sendable, CustomTestStringConvertible {
    let source: String
    let container: String
    let action: String
    var target: String
    var testDescription: String { "\(source) in \(container) to \(target), \(action)" }

    static let all = [
        SubtitlePath(source: "srt", container: "mkv", action: "copy: true", target: "mkv"),
        SubtitlePath(source: "srt", container: "mkv", action: "encode: { codec: mov_text }", target: "mp4"),
        SubtitlePath(source: "srt", container: "mkv", action: "encode: { codec: mov_text }", target: "mov"),
        SubtitlePath(source: "srt", container: "mkv", action: "encode: { codec: webvtt }", target: "vtt"),
        SubtitlePath(source: "srt", container: "srt", action: "encode: { codec: ass }", target: "ass"),
        SubtitlePath(source: "srt", container: "srt", action: "copy: true", target: "srt"),
        SubtitlePath(source: "ass", container: "mkv", action: "copy: true", target: "mkv"),
        SubtitlePath(source: "ass", container: "mkv", action: "encode: { codec: srt }", target: "srt"),
        SubtitlePath(source: "ass", container: "ass", action: "encode: { codec: webvtt }", target: "vtt"),
        SubtitlePath(
            source: "webvtt", container: "mkv", action: "encode: { codec: mov_text }", target: "mp4"),
        SubtitlePath(source: "webvtt", container: "mkv", action: "copy: true", target: "webm"),
        SubtitlePath(source: "mov_text", container: "mp4", action: "copy: true", target: "mp4"),
        SubtitlePath(source: "mov_text", container: "mp4", action: "copy: true", target: "mov"),
        SubtitlePath(source: "mov_text", container: "mp4", action: "encode: { codec: srt }", target: "srt"),
        SubtitlePath(source: "mov_text", container: "mp4", action: "encode: { codec: ass }", target: "mkv"),
    ]
}

/// A subtitle event as ffmpeg writes it in SubRip.
struct Cue: Hashable {
    var start: Double
    var end: Double
    var text: String
}

extension FFmpegFile {
    /// Returns the events of the first subtitle track, with the file's own times.
    func cues() throws -> [Cue] {
        let result = try program(
            "ffmpeg",
            ["-v", "error", "-nostdin", "-copyts", "-i", path, "-map", "0:s:0", "-f", "srt", "-"])
        guard result.status == 0 else { throw ProgramError(message: result.errors) }
        return result.text.components(separatedBy: "\n\n").compactMap { block in
            let lines = block.split(separator: "\n", omittingEmptySubsequences: true)
            guard lines.count >= 2, let times = lines.firstIndex(where: { $0.contains("-->") }) else {
                return nil
            }
            let both = lines[times].components(separatedBy: " --> ").map { text -> Double in
                let parts = text.replacingOccurrences(of: ",", with: ".").split(separator: ":")
                return parts.reduce(0) { $0 * 60 + (Double($1) ?? 0) }
            }
            return Cue(start: both[0], end: both[1], text: lines[(times + 1)...].joined(separator: "\n"))
        }
    }
}

@Suite struct SubtitleTests {
    static let captions = """
        1
        00:00:00,500 --> 00:00:01,500
        Before and <i>in</i> the range

        2
        00:00:01,800 --> 00:00:02,600
        Two lines,
        ümläute & „quotes“

        3
        00:00:02,700 --> 00:00:03,900
        Over its end

        4
        00:00:03,950 --> 00:00:04,000
        Behind it

        """

    private func make(_ path: SubtitlePath, in scratch: Scratch) throws -> String {
        let captions = try scratch.write(Self.captions, to: "captions.srt")
        let source = scratch.file("source.\(path.container)")
        if path.container == "srt" || path.container == "ass" {
            try ffmpeg("-i", captions, source)
        } else {
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=4", "-i", captions, "-c:v",
                path.target == "webm" ? "libvpx" : "libx264", "-bf", "0", "-g", "25", "-c:s", path.source,
                "-metadata:s:s:0", "language=ger", source)
        }
        return source
    }

    /// Complete sources keep their events. In a range, events are trimmed to it, and their times are relative to its
    /// start.
    @Test(arguments: SubtitlePath.all) func cuesFollowTheRange(_ path: SubtitlePath) async throws {
        let scratch = try Scratch()
        let source = try make(path, in: scratch)
        let all = try FFmpegFile(source).cues()
        #expect(all.count == 4)
        // Video is copied if the target supports it, and determines time zero.
        let hasVideo = !["srt", "ass", "vtt"].contains(path.target)
        let frames = hasVideo ? "{ video: first, copy: true }," : ""
        for (name, range) in [("whole", ""), ("cut", "range: { start: 1, end: 3 }")] {
            let output = scratch.file("\(name).\(path.target)")
            _ = try success(
                try await run(
                    """
                    version: 1
                    jobs:
                      it:
                        asset: \(source)
                        \(range.isEmpty ? "x-none: 0" : range)
                        tracks: [\(frames) { subtitle: first, \(path.action) }]
                        destination: \(output)
                    """, in: scratch.path))
            let (start, end) = range.isEmpty ? (0.0, 4.0) : (1.0, 3.0)
            let wanted = all.filter { $0.end > start && $0.start < end }.map {
                Cue(start: max($0.start, start) - start, end: min($0.end, end) - start, text: $0.text)
            }
            let written = try FFmpegFile(output).cues()
            #expect(written.count == wanted.count, "\(name)")
            for (have, want) in zip(written, wanted) {
                // Times of SubStation Alpha are in hundredths of a second.
                #expect(abs(have.start - want.start) < 0.011, "\(name)")
                #expect(abs(have.end - want.end) < 0.011, "\(name)")
                #expect(plain(have.text) == plain(want.text))
            }
            if hasVideo, path.target != "webm" || range.isEmpty {
                let tags = try FFmpegFile(output).stream("s:0", "codec_name:stream_tags=language")["tags"]
                #expect(["ger", "deu"].contains((tags as? [String: String])?["language"]), "\(name)")
            }
        }
    }

    /// Removes the markup that conversions between text formats add for styles.
    private func plain(_ text: String) -> String {
        text.replacingOccurrences(
            of: #"</?(font|b|i)[^>]*>|\{[^}]*\}"#, with: "", options: .regularExpression)
    }

    /// Encodes a subtitle file as mov_text in `out.mp4`.
    private func movText(of name: String, in scratch: Scratch) async throws -> JobResult {
        try success(
            try await run(
                """
                version: 1
                jobs:
                  it:
                    asset: ./\(name)
                    tracks: [{ subtitle: first, encode: { codec: mov_text } }]
                    destination: \(scratch.file("out.mp4"))
                """, in: scratch.path))
    }

    /// Overlapping events are merged with their styles, because mov_text shows one sample at a time.
    @Test func overlapsAreMerged() async throws {
        let scratch = try Scratch()
        try scratch.write(
            """
            1
            00:00:00,500 --> 00:00:02,000
            Früh

            2
            00:00:01,500 --> 00:00:03,000
            <i>Second</i>

            3
            00:00:01,700 --> 00:00:01,900
            Third

            4
            00:00:03,500 --> 00:00:04,000
            Alone

            """, to: "overlap.srt")
        let result = try await movText(of: "overlap.srt", in: scratch)
        #expect(result.warnings.isEmpty)
        let cues = try FFmpegFile(scratch.file("out.mp4")).cues()
        let texts = cues.map { $0.text.replacingOccurrences(of: "\r\n", with: "\n") }
        #expect(
            texts.map { plain($0) } == [
                "Früh", "Früh\nSecond", "Früh\nSecond\nThird", "Früh\nSecond", "Second", "Alone",
            ])
        #expect(texts[1] == "Früh\n<i>Second</i>")
        for (cue, end) in zip(cues, [1.5, 1.7, 1.9, 2, 3, 4]) { #expect(abs(cue.end - end) < 0.002) }
    }

    /// Events beyond the limit on concurrent ones are dropped with a warning.
    @Test func tooManyConcurrentCuesAreReported() async throws {
        let scratch = try Scratch()
        let cues = (1...20).map { "\($0)\n00:00:01,\(100 + $0) --> 00:00:03,000\nCue \($0)\n" }
        try scratch.write(cues.joined(separator: "\n"), to: "crowd.srt")
        let result = try await movText(of: "crowd.srt", in: scratch)
        #expect(
            result.warnings.contains {
                $0.contains("4 subtitle events dropped, because more are shown at once")
            })
        let last = try #require(try FFmpegFile(scratch.file("out.mp4")).cues().last)
        #expect(last.text.split(whereSeparator: \.isNewline).count == 16)
    }

    /// Bitmap subtitles can be copied, but not encoded as text.
    @Test func bitmapSubtitlesAreNotEncodedAsText() async throws {
        let scratch = try Scratch()
        let captions = try scratch.write(Self.captions, to: "captions.srt")
        let source = scratch.file("source.mkv")
        // A PGS stream written by the test, because the dvdsub encoder accepts only bitmaps.
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=1", "-i", captions, "-c:v",
            "libx264", "-c:s", "srt", source)
        let sup = scratch.file("empty.sup")
        // One display set: presentation composition without objects, window, end.
        var bytes: [UInt8] = []
        func segment(_ type: UInt8, _ body: [UInt8]) {
            bytes += [0x50, 0x47, 0, 0, 0x57, 0xe4, 0, 0, 0, 0, type, 0, UInt8(body.count)] + body
        }
        segment(0x16, [0, 160, 0, 120, 0x10, 0, 0, 0x80, 0, 0, 0])
        segment(0x80, [])
        try Data(bytes).write(to: URL(fileURLWithPath: sup))
        let pgs = scratch.file("pgs.mkv")
        try ffmpeg("-i", source, "-i", sup, "-map", "0:v", "-map", "1:s", "-c", "copy", pgs)
        for (action, target) in [("encode: { codec: mov_text }", "mp4"), ("copy: true", "mkv")] {
            let outcomes = try await run(
                """
                version: 1
                jobs:
                  it:
                    asset: \(pgs)
                    tracks: [{ video: first, copy: true }, { subtitle: first, \(action) }]
                    destination: \(scratch.file("out.\(target)"))
                """, in: scratch.path)
            if target == "mkv" {
                _ = try success(outcomes)
                #expect(
                    try FFmpegFile(scratch.file("out.mkv")).stream("s:0", "codec_name")["codec_name"]
                        as? String
                        == "hdmv_pgs_subtitle")
            } else {
                #expect(throws: ProgramError.self) { try success(outcomes) }
            }
        }
    }

    /// Bitmap subtitles have no duration: the set shown at the start of a range is output first, also at the join of
    /// two ranges.
    @Test func bitmapSubtitlesOnScreenComeFirst() async throws {
        let scratch = try Scratch()
        // Numbered display sets, one every 0.4 s: odd ones show a small bar, the others are empty.
        var bytes: [UInt8] = []
        for number in UInt8(0)..<5 {
            let time = 36_000 * Int(number)
            let stamp = (0..<4).map { UInt8(truncatingIfNeeded: time >> (24 - 8 * $0)) } + [0, 0, 0, 0]
            func segment(_ type: UInt8, _ body: [UInt8]) {
                bytes += [0x50, 0x47] + stamp + [type, 0, UInt8(body.count)] + body
            }
            let isShown = number % 2 == 1
            let object: [UInt8] = isShown ? [1, 0, 0, 0, 0, 0, 8, 0, 8] : [0]
            segment(0x16, [0, 160, 0, 120, 0x10, 0, number, 0x80, 0, 0] + object)
            if isShown {
                let line = [UInt8](repeating: 1, count: 8) + [0, 0]
                segment(0x17, [1, 0, 0, 8, 0, 8, 0, 8, 0, 2])
                segment(0x14, [0, 0, 1, 200, 128, 128, 255])
                segment(0x15, [0, 0, 0, 0xc0, 0, 0, UInt8(4 + 2 * line.count), 0, 8, 0, 2] + line + line)
            }
            segment(0x80, [])
            if number == 1 { try Data(bytes).write(to: URL(fileURLWithPath: scratch.file("one.sup"))) }
        }
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.file("s.sup")))
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=2", "-i", scratch.file("s.sup"), "-map", "0",
            "-map",
            "1", "-c:v", "libx264", "-c:s", "copy", scratch.file("s.mkv"))
        for (range, wanted) in [
            ("{ start: 0.5, end: 1.3 }", [(0.0, 1), (0.3, 2), (0.7, 3)]),
            ("{ start: 0.4, end: 1s }", [(0.0, 1), (0.4, 2)]),
            ("[ { start: 0.5, end: 0.7 }, { start: 1.3, end: 2s } ]", [(0.0, 1), (0.2, 3), (0.5, 4)]),
        ] as [(String, [(Double, Int)])] {
            _ = try success(
                try await run(
                    """
                    version: 1
                    jobs:
                      it: { asset: ./s.mkv, range: \(range), tracks: [ { video: first, encode: { codec: ffv1 } }, { subtitle: first, copy: true } ], destination: { path: o.mkv, if_exists: replace } }
                    """, in: scratch.path))
            try ffmpeg("-i", scratch.file("o.mkv"), "-map", "0:s", "-c", "copy", scratch.file("o.sup"))
            let written = [UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch.file("o.sup"))))
            var found: [(time: Double, number: Int)] = []
            var at = 0
            while at + 13 <= written.count {
                let time = written[(at + 2)..<(at + 6)].reduce(0) { $0 << 8 | Int($1) }
                if written[at + 10] == 0x16 {
                    found.append((Double(time) / 90_000, Int(written[at + 13 + 6])))
                }
                at += 13 + Int(written[at + 11]) << 8 + Int(written[at + 12])
            }
            #expect(found.map(\.number) == wanted.map(\.1), "\(range)")
            #expect(zip(found, wanted).allSatisfy { abs($0.time - $1.0) < 0.0015 }, "\(range): \(found)")
        }
        // The same for DVB subtitles in transport streams.
        try ffmpeg(
            "-i", scratch.file("s.mkv"), "-i", scratch.file("one.sup"), "-map", "0:v", "-map", "1", "-c:v",
            "copy", "-c:s", "dvbsub", scratch.file("s.ts"))
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  it: { asset: ./s.ts, tracks: [ { video: first, copy: true }, { subtitle: first, copy: true } ], destination: o.ts }
                """, in: scratch.path))
        let packets = try ["s.ts", "o.ts"].map {
            try program(
                "ffprobe",
                [
                    "-v", "error", "-select_streams", "s", "-show_packets", "-show_data_hash", "md5",
                    "-show_entries",
                    "packet=data_hash", "-of", "csv=p=0", scratch.file($0),
                ]
            ).text.split(separator: "\n").map { $0.trimmingCharacters(in: [","]) }.filter { !$0.isEmpty }
        }
        #expect(!packets[0].isEmpty && packets[0] == packets[1], "\(packets)")
    }

    /// A display set that only updates the preceding one, such as its color, is copied as a complete set.
    @Test func bitmapUpdatesAreCopiedAsCompleteSets() async throws {
        let scratch = try Scratch()
        var bytes: [UInt8] = []
        // A bar at 0 s, another color at 0.4 s, another position at 0.8 s, no bar at 1.2 s, and a bar at 1.6 s.
        for number in UInt8(0)..<5 {
            let time = 36_000 * Int(number)
            let stamp = (0..<4).map { UInt8(truncatingIfNeeded: time >> (24 - 8 * $0)) } + [0, 0, 0, 0]
            func segment(_ type: UInt8, _ body: [UInt8]) {
                bytes += [0x50, 0x47] + stamp + [type, 0, UInt8(body.count)] + body
            }
            let isShown = number != 3
            let position: UInt8 = number >= 2 ? 60 : 8
            let object: [UInt8] = isShown ? [1, 0, 0, 0, 0, 0, position, 0, 8] : [0]
            segment(
                0x16,
                [0, 160, 0, 120, 0x10, 0, number, number == 0 ? 0x80 : 0, number == 1 ? 0x80 : 0, 0] + object)
            if isShown, number != 1 { segment(0x17, [1, 0, 0, position, 0, 8, 0, 40, 0, 20]) }
            if number == 0 {
                segment(0x14, [0, 0, 1, 200, 128, 128, 255, 2, 60, 90, 200, 255])
                let line = [UInt8](repeating: 1, count: 20) + [UInt8](repeating: 2, count: 20) + [0, 0]
                let rows = (0..<10).flatMap { _ in line }
                segment(0x15, [0, 0, 0, 0x80, 0, 1, 0xa8, 0, 40, 0, 10] + rows.prefix(200))
                segment(0x15, [0, 0, 0, 0] + rows.dropFirst(200).prefix(200))
                segment(0x15, [0, 0, 0, 0x40] + rows.dropFirst(400))
            }
            if number == 1 { segment(0x14, [0, 1, 1, 100, 200, 60, 255]) }
            segment(0x80, [])
        }
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.file("s.sup")))
        try ffmpeg(
            "-f", "lavfi", "-i", "color=gray:s=160x120:r=25:d=2", "-i", scratch.file("s.sup"), "-map", "0",
            "-map",
            "1", "-c:v", "ffv1", "-c:s", "copy", scratch.file("s.mkv"))
        func shown(_ name: String) throws -> [Int] {
            let result = try program(
                "ffmpeg",
                [
                    "-v", "error", "-i", scratch.file(name), "-filter_complex",
                    "[0:v][0:s:0]overlay,format=yuv444p", "-f", "rawvideo", "-",
                ])
            let (frames, size) = ([UInt8](result.output), 160 * 120 * 3)
            return stride(from: 0, to: frames.count, by: size).map { frames[$0..<$0 + size].hashValue }
        }
        let source = try shown("s.mkv")
        #expect(source.count == 50 && Set(source).count >= 4)
        for (start, end) in [(0.2, 1.0), (0.48, 1.48), (0.88, 2.0), (1.28, 2.0), (1.6, 2.0)] {
            _ = try success(
                try await run(
                    """
                    version: 1
                    jobs:
                      it: { asset: ./s.mkv, range: { start: \(start), end: \(end)s }, tracks: [ { video: first, encode: { codec: ffv1 } }, { subtitle: first, copy: true } ], destination: { path: o.mkv, if_exists: replace } }
                    """, in: scratch.path))
            let (first, last) = (Int((start * 25).rounded()), Int((end * 25).rounded()))
            // ffmpeg shows the first set from the second frame on, and 7.1 may omit the last frame.
            let got = try shown("o.mkv").dropFirst()
            #expect(got.count >= last - first - 2, "\(start) to \(end): \(got.count) frames")
            #expect(got.elementsEqual(source[first + 1..<last].prefix(got.count)), "\(start) to \(end)")
        }
    }
}
