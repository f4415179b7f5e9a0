internal import Foundation
internal import TestSupport
internal import Testing

/// Tests jobs whose frames have the subtitles of a file: reruns, saved plans, access, and outputs of one source.
@Suite struct BurnedSubtitleCommandTests {
    private static let cues = "1\n00:00:00,500 --> 00:00:01,500\nHELLO\n"

    private func folder(_ jobs: String) throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write(Self.cues, to: "captions.srt")
        try scratch.write("version: 1\njobs:\n\(jobs)\n", to: "jobs.yaml")
        return scratch
    }

    private static let one =
        "  one: { asset: { pattern: black, duration: 2s, size: 320x180 }, tracks: [ { video: first, encode: { codec: ffv1, burn: { asset: captions.srt } } } ], destination: o.mkv }"

    /// Returns the largest luma of the frame at 1 s. The frames before it are decoded: ffmpeg can't seek in segments of one file.
    private func luma(_ file: String, in scratch: Scratch) throws -> UInt8 {
        let frame = try program(
            "ffmpeg",
            [
                "-v", "error", "-i", scratch.file(file), "-ss", "1", "-frames:v", "1", "-pix_fmt", "gray",
                "-f", "rawvideo", "-",
            ]
        ).output
        return try #require([UInt8](frame).max())
    }

    /// A changed file causes a rerun, and saved plans refuse it.
    @Test func changedFile_causesARerun() throws {
        let scratch = try folder(Self.one)
        let first = try tandem("run", "jobs.yaml", in: scratch)
        try #require(first.status == 0, "\(first.errors)")
        #expect(try luma("o.mkv", in: scratch) > 200)
        #expect(try tandem("run", "jobs.yaml", in: scratch).errors.contains("1 of them up to date"))
        #expect(try tandem("plan", "--out", "plan.json", "jobs.yaml", in: scratch).status == 0)
        try scratch.write(Self.cues.replacing("HELLO", with: "OTHER"), to: "captions.srt")
        #expect(
            try tandem("explain", "jobs.yaml", "one", in: scratch).text.contains("track 0 file: captions.srt")
        )
        let saved = try tandem("run", "--plan", "plan.json", in: scratch)
        #expect(saved.status == 3 && saved.errors.contains("a subtitle file of the job one changed"))
        #expect(try tandem("run", "jobs.yaml", in: scratch).errors.hasSuffix("1 of 1 jobs done\n"))
    }

    /// With `--root`, only files beneath it are drawn.
    @Test func fileOutsideOfTheRoot_isRefused() throws {
        let scratch = try folder(Self.one.replacing("captions.srt", with: "../captions.srt"))
        try FileManager.default.createDirectory(
            atPath: scratch.file("root"), withIntermediateDirectories: true)
        try FileManager.default.moveItem(
            atPath: scratch.file("jobs.yaml"), toPath: scratch.file("root/jobs.yaml"))
        let run = try tandem("run", "--root", "root", "root/jobs.yaml", in: scratch)
        #expect(
            run.status != 0 && run.errors.contains("captions.srt: it is outside of --root"), "\(run.errors)")
    }

    /// Outputs of one read, and the renditions of a package, have subtitles where they state them.
    @Test func outputs_haveTheirOwnSubtitles() throws {
        let scratch = try folder(
            """
              two:
                asset: { pattern: black, duration: 2s, size: 320x180 }
                outputs:
                  with:
                    tracks: [ { video: first, encode: { codec: ffv1, burn: { asset: captions.srt } } } ]
                    destination: with.mkv
                  without:
                    tracks: [ { video: first, encode: { codec: ffv1 } } ]
                    destination: without.mkv
              package:
                asset: { pattern: black, duration: 2s, size: 320x180 }
                outputs:
                  hd: { tracks: [ { video: first, encode: { codec: h264, burn: { asset: captions.srt } } } ] }
                package: { formats: [hls], segment: 1s, files: single, destination: package/ }
            """)
        let run = try tandem("run", "jobs.yaml", in: scratch)
        try #require(run.status == 0, "\(run.errors)")
        #expect(try luma("with.mkv", in: scratch) > 200 && luma("without.mkv", in: scratch) < 20)
        #expect(try luma("package/master.m3u8", in: scratch) > 200)
    }
}
