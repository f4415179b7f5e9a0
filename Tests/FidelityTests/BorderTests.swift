import Foundation
import TestSupport
import Testing

/// `crop: auto` keeps the active area within the black borders of a file.
@Suite struct BorderTests {
    /// Creates a video of 4 s whose first second is black, with borders around a test signal.
    private func source(_ area: String, _ pad: String, _ codec: [String], in scratch: borrowing Scratch)
        throws
    {
        try ffmpeg(
            [
                "-f", "lavfi", "-i",
                "testsrc2=s=\(area):r=25:d=4,pad=\(pad):black,fade=in:st=1:d=0.04:color=black",
            ]
                + codec + ["-g", "12", scratch.file("s.mkv")])
    }

    private func job(_ encode: String, range: String = "") -> String {
        """
        version: 1
        jobs:
          one:
            asset: ./s.mkv
            \(range)
            tracks:
              - { video: first, encode: { \(encode) } }
            destination: { path: o.mkv, if_exists: replace }

        """
    }

    private func size(of path: String) throws -> String {
        let entries = ["-v", "error", "-show_entries", "stream=width,height", "-of", "csv=p=0:s=x", path]
        return try program("ffprobe", entries).text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test(arguments: [
        ("320x136", "320:240:0:52", ["-c:v", "libx264", "-pix_fmt", "yuv420p"], "crop=320:136:0:52"),
        (
            "240x240", "320:240:40:0",
            ["-c:v", "libx265", "-preset", "ultrafast", "-pix_fmt", "yuv420p10le"], "crop=240:240:40:0"
        ),
        ("200x100", "320:240:60:70", ["-c:v", "mpeg4", "-q:v", "2"], "crop=200:100:60:70"),
        ("320x240", "320:240:0:0", ["-c:v", "libx264", "-pix_fmt", "yuv420p"], "null"),
    ])
    func activeAreaIsKept(_ area: String, _ pad: String, _ codec: [String], _ filter: String) async throws {
        let scratch = try Scratch()
        try source(area, pad, codec, in: scratch)
        // A range that is black alone has the same rectangle: it is that of the whole file.
        for range in ["", "range: { end: 500ms }"] {
            let yaml = job("codec: ffv1, crop: auto", range: range)
            _ = try success(try await run(yaml, in: scratch.path))
            let file = FFmpegFile(scratch.file("o.mkv"))
            #expect(try size(of: scratch.file("o.mkv")) == area)
            #expect(try file.decodeErrors() == "")
        }
        _ = try success(try await run(job("codec: ffv1, crop: auto"), in: scratch.path))
        let compared = try program(
            "ffmpeg",
            [
                "-v", "info", "-i", scratch.file("o.mkv"), "-i", scratch.file("s.mkv"), "-lavfi",
                "[1:v]\(filter)[c];[0:v][c]psnr", "-f", "null", "-",
            ])
        #expect(compared.errors.contains("average:inf"), "\(compared.errors)")
    }

    /// The only keyframe of a short track, and the keyframes of a long one, show less than other frames do.
    @Test(arguments: [(20, "250"), (40, "400")]) func framesBetweenKeyframesCount(
        seconds: Int, interval: String
    ) async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=10:d=\(seconds)", "-vf",
            "drawbox=x=0:y=0:w=40:h=120:c=black:t=fill:enable='lt(mod(n,\(interval)),5)'", "-c:v", "libx264",
            "-g",
            interval, "-keyint_min", interval, "-sc_threshold", "0", scratch.file("s.mkv"))
        _ = try success(try await run(job("codec: ffv1, crop: auto"), in: scratch.path))
        #expect(try size(of: scratch.file("o.mkv")) == "160x120")
    }

    /// Each frame of a track with a variable frame rate is examined.
    @Test func framesOfVariableRateCount() async throws {
        let scratch = try Scratch()
        // 20 frames with borders, one in a second, and one without borders for 40 ms.
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=21", "-vf",
            "drawbox=y=0:w=160:h=20:c=black:t=fill:enable='not(eq(n,512))',select='not(mod(n,25))+eq(n,512)'",
            "-fps_mode", "vfr", "-c:v", "ffv1", scratch.file("s.mkv"))
        _ = try success(try await run(job("codec: ffv1, crop: auto"), in: scratch.path))
        #expect(try size(of: scratch.file("o.mkv")) == "160x120")
    }

    /// Frames of another size are scaled to that of the track before they are cropped: 60 of 480 pixels are 40 of 320.
    @Test func framesOfAnotherSizeAreScaled() async throws {
        let scratch = try Scratch()
        for (index, size) in ["320x180", "480x270"].enumerated() {
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc2=s=\(size):r=25:d=2,drawbox=w=60:h=ih:c=black:t=fill", "-c:v",
                "libx264",
                "-bf", "0", "-output_ts_offset", "\(3 * index)", scratch.file("\(index).ts"))
        }
        let parts = try (0...1).map { try Data(contentsOf: URL(filePath: scratch.file("\($0).ts"))) }
        try (parts[0] + parts[1]).write(to: URL(filePath: scratch.file("s.ts")))
        try ffmpeg("-i", scratch.file("s.ts"), "-c", "copy", scratch.file("s.mkv"))
        _ = try success(try await run(job("codec: ffv1, crop: auto"), in: scratch.path))
        #expect(try size(of: scratch.file("o.mkv")) == "280x180")
    }

    /// A black file isn't cropped.
    @Test func blackFilesAreNotCropped() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "color=black:s=320x240:r=25:d=2", "-c:v", "libx264", scratch.file("s.mkv"))
        _ = try success(try await run(job("codec: ffv1, crop: auto"), in: scratch.path))
        #expect(try size(of: scratch.file("o.mkv")) == "320x240")
    }
}
