import Foundation
import TestSupport
import Testing

/// Tests compositions whose clips are outputs of other jobs.
@Suite struct PublishedClipTests: Composing {
    private static let text = """
        version: 1
        jobs:
          whole:
            composition: [ { job: intro }, { id: talk, asset: { job: talks, output: hd } }, { asset: { job: intro }, range: { end: 1s } } ]
            tracks: [ { video: first, encode: { codec: ffv1 } }, { audio: first, encode: { codec: flac } } ]
            destination: "whole-${asset.stem}.mkv"
          intro:
            asset: { pattern: smpte, size: 128x96, duration: 1s, frame_rate: 25, tone: 1kHz }
            tracks: [ { video: first, encode: { codec: ffv1 } }, { audio: first, encode: { codec: flac } } ]
            destination: intro.mkv
          talks:
            asset: in/*.mkv
            outputs:
              hd: { tracks: [ { video: first, encode: { codec: ffv1 } }, { audio: first, copy: true } ], destination: "${asset.stem}-hd.mkv" }
              sd: { tracks: [ { video: first, encode: { codec: ffv1, size: x48 } } ], destination: "${asset.stem}-sd.mkv" }
        """

    private func folderWithJobs() throws -> Scratch {
        let scratch = try folder()
        try FileManager.default.createDirectory(
            atPath: scratch.file("in"), withIntermediateDirectories: false)
        for name in ["a", "b"] {
            try FileManager.default.moveItem(
                atPath: scratch.file("\(name).mkv"), toPath: scratch.file("in/\(name).mkv"))
        }
        try scratch.write(Self.text, to: "jobs.yaml")
        return scratch
    }

