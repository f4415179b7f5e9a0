import Foundation
import TestSupport
import Testing

/// Tests that count reads of the source for several outputs.
extension OutputsTests {
    /// Outputs with the same range share one reader: the number of bytes read from the source doesn't depend on the
    /// number of outputs.
    @Test func sourcesAreReadOnceForAllOutputs() throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=d=4:r=25:s=640x360,noise=alls=30:allf=t", "-c:v", "libx264",
            "-preset",
            "ultrafast", "-qp", "10", scratch.file("a.mp4"))
        func bytesRead(_ count: Int) throws -> Int {
            let outputs = (0..<count).map {
                (
                    "o\($0)",
                    "tracks: [ { video: first, encode: { codec: h264, preset: ultrafast, size: 64x } } ]"
                )
            }
            try scratch.write(job(outputs), to: "jobs.yaml")
            let script = """
                strace -f -qq -y -e trace=pread64 -o trace "$0" run --force --isolation none jobs.yaml 2>log || { cat log; exit 1; }
                grep 'a\\.mp4>' trace | sed -n 's/.*= \\([0-9]*\\)$/\\1/p' | awk '{ sum += $1 } END { print sum }'
                """
            let result = try program("/bin/bash", ["-c", script, TestPaths.tandem], directory: scratch.path)
            return try #require(
                Int(result.text.trimmingCharacters(in: .newlines)), "\(result.text) \(result.errors)")
        }
        let (one, four) = (try bytesRead(1), try bytesRead(4))
        #expect(Double(four) < 1.2 * Double(one), "\(one) and \(four) bytes")
    }

    /// The plan states which outputs share a reader.
    @Test func planStatesWhichOutputsShareAReader() throws {
        let scratch = try folderWithSource()
        let video = "tracks: [ { video: first, encode: { codec: ffv1 } } ]"
        try scratch.write(
            job([("a", video), ("b", "\(video), limit: { duration: 200ms }"), ("c", video)]), to: "jobs.yaml")
        let plan = try tandem("plan", "jobs.yaml", in: scratch).text
        let lines = plan.split(separator: "\n").filter { $0.hasPrefix("  read ") }.map { $0.dropFirst(13) }
        #expect(
            lines == [
                "shared with c", "separate from the other outputs, because range or duration differ",
                "shared with a",
            ],
            "\(plan)")
        try scratch.write(job([("a", video)]), to: "jobs.yaml")
        #expect(!(try tandem("plan", "jobs.yaml", in: scratch).text.contains("  read ")))
    }
}
