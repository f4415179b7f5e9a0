import Foundation
import JobRun
import TestSupport
import Testing

/// Codec tags match the packets. libavformat may derive a tag from format, size and rate for which readers assume
/// another packet format.
@Suite struct CodecTagTests {
    /// A class of AVC-Intra that libavformat recognizes by pixel format, size and rate.
    struct IntraClass: Sendable, CustomTestStringConvertible {
        let pixelFormat: String
        let size: String
        let rate: Int
        var testDescription: String { "\(pixelFormat) \(size) \(rate)" }

        static let all =
            [("yuv420p10le", "960x720"), ("yuv420p10le", "1440x1080"), ("yuv422p10le", "1280x720")]
            .flatMap { format, size in
                [24, 25, 50].map { IntraClass(pixelFormat: format, size: size, rate: $0) }
            } + [30, 60].map { IntraClass(pixelFormat: "yuv422p10le", size: "1920x1080", rate: $0) }
    }

    @Test(arguments: IntraClass.all) func h264InMov_sizeOfAnIntraClass_decodes(_ kind: IntraClass)
        async throws
    {
        let scratch = try Scratch()
        let (encoded, copied) = (scratch.file("encoded.mov"), scratch.file("copied.mov"))
        let source = scratch.file("source.mkv")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=\(kind.size):r=\(kind.rate)", "-frames:v", "3", "-pix_fmt",
            kind.pixelFormat, "-c:v", "libx264", "-preset", "ultrafast", source)
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  encoded:
                    asset: \(source)
                    tracks: [ { video: first, encode: { codec: h264, preset: ultrafast } } ]
                    destination: \(encoded)
                """, in: scratch.path))
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  copied:
                    asset: \(source)
                    tracks: [ { video: first, copy: true } ]
                    destination: \(copied)
                """, in: scratch.path))
        for output in [encoded, copied] {
            let stream = try #require(
                try FFmpegFile(output).probe([
                    "-count_frames", "-show_entries", "stream=codec_tag_string,nb_read_frames,pix_fmt",
                ])["streams"] as? [[String: Any]]
            ).first
            #expect(stream?["codec_tag_string"] as? String == "avc1")
            #expect(stream?["nb_read_frames"] as? String == "3")
            #expect(stream?["pix_fmt"] as? String == kind.pixelFormat)
        }
    }

    /// AVC-Intra, whose packets are Annex B with its tag, is copied unchanged.
    @Test func avcIntra_copiedToMov_keepsItsTag() async throws {
        let scratch = try Scratch()
        let (raw, source, output) = (
            scratch.file("a.h264"), scratch.file("source.mov"), scratch.file("copied.mov")
        )
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=1920x1080:r=25", "-frames:v", "4", "-pix_fmt", "yuv422p10le",
            "-c:v", "libx264", "-x264-params", "avcintra-class=100:interlaced=1", "-f", "h264", raw)
        try ffmpeg("-r", "25", "-i", raw, "-c", "copy", source)
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  copied:
                    asset: \(source)
                    tracks: [ { video: first, copy: true } ]
                    destination: \(output)
                """, in: scratch.path))
        for file in [source, output] {
            let streams =
                try FFmpegFile(file).probe([
                    "-count_frames", "-show_entries", "stream=codec_tag_string,nb_read_frames",
                ])["streams"] as? [[String: Any]]
            #expect((streams?.first?["codec_tag_string"] as? String)?.hasPrefix("ai1") == true, "\(file)")
            #expect(streams?.first?["nb_read_frames"] as? String == "4", "\(file)")
        }
    }

    private static let x265 = "log-level=none:keyint=10:repeat-headers=1:bframes=0"

    private func tag(of path: String) throws -> (tag: String?, frames: String?) {
        let streams =
            try FFmpegFile(path).probe([
                "-count_frames", "-show_entries", "stream=codec_tag_string,nb_read_frames",
            ])["streams"] as? [[String: Any]]
        return (streams?.first?["codec_tag_string"] as? String, streams?.first?["nb_read_frames"] as? String)
    }

    /// Copies of HEVC have the tag `hvc1`: Apple's players reject `hev1`, which libavformat chooses.
    @Test(arguments: ["mkv", "ts", "mp4"], ["copied.mp4", "copied.mov", "fragments.mp4"])
    func hevc_copied_isHvc1(_ source: String, _ target: String) async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=2", "-c:v", "libx265", "-x265-params", Self.x265,
            scratch.file("s.\(source)"))
        let result = try success(
            try await run(
                """
                version: 1
                jobs:
                  copied:
                    asset: ./s.\(source)
                    tracks: [ { video: first, copy: true } ]
                    \(target.hasPrefix("fragments") ? "fragment: 1s" : "metadata: { keep: all }")
                    destination: \(target)
                """, in: scratch.path))
        let found = try tag(of: scratch.file(target))
        #expect(found.tag == "hvc1" && found.frames == "50", "\(found)")
        #expect(result.outputs[0].warnings.isEmpty, "\(result.outputs[0].warnings)")
    }

    /// If parameter sets change, the sample entry can't contain all of them, so the tag is `hev1`, which is reported.
    @Test(arguments: ["mkv", "ts"]) func hevc_whoseParameterSetsChange_isHev1AndReported(_ source: String)
        async throws
    {
        let scratch = try Scratch()
        var stream = Data()
        for parameters in ["", ":ref=1:cbqpoffs=3"] {
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=2", "-c:v", "libx265", "-x265-params",
                Self.x265 + parameters, scratch.file("part.hevc"))
            stream += try Data(contentsOf: URL(filePath: scratch.file("part.hevc")))
        }
        try stream.write(to: URL(filePath: scratch.file("all.hevc")))
        try ffmpeg(
            "-r", "25", "-i", scratch.file("all.hevc"), "-c", "copy", "-bsf:v",
            "setts=ts=N*3600:time_base=1/90000",
            scratch.file("s.\(source)"))
        let result = try success(
            try await run(
                """
                version: 1
                jobs:
                  copied: { asset: ./s.\(source), tracks: [ { video: first, copy: true } ], destination: copied.mp4 }
                """, in: scratch.path))
        let found = try tag(of: scratch.file("copied.mp4"))
        #expect(found.tag == "hev1" && found.frames == "100", "\(found)")
        #expect(result.outputs[0].warnings.contains { $0.contains("hev1") }, "\(result.outputs[0].warnings)")
    }
}