    /// A composition is expanded for each instance of the job that it reads, and runs after it. A changed clip causes a
    /// rerun of its readers.
    @Test func compositionsRunAfterTheJobsTheyRead() throws {
        let scratch = try folderWithJobs()
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(
            plan.status == 0 && plan.text.contains("a-hd.mkv is the output of the job talks[a.mkv]"),
            "\(plan.errors)\(plan.text)")
        let first = try tandem("run", "jobs.yaml", in: scratch)
        try #require(first.status == 0, "\(first.errors)")
        let ffmpegFile = FFmpegFile(scratch.file("whole-a-hd.mkv"))
        #expect(try ffmpegFile.frames().times.count == 100)
        // Frames of the middle clip equal the source's.
        try ffmpeg(
            "-i", scratch.file("in/a.mkv"), "-c:v", "ffv1", "-an", scratch.file("r.mkv"))
        let psnr = try ffmpegFile.lowestPSNR(
            against: FFmpegFile(scratch.file("r.mkv")), first: 0, count: 50, own: 25)
        #expect(psnr > 90, "\(psnr)")
        let rerun = try tandem("run", "jobs.yaml", in: scratch)
        #expect(rerun.errors.contains("5 of 5 jobs done, 5 of them up to date"), "\(rerun.errors)")
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)],
            ofItemAtPath: scratch.file("in/b.mkv"))
        let why = try tandem("explain", "jobs.yaml", "whole[b.mkv]", in: scratch)
        #expect(why.text.contains("the job `talks[b.mkv]`, whose output it reads, runs"), "\(why.text)")
        // The intro is up to date, and still available as a clip.
        let part = try tandem("run", "-v", "jobs.yaml", in: scratch)
        #expect(
            part.status == 0 && part.errors.contains("done whole[b.mkv]")
                && part.errors.contains("same intro") && part.errors.contains("same whole[a.mkv]"),
            "\(part.errors)")
        let one = try tandem("run", "--force", "--only", "whole[a.mkv]", "jobs.yaml", in: scratch)
        #expect(one.status == 0 && one.errors.contains("3 of 3 jobs done"), "\(one.errors)")
    }

    /// A part of a plan contains the jobs that its compositions read.
    @Test func shardsContainTheJobsOfTheirClips() throws {
        let scratch = try folderWithJobs()
        let plan = try tandem("plan", "--shards", "2", "--out", "shards", "jobs.yaml", in: scratch)
        try #require(plan.status == 0, "\(plan.errors)")
        for part in try FileManager.default.contentsOfDirectory(atPath: scratch.file("shards")).sorted()
        where part.hasPrefix("shard-") {
            let run = try tandem("run", "--plan", "shards/\(part)", in: scratch)
            #expect(run.status == 0, "\(part): \(run.errors)")
        }
        #expect(scratch.contents.contains("whole-a-hd.mkv") && scratch.contents.contains("whole-b-hd.mkv"))
    }

    /// A failed job prevents only the compositions that read its output.
    @Test func failedClipsFailOnlyTheirReaders() throws {
        let scratch = try folderWithJobs()
        try scratch.write("no movie", to: "in/b.mkv")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 1 && scratch.contents.contains("whole-a-hd.mkv"), "\(run.errors)")
        #expect(
            !scratch.contents.contains("whole-b-hd.mkv")
                && run.errors.contains("talks[b.mkv]"), "\(run.errors)")
    }

    /// Cycles, undefined jobs and outputs, two expanded jobs, and clips from image outputs are errors at their line.
    @Test(arguments: [
        ("[ { job: j } ]", "error[dependency-cycle]"),
        ("[ { job: nobody } ]", "jobs.yaml:4:27: error[undefined-name]"),
        ("[ { job: two } ]", "jobs.yaml:4:27: error[missing-key]"),
        ("[ { job: two, output: z } ]", "error[undefined-name]: the job `two` has no output `z`"),
        ("[ { job: many }, { job: other } ]", "jobs.yaml:4:42: error[fan-out]"),
        ("[ { job: many }, \"in/*.mkv\" ]", "error[fan-out]"),
        ("[ { job: stills } ]", "error[not-supported]"),
    ])
    func invalidJobReferencesAreErrors(_ composition: String, _ message: String) throws {
        let scratch = try folder()
        try scratch.write(
            job(composition, to: "o.mkv") + """

                  two: { asset: ./a.mkv, outputs: { x: { tracks: [ { video: first, copy: true } ], destination: x.mkv }, y: { tracks: [ { audio: first, copy: true } ], destination: y.mkv } } }
                  many: { asset: ./a.mkv, matrix: { q: [1, 2] }, tracks: [ { video: first, encode: { codec: h264, qp: "${matrix.q}" } } ], destination: "m${matrix.q}.mkv" }
                  other: { asset: ./a.mkv, matrix: { q: [1, 2] }, tracks: [ { video: first, encode: { codec: h264, qp: "${matrix.q}" } } ], destination: "n${matrix.q}.mkv" }
                  stills: { asset: ./a.mkv, images: { count: 2 }, destination: "s${image.number}.png" }
                """, to: "jobs.yaml")
        let result = try tandem("validate", "jobs.yaml", in: scratch)
        #expect(result.status == 3 && result.errors.contains(message), "\(composition): \(result.errors)")
    }

    /// Whether clips can be copied is verified once they are published. The plan predicts a copy, and clips that don't
    /// match fail the reader.
    @Test func packetsOfPublishedClipsAreCopied() throws {
        let scratch = try folder()
        let clips = "[ { job: one }, { asset: { job: one }, range: { start: 0.52s, end: 1.72s } } ]"
        let tracks = "[ { video: first, copy: true }, { audio: first, copy: true } ]"
        let one = """

              one: { asset: ./a.mkv, tracks: [ { video: first, encode: { codec: h264, keyframe_interval: 1s } }, { audio: first, encode: { codec: aac } } ], destination: x.mp4 }

            """
        let text = job(clips, to: "o.mp4", tracks: tracks)
        try scratch.write(text + "\n    cut: smart" + one, to: "jobs.yaml")
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(
            plan.status == 0 && plan.text.contains("are copied is determined once one has run"),
            "\(plan.errors)")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        try #require(run.status == 0, "\(run.errors)")
        let ffmpegFile = FFmpegFile(scratch.file("o.mp4"))
        #expect(try ffmpegFile.frames().times.count == 80)
        #expect(try ffmpegFile.decodeErrors().isEmpty)
        func packets(_ name: String) throws -> Set<String> {
            let found =
                try FFmpegFile(scratch.file(name)).probe([
                    "-show_data_hash", "md5", "-show_entries", "packet=data_hash",
                ])["packets"] as? [[String: Any]]
            return Set((found ?? []).compactMap { $0["data_hash"] as? String })
        }
        let (output, clip) = (try packets("o.mp4"), try packets("x.mp4"))
        #expect(output.intersection(clip).count > clip.count * 9 / 10)
        let rerun = try tandem("run", "jobs.yaml", in: scratch)
        #expect(rerun.errors.contains("2 of them up to date"), "\(rerun.errors)")
        // Without `cut: smart`, the second clip's edges can't be copied.
        try scratch.write(
            text.replacingOccurrences(of: ", { audio: first, copy: true }", with: "") + one, to: "jobs.yaml")
        let failed = try tandem("run", "jobs.yaml", in: scratch)
        #expect(
            failed.status == 1 && failed.errors.contains("jobs.yaml:4:34: error[copy-range]"),
            "\(failed.errors)")
        // A codec that the container doesn't support is an error of the plan.
        try scratch.write(
            job(clips, to: "o.webm", tracks: tracks) + "\n    cut: smart" + one, to: "jobs.yaml")
        let wrong = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(
            wrong.status == 3 && wrong.errors.contains("webm can't store h264, the codec of the clips"),
            "\(wrong.errors)")
    }

    /// Errors that result from the job file alone are errors of the plan. With a fallback, the plan reports the
    /// re-encoding once the clip exists.
    @Test(arguments: [
        (
            "[ { job: one }, { asset: { job: one }, volume: 0.5 } ]", "o.mp4",
            "jobs.yaml:4:34: error[copy-range]: audio item 1 can't be copied: its volume is changed"
        ),
        ("[ { job: one }, { gap: 1s }, { job: one } ]", "o.mp4", "there is a gap from 2 s to 3 s"),
        (
            "[ { job: one }, ./b.mkv ]", "o.mp4",
            "jobs.yaml:4:34: error[copy-range]: audio item 1 can't be copied: its codec is flac, the others' is aac"
        ),
    ])
    func copiesExcludedByTheJobFileAreErrorsOfThePlan(_ clips: String, _ output: String, _ words: String)
        throws
    {
        let scratch = try folder()
        let one =
            "\n  one: { asset: ./a.mkv, tracks: [ { video: first, encode: { codec: h264 } }, { audio: first, encode: { codec: aac } } ], destination: x.mp4 }\n"
        func text(_ cut: String, _ more: String) -> String {
            job(
                clips, to: output,
                tracks: "[ { video: first, encode: { codec: h264 } }, { audio: first, copy: true\(more) } ]")
                + "\n    cut: \(cut)" + one
        }
        try scratch.write(text("smart", ""), to: "jobs.yaml")
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(plan.status == 3 && plan.errors.contains(words), "\(plan.errors)")
        try scratch.write(text("smart-or-exact", ", encode: { codec: aac }"), to: "jobs.yaml")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 0, "\(run.errors)")
        let fallback = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(
            fallback.text.contains("audio track 1 is re-encoded: audio item 1 can't be copied"),
            "\(fallback.text)")
    }

    /// If only the packets reveal that a copy is impossible, the run reports the re-encoding.
    @Test func fallbacksDuringARunAreReported() throws {
        let scratch = try folder()
        try scratch.write(
            job(
                "[ { job: one }, { asset: { job: one }, range: { start: 0.5s } } ]", to: "o.mkv",
                tracks: "[ { video: first, copy: true, encode: { codec: h264 } } ]")
                + "\n    cut: smart-or-exact"
                + "\n  one: { asset: ./a.mkv, tracks: [ { video: first, encode: { codec: ffv1 } } ], destination: x.mkv }\n",
            to: "jobs.yaml")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 0 && run.errors.contains("video track 0 is re-encoded: "), "\(run.errors)")
    }
}
