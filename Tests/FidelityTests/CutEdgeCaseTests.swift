import Foundation
import JobPlan
import JobRun
import Media
import TestSupport
import Testing

/// Tests edge cases of cuts: open GOPs, coarse time bases, limits, short ranges, AVI and interlaced transport streams.
@Suite struct CutEdgeCaseTests {
    private func job(_ asset: String, _ more: String, _ action: String, to target: String) -> String {
        "version: 1\njobs:\n  it: { asset: ./\(asset), \(more), tracks: [ { video: first, \(action) } ], destination: { path: \(target), if_exists: replace } }\n"
    }

    /// Creates ten seconds of different frames, with open or closed GOPs.
    private func source(_ name: String, in scratch: Scratch, isOpen: Bool = false, rate: String = "25") throws
    {
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x90:r=\(rate):d=10", "-c:v", "libx264", "-g", "25", "-bf",
            "3",
            "-x264-params", "open-gop=\(isOpen ? 1 : 0):b-pyramid=normal", scratch.file(name))
    }

    private func packets(_ path: String) throws -> [[String: Any]] {
        try FFmpegFile(path).probe(["-select_streams", "v:0", "-show_entries", "frame=pts_time"])["frames"]
            as? [[String: Any]] ?? []
    }

    /// In a transport stream, parameter sets precede every frame from which decoding can start, IDR or not.
    @Test func openGOPsBeginWithParameterSets() async throws {
        let scratch = try Scratch()
        try source("s.mp4", in: scratch, isOpen: true)
        _ = try success(
            try await run(
                job("s.mp4", "cut: keyframe, range: { start: 1.5s, end: 5s }", "copy: true", to: "o.ts"),
                in: scratch.path))
        let stream = try FFmpegFile(scratch.file("o.ts")).probe(["-show_entries", "stream=width"])["streams"]
        #expect((stream as? [[String: Any]])?.first?["width"] as? Int == 160)
        #expect(try packets(scratch.file("o.ts")).count >= 100)
    }

    /// Cuts from Matroska to Matroska at times that its time base rounds keep every frame.
    @Test(arguments: ["3.3331s", "3.3335s", "3.333s"]) func cutsAtRoundedTimesKeepEveryFrame(_ start: String)
        async throws
    {
        let scratch = try Scratch()
        try source("s.mkv", in: scratch, rate: "30000/1001")
        _ = try success(
            try await run(
                job("s.mkv", "cut: smart, range: { start: \(start), end: 5.5s }", "copy: true", to: "o.mkv"),
                in: scratch.path))
        #expect(try packets(scratch.file("o.mkv")).count == 66)
    }

    /// `limit` applies to the output, regardless of the distance of the keyframe before the range.
    @Test func limitsApplyToKeyframeCuts() async throws {
        let scratch = try Scratch()
        try source("s.mp4", in: scratch)
        for (start, limit) in [("1.5", "2.1"), ("1.96", "1.2")] {
            let records = try await run(
                job(
                    "s.mp4",
                    "cut: keyframe, range: { start: \(start)s, end: 9s }, limit: { duration: \(limit)s }",
                    "copy: true", to: "o.mp4"), in: scratch.path)
            _ = try success(records)
            let seconds = try #require(Double(limit))
            #expect(try #require(records[0].plan).expectedDuration.seconds <= seconds)
            #expect(Double(try packets(scratch.file("o.mp4")).count) / 25 <= seconds)
        }
    }

    /// A range within one frame shows this frame.
    @Test(arguments: ["start: 0.37s, end: 0.38s", "start: 9.99s"]) func rangeWithinAFrameShowsIt(
        _ range: String
    )
        async throws
    {
        let scratch = try Scratch()
        try source("s.mp4", in: scratch)
        _ = try success(
            try await run(
                job("s.mp4", "range: { \(range) }", "encode: { codec: h264 }", to: "o.mp4"), in: scratch.path)
        )
        #expect(try packets(scratch.file("o.mp4")).count == 1)
    }

    /// H.264 in AVI, which stores only decoding times and a rate that may count fields, keeps its speed.
    @Test func h264InAVIKeepsItsSpeed() async throws {
        let scratch = try Scratch()
        try source("s.mp4", in: scratch)
        try ffmpeg("-i", scratch.file("s.mp4"), "-c", "copy", scratch.file("s.avi"))
        let range = "range: { start: 0.5s, end: 3s }"
        for (more, action) in [
            (range, "encode: { codec: h264 }"), (range + ", cut: smart-or-exact", "copy: true"),
        ] {
            let records = try await run(job("s.avi", more, action, to: "o.mp4"), in: scratch.path)
            _ = try success(records)
            let count = try packets(scratch.file("o.mp4")).count
            #expect((62...64).contains(count), "\(count)")
        }
    }

    /// Interlaced ranges in transport streams, which can't be joined, are errors of the plan; `smart-or-exact`
    /// re-encodes them.
    @Test func interlacedRangesInTransportStreamsAreRejectedOrReencoded() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x96:r=50:d=10", "-vf", "interlace", "-c:v", "libx264", "-g",
            "25",
            "-flags", "+ildct+ilme", scratch.file("s.mp4"))
        let ranges =
            "range: [ { start: 0.3s, end: 0.7s }, { start: 0.3s, end: 0.7s }, { start: 7.9s, end: 10s } ], "
        let refused = try await run(
            job("s.mp4", ranges + "cut: smart", "copy: true", to: "a.ts"), in: scratch.path)
        #expect(refused[0].plan == nil)
        let records = try await run(
            job("s.mp4", ranges + "cut: smart-or-exact", "copy: true", to: "b.ts"), in: scratch.path)
        _ = try success(records)
        #expect(try packets(scratch.file("b.ts")).count == 75)
        _ = try success(
            try await run(job("s.mp4", ranges + "cut: smart", "copy: true", to: "c.mp4"), in: scratch.path))
    }
}
