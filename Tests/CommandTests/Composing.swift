import Foundation
import TestSupport
import Testing

/// A suite that creates compositions of short clips.
protocol Composing {}

extension Composing {
    /// Creates three clips of one format whose frames and samples all differ.
    func folder() throws -> Scratch {
        let scratch = try Scratch()
        for (index, (name, tone)) in [("a", 300), ("b", 500), ("c", 700)].enumerated() {
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc2=d=2:r=25:s=128x96,hue=h=\(index * 60)", "-f", "lavfi", "-i",
                "aevalsrc=0.3*sin(2*PI*t*(\(tone)+60*t)):d=2:s=48000", "-c:v", "ffv1", "-pix_fmt", "yuv420p",
                "-c:a", "flac", scratch.file("\(name).mkv"))
        }
        return scratch
    }

    func job(_ composition: String, to output: String = "o.mkv", tracks: String? = nil) -> String {
        let tracks =
            tracks
            ?? "[ { video: first, encode: { codec: ffv1 } }, { audio: first, encode: { codec: flac } } ]"
        return """
            version: 1
            jobs:
              j:
                composition: \(composition)
                tracks: \(tracks)
                destination: { path: \(output), if_exists: replace }
            """
    }

    func rendered(_ composition: String, in scratch: Scratch, isolation: String = "worker") throws
        -> FFmpegFile
    {
        try scratch.write(job(composition), to: "jobs.yaml")
        let run = try tandem("run", "--isolation", isolation, "jobs.yaml", in: scratch)
        try #require(run.status == 0, "\(run.errors)")
        return FFmpegFile(scratch.file("o.mkv"))
    }

    func error(_ composition: String, in scratch: Scratch, _ command: String = "plan") throws
        -> String
    {
        try scratch.write(job(composition), to: "jobs.yaml")
        let run = try tandem(command, "jobs.yaml", in: scratch)
        #expect(run.status == 3, "\(composition): \(run.errors)")
        #expect(!scratch.contents.contains("o.mkv"))
        return run.errors
    }
}
