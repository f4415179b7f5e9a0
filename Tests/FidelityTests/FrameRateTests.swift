import Foundation
import JobRun
import Media
import TestSupport
import Testing

/// A conversion of the frame rate outputs the source frame that is presented at each time. The last frame ends with the
/// range.
@Suite struct FrameRateTests {
    /// Returns the source's frame number of each frame, which its brightness encodes.
    private func numbers(_ path: String) throws -> [Int] {
        let result = try program(
            "ffmpeg",
            [
                "-v", "error", "-i", path, "-fps_mode", "passthrough", "-vf",
                "crop=2:2,extractplanes=y", "-f",
                "rawvideo", "-c:v", "rawvideo", "-",
            ])
        let bytes = [UInt8](result.output)
        return stride(from: 0, to: bytes.count, by: 4).map { Int(((Double(bytes[$0]) - 20) / 4).rounded()) }
    }

    private func source(_ name: String, rate: String, in scratch: Scratch) throws {
        try ffmpeg(
            "-f", "lavfi", "-i", "color=black:s=32x32:r=\(rate):d=3", "-vf",
            "geq=lum='20+4*mod(N,50)':cb=128:cr=128",
            "-frames:v", "50", "-c:v", "libx264", "-qp", "1", "-bf", "0", scratch.file(name))
    }

