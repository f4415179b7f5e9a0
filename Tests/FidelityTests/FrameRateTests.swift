import Foundation
import JobRun
import Media
import TestSupport
import Testing

/// A new frame rate: each frame is the one that the source shows at its time, and the last one ends where the range does.
@Suite struct FrameRateTests {
    /// Which frame of the source each of a file's is: they are told apart by their light.
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

    @Test func picturesAreThoseOnScreen() async throws {
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

    /// Milliseconds round times up and down; frames at their own rate stay what they are.
    @Test(arguments: ["30", "30000/1001", "24000/1001", "60"]) func roundedTimesStayInStep(_ rate: String)
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
}
