import Diagnostics
import Foundation
import JobPlan
import JobRun
import TestSupport
import Testing

/// Tests metadata of tracks and files: timecode, attachments and Dolby Vision configurations.
@Suite struct AncillaryDataTests {
    private func timecodes(_ path: String) throws -> [String] {
        let json = try FFmpegFile(path).probe(["-show_entries", "stream=codec_type:stream_tags"])
        return (json["streams"] as? [[String: Any]] ?? []).flatMap { stream in
            (stream["tags"] as? [String: String] ?? [:]).filter { $0.key.lowercased() == "timecode" }.map(
                \.value)
        }
    }

    /// The output's timecode belongs to its first frame, in copies, cuts and encodes.
    @Test(arguments: [
        (
            "25", "01:00:00:00", "range: { start: 2s, end: 3s }",
            "encode: { codec: h264, preset: ultrafast }", "01:00:02:00"
        ),
        (
            "25", "23:59:59:20", "range: { start: 0.5s, end: 3s }",
            "encode: { codec: h264, preset: ultrafast }", "00:00:00:07"
        ),
        (
            "30000/1001", "00:00:59;28", "range: { start: 1.001s, end: 2s }", "encode: { codec: h264 }",
            "00:01:01;00"
        ),
        ("24", "10:00:00:00", "range: { start: 1s, end: 2s }\n    cut: smart", "copy: true", "10:00:01:00"),
        (
            "25", "01:00:00:00", "range: [ { start: 3s, end: 4s }, { start: 0s, end: 1s } ]",
            "encode: { codec: h264 }", "01:00:03:00"
        ),
        ("25", "01:00:00:00", "leftover: drop", "copy: true", "01:00:00:00"),
        ("25", "01:00:00:00", "metadata: { keep: none }", "copy: true", ""),
        ("25", "01:00:00:00", "metadata: { keep: [timecode] }", "copy: true", "01:00:00:00"),
        ("25", "01:00:00:00", "range: { start: 1s, end: 2s }", "encode: { codec: h264, frame_rate: 30 }", ""),
    ])
    func timecodeMovesWithTheRange(
        _ rate: String, _ timecode: String, _ range: String, _ action: String, _ wanted: String
    ) async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=\(rate):d=4", "-f", "lavfi", "-i", "sine=d=4", "-c:v",
            "libx264", "-g", "\(rate == "24" ? 10 : 12)", "-c:a", "aac", "-timecode", timecode,
            scratch.file("s.mov"))
        #expect(try timecodes(scratch.file("s.mov")).contains(timecode))
        for container in ["mov", "mp4", "mkv"] {
            let yaml = """
                version: 1
                jobs:
                  j:
                    asset: ./s.mov
                    \(range)
                    tracks: [ { video: first, \(action) }, { audio: first, encode: { codec: aac } } ]
                    destination: o.\(container)
                """
            _ = try success(try await run(yaml, in: scratch.path))
            let found = try timecodes(scratch.file("o.\(container)"))
            #expect(wanted.isEmpty ? found.isEmpty : found.first == wanted, "\(container): \(found)")
            #expect(
                try FFmpegFile(scratch.file("o.\(container)")).count("d")
                    == (wanted.isEmpty || container == "mkv" ? 0 : 1))
        }
    }

    @Test func attachmentsAreCopied() async throws {
        let scratch = try Scratch()
        try scratch.write(SubtitleTests.captions, to: "c.srt")
        try scratch.write(String(repeating: "not a font, but nobody looks", count: 500), to: "one.ttf")
        try scratch.write("another", to: "two.txt")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=4", "-i", scratch.file("c.srt"), "-attach",
            scratch.file("one.ttf"), "-metadata:s:t:0", "mimetype=application/x-truetype-font", "-attach",
            scratch.file("two.txt"), "-metadata:s:t:1", "mimetype=text/plain", "-c:v", "libx264", "-c:s",
            "ass",
            scratch.file("s.mkv"))
        func job(_ rules: String, _ target: String) -> String {
            """
            version: 1
            jobs:
              j:
                asset: ./s.mkv
                tracks: [ { video: first, copy: true }, \(rules) ]
                destination: \(target)
            """
        }
        for (rules, wanted) in [
            ("{ attachment: all, copy: true }, { subtitle: all, copy: true }", ["one.ttf", "two.txt"]),
            ("{ attachment: { codec: ttf }, copy: true }", ["one.ttf"]),
            ("{ attachment: 1, copy: true }", ["two.txt"]),
            ("{ attachment: 7, copy: true, optional: true }", []),
        ] as [(String, [String])] {
            _ = try success(try await run(job(rules, "o.mkv"), in: scratch.path))
            for name in wanted {
                let extracted = scratch.file("extracted-" + name)
                let index = wanted.firstIndex(of: name) ?? 0
                _ = try program(
                    "ffmpeg",
                    [
                        "-v", "error", "-y", "-dump_attachment:t:\(index)", extracted, "-i",
                        scratch.file("o.mkv"),
                    ])
                #expect(
                    FileManager.default.contentsEqual(atPath: extracted, andPath: scratch.file(name)),
                    "\(rules)")
            }
            #expect(try FFmpegFile(scratch.file("o.mkv")).count("t") == wanted.count, "\(rules)")
        }
        // A job that reads the output finds the attachments in it.
        let chain = """
            version: 1
            jobs:
              a: { asset: ./s.mkv, tracks: [ { video: first, copy: true }, { attachment: 0, copy: true } ], destination: a.mkv }
              b: { asset: { job: a }, tracks: [ { video: first, copy: true }, { attachment: all, copy: true } ], destination: b.mkv }
            """
        _ = try success(try await run(chain, in: scratch.path), "b")
        #expect(try FFmpegFile(scratch.file("b.mkv")).count("t") == 1)
        // Selecting attachments for a container that doesn't support them is an error before any source is read.
        let (_, sink) = decode(job("{ attachment: all, copy: true }", "o.mp4"), directory: scratch.path)
        #expect(sink.hasErrors && rendered(sink, "").contains("mp4 can't store attachment"))
    }

    /// Adds a Dolby Vision configuration to the sample description of an mp4 whose index is at its end.
    private func addDolbyVision(profile: UInt8, to path: String) throws {
        var data = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        func u32(_ at: Int) -> Int { (0..<4).reduce(0) { $0 << 8 | Int(data[at + $1]) } }
        func find(_ type: String, in range: Range<Int>) throws -> Int {
            var at = range.lowerBound
            while at + 8 <= range.upperBound {
                if Array(data[(at + 4)..<(at + 8)]) == Array(type.utf8) { return at }
                at += u32(at)
            }
            throw ProgramError(message: "no \(type)")
        }
        var chain: [Int] = []
        var range = 0..<data.count
        for (type, skipped) in [
            ("moov", 8), ("trak", 8), ("mdia", 8), ("minf", 8), ("stbl", 8), ("stsd", 16), ("hvc1", 86),
        ] {
            let at = try find(type, in: range)
            chain.append(at)
            range = (at + skipped)..<(at + u32(at))
        }
        let level: UInt8 = 3
        let record: [UInt8] = [1, 0, profile << 1 | level >> 5, level << 3 | 0b101, profile == 8 ? 0x10 : 0]
        let box = [0, 0, 0, 32] + Array((profile == 8 ? "dvvC" : "dvcC").utf8) + record
        data.insert(contentsOf: box + [UInt8](repeating: 0, count: 32 - box.count), at: range.upperBound)
        for at in chain {
            let size = u32(at) + 32
            for byte in 0..<4 { data[at + byte] = UInt8(size >> (8 * (3 - byte)) & 0xff) }
        }
        try Data(data).write(to: URL(fileURLWithPath: path))
    }

    /// The colors of profile 5 can't be interpreted without its metadata; profile 8 has a compatible base layer.
    @Test(arguments: [(UInt8(5), false), (8, true)]) func dolbyVisionIsCopiedOrRejected(
        _ profile: UInt8, _ isEncoded: Bool
    )
        async throws
    {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=1", "-c:v", "libx265", "-x265-params",
            "log-level=none", "-tag:v", "hvc1", scratch.file("s.mp4"))
        try addDolbyVision(profile: profile, to: scratch.file("s.mp4"))
        func job(_ action: String, _ target: String) -> String {
            "version: 1\njobs:\n  j: { asset: ./s.mp4, tracks: [ { video: first, \(action) } ], destination: \(target) }\n"
        }
        func dovi(_ name: String) throws -> Bool {
            let stream = try FFmpegFile(scratch.file(name)).stream("v:0", "codec_name")
            return (stream["side_data_list"] as? [[String: Any]] ?? []).contains {
                ($0["side_data_type"] as? String ?? "").contains("DOVI")
            }
        }
        #expect(try dovi("s.mp4"))
        // libavformat 5.1 doesn't write profile 5 into mov and mp4; players without support for it show wrong colors.
        for (target, isKept) in [("copy.mkv", true), ("copy.mp4", profile == 8), ("copy.mov", false)] {
            let records = try await run(job("copy: true", target), in: scratch.path)
            if profile == 5, !isKept {
                #expect(throws: ProgramError.self) { try success(records) }
                continue
            }
            _ = try success(records)
            #expect(try dovi(target) == isKept)
            let entry = try #require(
                records[0].plan?.outputs[0].ledger.first { $0.item.text == "side data dovi" })
            #expect((entry.outcome == .copied) == isKept, "\(target)")
        }
        let outcomes = try await run(
            job("encode: { codec: hevc, preset: ultrafast }", "e.mp4"), in: scratch.path)
        if isEncoded {
            _ = try success(outcomes)
            #expect(try !dovi("e.mp4"))
        } else {
            guard case .failed(let failure) = outcomes[0].outcome else {
                Issue.record("profile 5 was re-encoded")
                return
            }
            #expect(failure.message.contains("Dolby Vision profile 5"))
            #expect(failure.location.line == 3)
        }
    }

    /// A timecode of the job overrides the source's; an invalid one is an error at its line.
    @Test func timecodeOfTheJobOverridesTheSources() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=2", "-c:v", "libx264", "-timecode", "01:00:00:00",
            scratch.file("s.mov"))
        func job(_ rule: String, _ more: String, _ target: String) -> String {
            """
            version: 1
            jobs:
              j:
                asset: ./s.mov
                tracks: [ { video: first, copy: true\(rule) } ]
                destination: \(target)
            \(more)
            """
        }
        for (rule, more) in [
            (", metadata: { TIMECODE: \"10:00:00:00\" }", ""),
            ("", "    metadata: { set: { timecode: \"10:00:00:00\" } }"),
        ] {
            for target in ["o.mov", "o.mkv", "o.mp4"] {
                _ = try success(try await run(job(rule, more, target), in: scratch.path))
                let found = try timecodes(scratch.file(target))
                #expect(Set(found) == ["10:00:00:00"], "\(target): \(found)")
            }
        }
        for (value, target, words) in [
            ("25:61:00:00", "o.mov", "is not a valid timecode"),
            ("10:00:00:00", "o.ts", "ts can't store a timecode"),
        ] {
            let outcomes = try await run(
                job(", metadata: { timecode: \"\(value)\" }", "", target), in: scratch.path)
            guard case .failed(let failure) = outcomes[0].outcome else {
                Issue.record("\(value) in \(target) is not refused")
                continue
            }
            #expect(failure.message.contains(words) && failure.location.line == 5, "\(failure.message)")
        }
    }

    /// The timecode belongs to the first frame, even if the video starts after the audio.
    @Test func timecodeBeginsWithLateVideo() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "sine=d=6", "-itsoffset", "2", "-f", "lavfi", "-i",
            "testsrc2=s=160x120:r=25:d=4", "-map", "1", "-map", "0", "-c:v", "libx264", "-bf", "0",
            "-fps_mode", "passthrough", "-c:a", "aac",
            "-timecode", "01:00:00:00", scratch.file("s.mov"))
        let yaml =
            "version: 1\njobs:\n  j: { asset: ./s.mov, range: { start: 3s, end: 5s }, tracks: [ { video: first, encode: { codec: h264 } } ], destination: o.mov }\n"
        _ = try success(try await run(yaml, in: scratch.path))
        #expect(try timecodes(scratch.file("o.mov")).first == "01:00:01:00")
    }
}
