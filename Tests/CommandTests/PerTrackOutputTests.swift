internal import Foundation
internal import TestSupport
internal import Testing

/// Tests jobs with one output for each track of the source: runs, reruns, saved plans, and tracks that disappear.
@Suite struct PerTrackOutputTests {
    /// Creates a film with audio in two languages, and jobs that write a file for each of them.
    private func folder() throws -> Scratch {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x90:d=1", "-f", "lavfi", "-i", "sine=d=1", "-f", "lavfi",
            "-i",
            "sine=880:d=1", "-map", "0", "-map", "1", "-map", "2", "-c:v", "libx264", "-preset", "ultrafast",
            "-c:a", "flac", "-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "language=fra",
            scratch.file("film.mkv"))
        try scratch.write(
            """
            version: 1
            jobs:
              split:
                asset: film.mkv
                tracks: [ { audio: all, copy: true } ]
                destination: out/${track.index}.${track.language}.mka
              versions:
                asset: film.mkv
                outputs:
                  film: { tracks: [ { video: first, copy: true } ], destination: out/film.mkv }
                  dub:
                    tracks: [ { video: first, copy: true }, { audio: all, copy: true } ]
                    destination: out/${output}.${track.language}.mkv

            """, to: "jobs.yaml")
        return scratch
    }

    private func files(in scratch: Scratch) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scratch.file("out")).filter { !$0.hasPrefix(".") }
            .sorted()
    }

    private func languages(of name: String, in scratch: Scratch) throws -> [String] {
        try program(
            "ffprobe",
            [
                "-v", "error", "-select_streams", "a", "-show_entries", "stream_tags=language", "-of",
                "csv=p=0", scratch.file("out/\(name)"),
            ]
        ).text.split(separator: "\n").map(String.init)
    }

    @Test func run_writesAFileForEachTrack() throws {
        let scratch = try folder()
        let first = try tandem("run", "jobs.yaml", in: scratch)
        #expect(first.status == 0 && first.errors.hasSuffix("2 of 2 jobs done\n"), "\(first.errors)")
        #expect(
            try files(in: scratch) == ["0.eng.mka", "1.fra.mka", "dub.eng.mkv", "dub.fra.mkv", "film.mkv"])
        #expect(try languages(of: "1.fra.mka", in: scratch) == ["fra"])
        #expect(try languages(of: "dub.eng.mkv", in: scratch) == ["eng"])
        #expect(
            try tandem("run", "jobs.yaml", in: scratch).errors == "2 of 2 jobs done, 2 of them up to date\n")
        // Only the missing file is made again.
        try FileManager.default.removeItem(atPath: scratch.file("out/1.fra.mka"))
        let second = try tandem("run", "jobs.yaml", in: scratch)
        #expect(
            second.errors.contains("done split/audio:1:") && !second.errors.contains("done split/audio:0:"))
    }

    /// `clean` lists the files of tracks that the source no longer has.
    @Test func removedTrack_leavesAnObsoleteFile() throws {
        let scratch = try folder()
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        #expect(try tandem("clean", "jobs.yaml", in: scratch).errors == "no outputs to remove\n")
        try ffmpeg(
            "-i", scratch.file("film.mkv"), "-map", "0:0", "-map", "0:1", "-c", "copy",
            scratch.file("new.mkv"))
        try FileManager.default.removeItem(atPath: scratch.file("film.mkv"))
        try FileManager.default.moveItem(atPath: scratch.file("new.mkv"), toPath: scratch.file("film.mkv"))
        #expect(try tandem("clean", "jobs.yaml", in: scratch).errors == "no outputs to remove\n")
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        let clean = try tandem("clean", "--yes", "jobs.yaml", in: scratch)
        #expect(clean.status == 0, "\(clean.errors)")
        #expect(try files(in: scratch) == ["0.eng.mka", "dub.eng.mkv", "film.mkv"])
    }

    @Test func parts_writeTheFilesOfThePlan() throws {
        let scratch = try folder()
        #expect(try tandem("plan", "--shards", "2", "--out", "plan", "jobs.yaml", in: scratch).status == 0)
        for part in ["0", "1"] {
            let run = try tandem("run", "--plan", "plan", "--shard", part, in: scratch)
            #expect(run.status == 0 && run.errors.hasSuffix("1 of 1 jobs done\n"), "\(run.errors)")
        }
        #expect(
            try files(in: scratch) == ["0.eng.mka", "1.fra.mka", "dub.eng.mkv", "dub.fra.mkv", "film.mkv"])
    }

    @Test func savedPlan_andExplain() throws {
        let scratch = try folder()
        #expect(try tandem("plan", "--out", "plan.json", "jobs.yaml", in: scratch).status == 0)
        let run = try tandem("run", "--plan", "plan.json", in: scratch)
        #expect(run.status == 0 && run.errors.hasSuffix("2 of 2 jobs done\n"), "\(run.errors)")
        #expect(
            try tandem("explain", "jobs.yaml", "split", in: scratch).text
                == "split/audio:0: up to date\nsplit/audio:1: up to date\n")
    }
}
