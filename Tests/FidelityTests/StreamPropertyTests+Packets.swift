import Diagnostics
import Foundation
import JobPlan
import JobRun
import Media
import TestSupport
import Testing

/// Tests of properties that only packets contain, not their containers.
extension StreamPropertyTests {
    /// Decoding times, which Matroska doesn't store, are generated for copies that start with an open GOP, with and
    /// without leading frames.
    @Test(arguments: ["libx264", "libx265"]) func openGOPsOfMatroskaAreCopied(_ encoder: String)
        async throws
    {
        let scratch = try Scratch()
        let (name, parameters) =
            encoder == "libx264"
            ? ("-x264-params", "open-gop=1") : ("-x265-params", "open-gop=1:log-level=none:scenecut=0")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=2", "-c:v", encoder, "-g", "10", "-bf", "2", name,
            parameters, scratch.file("s.mkv"))
        try ffmpeg("-ss", "0.5", "-i", scratch.file("s.mkv"), "-c", "copy", scratch.file("late.mkv"))
        let jobs = ["mkv", "mp4"].map {
            "  \($0): { asset: ./s.mkv, range: { start: 0.5, end: 1.3 }, cut: keyframe, tracks: [ { video: first, copy: true } ], destination: cut.\($0) }\n"
                + "  w\($0): { asset: ./late.mkv, tracks: [ { video: first, copy: true } ], destination: whole.\($0) }\n"
        }
        let records = try await run("version: 1\njobs:\n" + jobs.joined(), in: scratch.path)
        let source = try FFmpegFile(scratch.file("s.mkv")).decodedFrames()
        for target in ["mkv", "mp4"] {
            _ = try success(records, target)
            let range = try #require(records.first { $0.id == target }?.plan?.inputs[0].range)
            #expect(range.start.seconds <= 0.5 && range.end.seconds >= 1.3)
            let wanted = source.filter {
                $0.time > range.start.seconds - 0.01 && $0.time < range.end.seconds - 0.01
            }.map(\.hash)
            #expect(try FFmpegFile(scratch.file("cut.\(target)")).decodedFrames().map(\.hash) == wanted)
            _ = try success(records, "w\(target)")
            #expect(
                try FFmpegFile(scratch.file("whole.\(target)")).frameHashes().suffix(30)
                    == source.map(\.hash).suffix(30))
        }
    }

    /// Vorbis packets determine their length; the last packet is trimmed in Matroska and WebM.
    @Test func vorbisKeepsItsEndInMatroska() async throws {
        let scratch = try Scratch()
        for count in [1, 441, 50_001] {
            try ffmpeg(
                "-f", "lavfi", "-i", "anoisesrc=r=44100:a=0.1", "-af", "atrim=end_sample=\(count)",
                scratch.file("\(count).wav"))
            for target in ["mkv", "webm"] {
                _ = try success(
                    try await run(
                        """
                        version: 1
                        jobs:
                          j: { asset: ./\(count).wav, tracks: [ { audio: first, encode: { codec: vorbis } } ], destination: \(count).\(target) }
                        """, in: scratch.path))
                #expect(
                    try FFmpegFile(scratch.file("\(count).\(target)")).samples(channels: 1, rate: 44_100)
                        .count
                        == count)
            }
        }
    }

    /// A packet that a bitstream filter rejects is an error of the copied track, not of the destination.
    @Test func damagedPacketsAreErrorsOfTheTrack() async throws {
        let scratch = try Scratch()
        let path = scratch.file("s.mp4")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=2", "-c:v", "libx264", "-x264-params",
            "slices=1:sliced-threads=0", path)
        let line = try program(
            "ffprobe", ["-v", "error", "-show_entries", "packet=pos", "-of", "csv=p=0", path]
        ).text.split(separator: "\n")[20]
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let position = try #require(Int(line))
        bytes.replaceSubrange(position..<position + 2, with: [0x7f, 0xff])
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let records = try await run(
            """
            version: 1
            jobs:
              j:
                asset: ./s.mp4
                tracks: [ { video: first, copy: true } ]
                destination: o.ts
            """, in: scratch.path)
        guard case .failed(let failure) = try #require(records.first).outcome else {
            Issue.record("\(records)")
            return
        }
        #expect(failure.message.contains("video 0") && failure.message.contains("can't store this packet"))
        #expect(failure.location.line == 5)
        #expect(!FileManager.default.fileExists(atPath: scratch.file("o.ts")))
    }

    /// Closed captions are kept in copies and in H.264; other encoders drop them with a warning.
    @Test func lostCaptionsAreReported() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=1", "-c:v", "libx264", "-bf", "0", "-x264-params",
            "sliced-threads=0:slices=1", scratch.file("plain.h264"))
        // An ATSC A/53 message with one pair of bytes before each frame.
        let message: [UInt8] =
            [0, 0, 0, 1, 6, 4, 14, 0xb5, 0, 0x31] + Array("GA94".utf8) + [
                3, 0x41, 0xff, 0xfc, 0x94, 0x20, 0xff, 0x80,
            ]
        let plain = [UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch.file("plain.h264"))))
        var bytes: [UInt8] = []
        var at = 0
        while at < plain.count {
            if at + 3 < plain.count, plain[at...].starts(with: [0, 0, 1]),
                [1, 5].contains(plain[at + 3] & 31)
            {
                bytes += message
            }
            bytes.append(plain[at])
            at += 1
        }
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.file("s.h264")))
        try ffmpeg("-framerate", "25", "-i", scratch.file("s.h264"), "-c", "copy", scratch.file("s.mp4"))
        func captions(_ name: String) throws -> Int {
            try program(
                "ffprobe",
                [
                    "-v", "error", "-show_entries", "frame=side_data:side_data=side_data_type",
                    scratch.file(name),
                ]
            ).text.split(separator: "\n").count { $0.contains("Closed Captions") }
        }
        #expect(try captions("s.mp4") == 25)
        for (how, isKept) in [
            ("copy: true", true), ("encode: { codec: h264 }", true),
            ("encode: { codec: hevc, preset: ultrafast }", false),
        ] {
            let result = try success(
                try await run(
                    """
                    version: 1
                    jobs:
                      j: { asset: ./s.mp4, tracks: [ { video: first, \(how) } ], destination: { path: o.mp4, if_exists: replace } }
                    """, in: scratch.path))
            #expect(try captions("o.mp4") == (isKept ? 25 : 0))
            #expect(result.warnings.contains { $0.contains("closed captions in 25 frames") } == !isKept)
        }
    }

    /// With a lower frame rate, captions of dropped frames are lost, which the plan notes.
    @Test func captionsOfDroppedFramesAreNoted() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=50:d=1", "-c:v", "libx264", scratch.file("s.mp4"))
        for (rate, isNoted) in [("25", true), ("50", false), ("60", false)] {
            let records = try await run(
                """
                version: 1
                jobs:
                  j: { asset: ./s.mp4, tracks: [ { video: first, encode: { codec: h264, frame_rate: \(rate) } } ], destination: \(rate).mp4 }
                """, in: scratch.path)
            _ = try success(records)
            let notes = try #require(records.first?.plan?.outputs[0].notes)
            #expect(notes.contains { $0.contains("closed captions") } == isNoted, "\(notes)")
        }
    }
}
