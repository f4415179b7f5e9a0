import Foundation
import JobRun
import Media
import TestSupport
import Testing

/// Interlaced video whose field order only the decoded frames declare, or that starts in mid-stream: its two fields are
/// never scaled together as one frame.
@Suite struct DecodedFieldTests {
    /// File names and encoder options; each frame consists of two fields of a moving test pattern.
    private static let kinds: [(name: String, arguments: [String])] = [
        ("dv.avi", ["-c:v", "dvvideo", "-pix_fmt", "yuv420p"]),
        ("asp.avi", ["-c:v", "mpeg4", "-flags", "+ilme+ildct", "-q:v", "2"]),
        (
            "dnx.mov",
            [
                "-s", "1920x1080", "-c:v", "dnxhd", "-flags", "+ilme+ildct", "-b:v", "120M", "-pix_fmt",
                "yuv422p",
            ]
        ),
    ]

    private func make(_ kind: (name: String, arguments: [String]), in scratch: Scratch) throws -> String {
        let path = scratch.file(kind.name)
        let isHD = kind.arguments.contains("1920x1080")
        try ffmpeg(
            [
                "-f", "lavfi", "-i",
                "testsrc2=s=\(isHD ? "1920x1080" : "720x576"):r=50:d=1,interlace=lowpass=0,setfield=tff",
            ] + kind.arguments + [path])
        return path
    }

    /// Returns the numbers of interlaced and progressive frames according to ffmpeg's `idet`, and of frames flagged as
    /// interlaced.
    private func fields(of path: String) throws -> (interlaced: Int, progressive: Int, flagged: Int) {
        let result = try program(
            "ffmpeg",
            ["-hide_banner", "-nostdin", "-i", path, "-map", "0:v:0", "-vf", "idet", "-f", "null", "-"])
        guard
            let line = result.errors.split(separator: "\n").last(where: {
                $0.contains("Multi frame detection")
            })
        else { throw ProgramError(message: result.errors) }
        let words = line.split(whereSeparator: { $0 == " " || $0 == ":" }).map(String.init)
        func number(after word: String) -> Int {
            words.firstIndex(of: word).flatMap { Int(words[$0 + 1]) } ?? -1
        }
        let frames =
            try FFmpegFile(path).probe(["-select_streams", "v:0", "-show_entries", "frame=interlaced_frame"])[
                "frames"]
            as? [[String: Any]] ?? []
        return (
            number(after: "TFF") + number(after: "BFF"), number(after: "Progressive"),
            frames.count { $0["interlaced_frame"] as? Int == 1 }
        )
    }

    @Test(arguments: 0..<3) func firstFramesDetermineWhetherVideoIsInterlaced(_ index: Int) async throws {
        let scratch = try Scratch()
        let path = try make(Self.kinds[index], in: scratch)
        let outcomes = try await run(
            """
            version: 1
            jobs:
              scaled:
                asset: \(path)
                tracks: [ { video: first, encode: { codec: h264, preset: ultrafast, crf: 10, size: 480x270, fit: stretch } } ]
                destination: \(scratch.file("scaled.mp4"))
              whole:
                asset: \(path)
                tracks: [ { video: first, encode: { codec: h264, preset: ultrafast, crf: 10, pixel_format: yuv420p } } ]
                destination: \(scratch.file("whole.mp4"))
            """, in: scratch.path)
        _ = try success(outcomes, "scaled")
        _ = try success(outcomes, "whole")
        #expect(try fields(of: path).interlaced >= 20)
        let scaled = try fields(of: scratch.file("scaled.mp4"))
        #expect(scaled.interlaced == 0 && scaled.flagged == 0 && scaled.progressive > 20, "\(scaled)")
        let whole = try fields(of: scratch.file("whole.mp4"))
        #expect(whole.flagged == 25 && whole.interlaced >= 20, "\(whole)")
    }

    /// Frames that are interlaced from the second second on are deinterlaced.
    @Test func interlacedFramesInMidStreamAreDeinterlaced() async throws {
        let scratch = try Scratch()
        var stream = Data()
        for (source, flags) in [
            ("testsrc2=s=720x576:r=25:d=1", []),
            ("testsrc2=s=720x576:r=50:d=1,interlace=lowpass=0,setfield=tff", ["-flags", "+ilme+ildct"]),
        ] {
            let part = scratch.file("part.m2v")
            try ffmpeg(["-f", "lavfi", "-i", source, "-c:v", "mpeg2video", "-q:v", "2"] + flags + [part])
            stream.append(try Data(contentsOf: URL(fileURLWithPath: part)))
        }
        try stream.write(to: URL(fileURLWithPath: scratch.file("joined.m2v")))
        let path = scratch.file("joined.ts")
        try ffmpeg(
            "-fflags", "+genpts", "-r", "25", "-i", scratch.file("joined.m2v"), "-c", "copy", path)
        let outcomes = try await run(
            """
            version: 1
            jobs:
              scaled:
                asset: \(path)
                tracks: [ { video: first, encode: { codec: h264, preset: ultrafast, crf: 10, size: 480x384 } } ]
                destination: \(scratch.file("scaled.mp4"))
              whole:
                asset: \(path)
                tracks: [ { video: first, encode: { codec: h264, preset: ultrafast, crf: 10 } } ]
                destination: \(scratch.file("whole.mp4"))
            """, in: scratch.path)
        #expect(try fields(of: path).flagged >= 20)
        let report = try #require(try success(outcomes, "scaled").outputs.first)
        #expect(report.tracks.first?.interlacedFrom == MediaTime(value: 1, timescale: 1))
        #expect(
            report.warnings == [
                "source track 0: the source is progressive at first and interlaced from 1 s of the output; deinterlacing begins there"
            ])
        let scaled = try fields(of: scratch.file("scaled.mp4"))
        #expect(scaled.interlaced == 0 && scaled.flagged == 0 && scaled.progressive >= 40, "\(scaled)")
        _ = try success(outcomes, "whole")
        #expect(try fields(of: scratch.file("whole.mp4")).flagged == 0)
        // Compared with ffmpeg's deinterlacer, because `idet` reports even progressive frames of this test pattern as
        // interlaced.
        let reference = scratch.file("reference.mkv")
        try ffmpeg("-i", path, "-vf", "bwdif=mode=send_frame:deint=interlaced", "-c:v", "ffv1", reference)
        let psnr = try FFmpegFile(scratch.file("whole.mp4")).lowestPSNR(
            against: FFmpegFile(reference), first: 0, count: 50, own: 0)
        #expect(psnr > 40)
    }
}
