import Foundation
import TestSupport
import Testing

/// Transport and program streams don't declare a duration. Times that depend on it are measured, not estimated.
@Suite struct EstimatedDurationTests {
    /// Names of sources with 25 frames/s, and their encoder arguments.
    private static let sources: [(name: String, arguments: [String])] = [
        ("plain.ts", ["-c:v", "libx264", "-g", "25", "-bf", "3"]),
        ("slow.ts", ["-c:v", "libx264", "-g", "25", "-bf", "0", "-x264-params", "rc-lookahead=0"]),
        ("mpeg2.ts", ["-c:v", "mpeg2video", "-g", "12", "-bf", "2"]),
        ("mpeg2.mpg", ["-c:v", "mpeg2video", "-g", "12", "-bf", "2"]),
    ]

    private func source(_ index: Int, in scratch: Scratch) throws -> (name: String, frames: [String]) {
        let (name, arguments) = Self.sources[index]
        try ffmpeg(["-f", "lavfi", "-i", "testsrc2=s=160x96:r=25:d=6"] + arguments + [scratch.file(name)])
        let frames = try FFmpegFile(scratch.file(name)).frameHashes()
        #expect(frames.count == 150)
        return (name, frames)
    }

    private func runJob(_ job: String, in scratch: Scratch) throws -> FFmpegFile {
        try scratch.write("version: 1\njobs: { it: { \(job) } }\n", to: "jobs.yaml")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        try #require(run.status == 0, "\(job): \(run.errors)")
        return FFmpegFile(scratch.file("o.mp4"))
    }

    /// The output ends with the last frame of the source, for all spellings of the end of a copied range.
    @Test(arguments: sources.indices, ["start: 3.3s", "start: 3.3s, end: end", "start: 3.3s, end: 100%"])
    func copiesContainTheLastFrame(_ index: Int, _ range: String) throws {
        let scratch = try Scratch()
        let (name, frames) = try source(index, in: scratch)
        for cut in name.contains("mpeg2") ? ["keyframe"] : ["keyframe", "smart"] {
            let output = try runJob(
                "asset: ./\(name), range: { \(range) }, cut: \(cut), tracks: [ { video: first, copy: true } ], destination: { path: o.mp4, if_exists: replace }",
                in: scratch)
            let hashes = try output.frameHashes()
            #expect(hashes.last == frames.last, "\(cut)")
            #expect(hashes.count == (cut == "smart" ? 68 : name.contains("mpeg2") ? 78 : 75), "\(cut)")
        }
    }

