import Foundation
import JobRun
import Media
import TestSupport
import Testing

/// Frames that are pairs of fields, as in broadcasts, remain whole. libavformat splits them into packets, or halves
/// their duration.
@Suite struct FieldTests {
    private static let count = 48

    /// Creates a file with the same frames, with a packet for each frame or for each field.
    private func source(_ kind: String, in scratch: Scratch) throws -> String {
        let stream = FieldStream(count: Self.count)
        let (matroska, path) = (scratch.file("s.mkv"), scratch.file("\(kind).ts"))
        try stream.matroska().write(to: URL(fileURLWithPath: matroska))
        switch kind {
        case "frames":
            try ffmpeg("-i", matroska, "-c", "copy", path)
            return path
        case "fields":
            try stream.elementary().write(to: URL(fileURLWithPath: scratch.file("s.h264")))
            // Decoding order: the first frame, then every third one followed by the two before it.
            let frame = "(floor(N/2)-1)"
            let position = "if(lt(N,2),0,3*floor(\(frame)/3)+if(eq(mod(\(frame),3),0),3,mod(\(frame),3)))"
            let pts = "(\(position)+2)*3600+mod(N,2)*1800+90000".replacing(",", with: "\\,")
            try ffmpeg(
                "-r", "50", "-i", scratch.file("s.h264"), "-c", "copy", "-bsf:v",
                "setts=time_base=1/90000:pts=\(pts):dts=N*1800+90000:duration=1800", path)
            return path
        default:
            try ffmpeg("-i", matroska, "-c", "copy", scratch.file("s.mp4"))
            return scratch.file("s.mp4")
        }
    }