    @Test func frameRateConversionKeepsTheFramePresentedAtEachTime() async throws {
        let scratch = try Scratch()
        try source("s.mp4", rate: "25", in: scratch)
        let jobs: [(id: String, range: String, rate: String, start: [(Double, Double)])] = [
            ("one", "range: { start: 0.4, end: 1.6s }", "1", [(0.4, 1.6)]),
            ("slow", "limit: { duration: 1s }", "0.5", [(0, 1)]),
            ("part", "limit: { duration: 0.25s }", "10", [(0, 0.25)]),
            ("four", "range: { start: 0.25, end: 1.05s }", "4", [(0.25, 1.05)]),
            (
                "joined", "range: [ { start: 0, end: 0.4s }, { start: 1.2, end: 1.6s } ]", "5",
                [(0, 0.4), (1.2, 1.6)]
            ),
            ("more", "range: { start: 0.4, end: 1.6s }", "60", [(0.4, 1.6)]),
            ("film", "range: { start: 0.4, end: 1.6s }", "24000/1001", [(0.4, 1.6)]),
        ]
        let text = jobs.map {
            "  \($0.id): { asset: ./s.mp4, \($0.range), tracks: [ { video: first, encode: { codec: h264, qp: 1, frame_rate: \($0.rate) } } ], destination: \($0.id).mp4 }\n"
        }
        let records = try await run("version: 1\njobs:\n" + text.joined(), in: scratch.path)
        for job in jobs {
            let length = job.start.reduce(0) { $0 + $1.1 - $1.0 }
            let result = try success(records, job.id)
            #expect(
                abs(result.outputs[0].duration.seconds - length) < 0.0006,
                "\(job.id): \(result.outputs[0].duration)")
            let parts = job.rate.split(separator: "/").compactMap { Double($0) }
            let rate = parts[0] / (parts.count > 1 ? parts[1] : 1)
            let wanted = (0..<Int((length * rate - 1e-6).rounded(.up))).map { number in
                var time = Double(number) / rate
                for (start, end) in job.start {
                    if time < end - start - 1e-9 { return Int((start + time) * 25 + 1e-6) }
                    time -= end - start
                }
                return -1
            }
            #expect(try numbers(scratch.file("\(job.id).mp4")) == wanted, "\(job.id)")
        }
    }

    /// At the source's own rate every frame is kept, although times are rounded to milliseconds.
    @Test(arguments: ["30", "30000/1001", "24000/1001", "60"]) func framesWithRoundedTimesAreKept(
        _ rate: String
    )
        async throws
    {
        let scratch = try Scratch()
        try source("s.mkv", rate: rate, in: scratch)
        try ffmpeg("-i", scratch.file("s.mkv"), "-c", "copy", scratch.file("s.flv"))
        for name in ["s.mkv", "s.flv"] {
            _ = try success(
                try await run(
                    """
                    version: 1
                    jobs:
                      j: { asset: ./\(name), tracks: [ { video: first, encode: { codec: h264, qp: 1, frame_rate: \(rate) } } ], destination: { path: o.mp4, if_exists: replace } }
                    """, in: scratch.path))
            #expect(try numbers(scratch.file("o.mp4")) == Array(0..<50), "\(name)")
        }
    }

    /// Copies into Matroska declare the frame rate: without it, readers compute 1000/33 for 29.97 from timestamps in
    /// milliseconds.
    @Test(arguments: ["mkv", "mp4"]) func nominalRate_ofCopiesIntoMatroska_isStated(_ source: String)
        async throws
    {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=30000/1001:d=8", "-c:v", "libx264", "-g", "30",
            "-preset",
            "ultrafast", "-bf", "2", scratch.file("s.\(source)"))
        let records = try await run(
            """
            version: 1
            jobs:
              copied:
                asset: ./s.\(source)
                tracks: [ { video: first, copy: true } ]
                destination: copied.mkv
                expect: { video: { frame_rate: 29.97 } }
              cut:
                asset: ./s.\(source)
                range: { start: 1.1s, end: 6s }
                cut: smart
                tracks: [ { video: first, copy: true } ]
                destination: cut.mkv
                expect: { video: { frame_rate: 29.97 } }
              joined:
                composition: [ ./s.\(source), ./s.\(source) ]
                cut: smart
                tracks: [ { video: first, copy: true } ]
                destination: joined.mkv
                expect: { video: { frame_rate: 29.97 } }
            """, in: scratch.path)
        for id in ["copied", "cut", "joined"] {
            _ = try success(records, id)
            let stream = try FFmpegFile(scratch.file("\(id).mkv")).stream(
                "v:0", "avg_frame_rate,r_frame_rate")
            #expect(stream["avg_frame_rate"] as? String == "30000/1001", "\(id)")
        }
    }

    /// For a variable frame rate none is declared, because readers would assume equal frame durations.
    @Test func nominalRate_ofVariableSource_isNotStated() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=4", "-vf", "select='not(mod(n,5))+lt(n,40)'",
            "-fps_mode", "passthrough", "-c:v", "libx264", "-bf", "0", scratch.file("s.mp4"))
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  copied: { asset: ./s.mp4, tracks: [ { video: first, copy: true } ], destination: copied.mkv }
                """, in: scratch.path))
        let data = try Data(contentsOf: URL(filePath: scratch.file("copied.mkv")))
        // The element DefaultDuration, by its id and the length of its value.
        #expect(!data.prefix(4096).contains([0x23, 0xe3, 0x83, 0x84]))
    }

    /// The first decoding times of a smart cut are one frame apart, like the following ones.
    @Test func decodingTimes_ofSmartCut_areAFrameApart() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=30000/1001:d=6", "-c:v", "libx264", "-g", "30",
            "-preset",
            "ultrafast", "-bf", "2", "-video_track_timescale", "30000", scratch.file("s.mp4"))
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  cut:
                    asset: ./s.mp4
                    range: { start: 1.1s, end: 4s }
                    cut: smart
                    tracks: [ { video: first, copy: true } ]
                    destination: cut.mp4
                """, in: scratch.path))
        let json = try FFmpegFile(scratch.file("cut.mp4")).probe([
            "-select_streams", "v:0", "-show_entries", "packet=dts",
        ])
        let times = try #require(json["packets"] as? [[String: Any]]).compactMap { $0["dts"] as? Int }
        let deltas = Set(zip(times.dropFirst(), times).map { $0 - $1 })
        #expect(times.count > 80)
        // The first frame is the one shown at the start of the range; its duration starts there.
        #expect(deltas.allSatisfy { $0 <= 1001 }, "\(deltas)")
    }
}