    /// Audio packets in the last PES packet, which libavformat's estimated duration doesn't include, are copied. In a
    /// test, a quarter of a second was missing.
    @Test(arguments: ["start: 3.3s", "start: 3.3s, end: end"])
    func copiedAudioContainsTheLastPacket(_ range: String) throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x96:r=25:d=6", "-f", "lavfi", "-i", "sine=d=6.3:r=48000",
            "-c:v", "libx264", "-g", "25", "-c:a", "aac", scratch.file("s.ts"))
        _ = try runJob(
            "asset: ./s.ts, range: { \(range) }, cut: smart, tracks: [ { video: first, copy: true }, { audio: first, copy: true } ], destination: o.ts",
            in: scratch)
        let last = try FFmpegFile(scratch.file("o.ts")).packetHashes("a:0").last
        #expect(try last != nil && last == FFmpegFile(scratch.file("s.ts")).packetHashes("a:0").last)
    }

    /// An end after the estimated duration is valid if the source reaches it; otherwise the error states the measured
    /// duration.
    @Test(arguments: sources.indices) func endsAfterTheEstimatedDurationAreMeasured(_ index: Int) throws {
        let scratch = try Scratch()
        let (name, frames) = try source(index, in: scratch)
        for (end, count) in [("5.9", 66), ("5.94", 67), ("6", 68)] {
            let output = try runJob(
                "asset: ./\(name), range: { start: 3.3s, end: \(end)s }, tracks: [ { video: first, encode: { codec: h264, lossless: true } } ], destination: { path: o.mp4, if_exists: replace }",
                in: scratch)
            let hashes = try output.frameHashes()
            #expect(hashes.count == count, "\(end)")
            #expect(hashes.last == frames[82 + count - 1], "\(end)")
        }
        try scratch.write(
            "version: 1\njobs: { it: { asset: ./\(name), range: { start: 3.3s, end: 6.02s }, tracks: [ { video: first, encode: { codec: h264 } } ], destination: p.mp4 } }\n",
            to: "jobs.yaml")
        let run = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(run.status == 3)
        #expect(run.errors.contains("the source ends at 6 s"), "\(run.errors)")
    }

    /// Positions relative to the end, and percentages, are exact.
    @Test func positionsRelativeToTheEndAreExact() throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x96:r=25:d=2", "-f", "lavfi", "-i", "sine=d=3:r=48000",
            "-c:v", "libx264", "-g", "25", "-c:a", "aac", scratch.file("s.ts"))
        let whole = try FFmpegFile(scratch.file("s.ts")).samples(channels: 1, rate: 48_000).count
        for (range, samples) in [
            ("start: -1s", 48_000), ("end: -1s", whole - 48_000), ("start: 50%", whole / 2),
            ("duration: 25%", whole / 4),
        ] {
            _ = try runJob(
                "asset: ./s.ts, range: { \(range) }, tracks: [ { audio: first, encode: { codec: flac } } ], destination: { path: o.flac, if_exists: replace }",
                in: scratch)
            let found = try FFmpegFile(scratch.file("o.flac")).samples(channels: 1, rate: 48_000).count
            #expect(abs(found - samples) <= 1, "\(range): \(found) of \(samples)")
        }
        try scratch.write(
            "version: 1\njobs: { it: { asset: ./s.ts, images: { every: 0.5s }, destination: \"o-${image.number}.png\" } }\n",
            to: "jobs.yaml")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 0, "\(run.errors)")
        #expect(scratch.contents.count { $0.hasPrefix("o-") } == 7, "\(scratch.contents)")
    }

    /// Copies start with a whole packet, although libavformat returns partial packets after a seek in a program stream.
    @Test(arguments: ["mp2", "ac3"]) func copiesOfProgramStreamsStartWithAWholePacket(_ codec: String) throws
    {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x96:r=25:d=3", "-f", "lavfi", "-i",
            "aevalsrc=0.5*sin(t*t*900):d=3:s=48000", "-c:v", "mpeg2video", "-g", "12", "-bf", "2", "-b:v",
            "500k",
            "-c:a", codec, scratch.file("s.mpg"))
        let all = try FFmpegFile(scratch.file("s.mpg")).packetHashes("a:0")
        for start in ["0.4", "1", "1.1", "1.5", "1.8", "2.3"] {
            _ = try runJob(
                "asset: ./s.mpg, range: { start: \(start)s, end: 2.7s }, cut: keyframe, tracks: [ { video: first, copy: true }, { audio: first, copy: true } ], destination: { path: o.mkv, if_exists: replace }",
                in: scratch)
            let copied = try FFmpegFile(scratch.file("o.mkv")).packetHashes("a:0")
            let first = try #require(
                all.firstIndex(of: copied.first ?? ""), "\(start): its first packet isn't in the source")
            #expect(Array(all[first...].prefix(copied.count)) == copied, "\(start)")
        }
    }

    /// Program streams with a single frame, for which libavformat reports no start time, start at zero.
    @Test(arguments: [1, 2, 3]) func shortProgramStreamsStartAtZero(_ frames: Int) throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x96:r=25", "-frames:v", "\(frames)", "-c:v", "mpeg2video",
            scratch.file("s.mpg"))
        let output = try runJob(
            "asset: ./s.mpg, tracks: [ { video: first, encode: { codec: h264 } } ], destination: o.mp4",
            in: scratch)
        #expect(try output.frames().times == (0..<frames).map { Double($0) / 25 })
        let probe = try tandem("probe", "s.mpg", in: scratch).text
        // The duration is an estimate, which differs in FFmpeg 7.1.
        #expect(probe.contains(" 0 s to 0."), "\(probe)")
    }

    @Test(arguments: sources.indices) func imagesAfterTheEstimatedDurationAreCreated(_ index: Int) throws {
        let scratch = try Scratch()
        let (name, _) = try source(index, in: scratch)
        try scratch.write(
            "version: 1\njobs: { it: { asset: ./\(name), images: { at: [ 5.98s, end ], format: png }, destination: \"o-${image.number}.png\" } }\n",
            to: "jobs.yaml")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        try #require(run.status == 0, "\(run.errors)")
        #expect(
            try FFmpegFile(scratch.file("o-0001.png")).frameHashes()
                == FFmpegFile(scratch.file("o-0002.png")).frameHashes())
    }
}