    /// Each sample is a frame with a frame's duration, for all sources and containers.
    @Test(arguments: ["frames", "fields", "movie"], ["mp4", "mkv", "ts"])
    func copiesHaveWholeFrames(_ kind: String, _ container: String) async throws {
        let scratch = try Scratch()
        let path = try source(kind, in: scratch)
        let outcomes = try await run(
            """
            version: 1
            jobs:
              copy:
                asset: \(path)
                tracks: [ { video: first, copy: true } ]
                destination: \(scratch.file("copy.\(container)"))
              encoded:
                asset: \(path)
                tracks: [ { video: first, encode: { codec: ffv1 } } ]
                destination: \(scratch.file("encoded.mkv"))
            """, in: scratch.path)
        let wanted = try FFmpegFile(scratch.file("s.mkv")).frameHashes()
        let shown = Self.count - 2
        #expect(wanted.count == shown)
        for (job, name) in [("copy", "copy.\(container)"), ("encoded", "encoded.mkv")] {
            #expect(
                abs(try success(outcomes, job).outputs[0].duration.seconds - 0.04 * Double(shown)) < 0.0011)
            #expect(try FFmpegFile(scratch.file(name)).frameHashes() == wanted)
        }
        guard container != "ts" else { return }
        let copied = try FFmpegFile(scratch.file("copy.\(container)")).decodedFrames()
        #expect(copied.enumerated().allSatisfy { abs($1.time - 0.04 * Double($0)) < 0.0011 })
        let packets = try FFmpegFile(scratch.file("copy.\(container)")).probe([
            "-select_streams", "v", "-show_entries", "packet=size",
        ])
        #expect((packets["packets"] as? [Any])?.count == shown)
    }

    /// Ranges have the requested duration, and cuts consist of whole frames.
    @Test(arguments: ["frames", "fields", "movie"], ["keyframe", "smart"])
    func rangesHaveWholeFrames(_ kind: String, _ cut: String) async throws {
        let scratch = try Scratch()
        let path = try source(kind, in: scratch)
        let outcomes = try await run(
            """
            version: 1
            jobs:
              cut:
                asset: \(path)
                range: { start: 0.4, end: 1.4 }
                cut: \(cut)
                tracks: [ { video: first, copy: true } ]
                destination: \(scratch.file("cut.mp4"))
            """, in: scratch.path)
        // The keyframe at 1.44 s is copied with its leading frames.
        let (first, count) = cut == "smart" ? (10, 25) : (0, 37)
        #expect(abs(try success(outcomes).outputs[0].duration.seconds - 0.04 * Double(count)) < 1e-6)
        let have = try FFmpegFile(scratch.file("cut.mp4")).frameHashes()
        let wanted = try FFmpegFile(scratch.file("s.mkv")).frameHashes()[first..<(first + count)]
        #expect(have.count == wanted.count)
        #expect(zip(have, wanted).count { $0 == $1 } >= (cut == "smart" ? 18 : count))
    }

    /// Captures of broadcasts that start with the second field of a frame, or within a GOP, are copied.
    @Test func capturesWithIncompleteBeginningsAreCopied() async throws {
        let scratch = try Scratch()
        let whole = try Data(contentsOf: URL(fileURLWithPath: try source("frames", in: scratch)))
        for packets in [40, 60, 75] {
            let path = scratch.file("capture-\(packets).ts")
            // The tables (PAT, PMT) are repeated within the file.
            try (whole.prefix(3 * 188) + whole.dropFirst(packets * 188)).write(to: URL(fileURLWithPath: path))
            _ = try success(
                try await run(
                    """
                    version: 1
                    jobs:
                      copy:
                        asset: \(path)
                        tracks: [ { video: first, copy: true } ]
                        destination: \(scratch.file("copy-\(packets).mp4"))
                    """, in: scratch.path))
            let wanted = try FFmpegFile(scratch.file("s.mkv")).frameHashes()
            let copied = try FFmpegFile(scratch.file("copy-\(packets).mp4")).frameHashes()
            // Compares the frames from the first keyframe on.
            #expect(copied.suffix(20) == wanted.suffix(20))
        }
    }

    /// Interlaced frames that keep their size stay interlaced in codecs that can signal it, and chroma is upsampled
    /// within each field.
    @Test(arguments: ["top", "bottom"]) func interlacedEncodesSignalTheirFieldOrder(_ first: String)
        async throws
    {
        let scratch = try Scratch()
        let flag = first == "top" ? "tff" : "bff"
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=320x240:r=50:d=1,format=yuv420p", "-vf",
            "tinterlace=interleave_\(first),setfield=\(flag)", "-c:v", "libx264", "-flags", "+ildct+ilme",
            "-x264-params", "\(flag)=1", scratch.file("s.mp4"))
        let outputs = [
            ("h264", "", "mov"), ("prores", "", "mov"), ("prores", "", "mkv"), ("ffv1", "", "mkv"),
            ("ffv1", ", pixel_format: yuv422p", "mkv"),
        ]
        let jobs = outputs.enumerated().map { index, output in
            "  j\(index): { asset: ./s.mp4, tracks: [ { video: first, encode: { codec: \(output.0)\(output.1) } } ], destination: \(index).\(output.2) }\n"
        }
        let records = try await run("version: 1\njobs:\n" + jobs.joined(), in: scratch.path)
        for (index, output) in outputs.enumerated() {
            _ = try success(records, "j\(index)")
            let path = scratch.file("\(index).\(output.2)")
            let fieldOrder = try FFmpegFile(path).stream("v:0", "field_order")["field_order"] as? String
            #expect(fieldOrder?.first == first.first, "\(output): \(fieldOrder ?? "nothing")")
            let scanType = try program("mediainfo", ["--Inform=Video;%ScanType% %ScanOrder%", path]).text
            #expect(scanType.hasSuffix(" \(flag.uppercased())\n"), "\(output): \(scanType)")
            let frames = try program(
                "ffprobe",
                [
                    "-v", "error", "-show_entries", "frame=interlaced_frame,top_field_first", "-of",
                    "csv=p=0", path,
                ]
            ).text.split(separator: "\n")
            #expect(frames.count == 25)
            #expect(
                frames.allSatisfy { $0.hasPrefix(first == "top" ? "1,1" : "1,0") }, "\(output): \(frames)")
        }
        let wanted = try program(
            "ffmpeg",
            [
                "-v", "error", "-i", scratch.file("s.mp4"), "-vf",
                "scale=flags=bicubic:interl=1,format=yuv422p", "-f", "framemd5", "-",
            ]
        ).text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap {
            $0.split(separator: " ").last.map(String.init)
        }
        #expect(try FFmpegFile(scratch.file("4.mkv")).frameHashes() == wanted && wanted.count == 25)
    }
}
