internal import Foundation
internal import TestSupport
internal import Testing

/// Only changes that affect an output cause a rerun, and `explain` states the reason.
@Suite struct RerunTests {
    private func spec(_ keys: String = "", rule: String = "", encode: String = "") -> String {
        """
        version: 1
        jobs:
          one:
            asset: in/a.mp4
            tracks:
              - { video: first, encode: { codec: ffv1\(encode) }\(rule) }
        \(keys.isEmpty ? "" : "    \(keys)\n")    destination: one.mkv

        """
    }

    private func folder() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.shell(
            "mkdir in && ffmpeg -v error -f lavfi -i testsrc=size=64x64:rate=25:duration=1 -c:v libx264 -metadata title=T in/a.mp4"
        )
        try scratch.write(spec(), to: "jobs.yaml")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 0, "\(run.errors)")
        return scratch
    }

    @Test func explainNamesEveryChange() throws {
        let scratch = try folder()
        for (text, words) in [
            (spec("metadata: { set: { title: New } }"), "tag title: T → New"),
            (spec("range: { end: 500ms }"), "range: "),
            (spec("chapters: [{ start: 0s, title: A }]"), "chapter 0 title: added A"),
            (spec("limit: { size: 1MB }"), "limit size: added 1000000"),
            (spec(rule: ", title: Huh"), "added Huh"),
            (spec(rule: ", language: deu"), "de"),
            (spec(rule: ", disposition: [forced]"), "forced"),
            (spec(encode: ", filters: hflip"), "track 0 filters: added hflip"),
            (spec(encode: ", size: 32x32"), "track 0 size"),
            (spec(encode: ", orientation: 90"), "orientation"),
            (spec(encode: ", options: { slicecrc: 1 }"), "track 0 slicecrc: added 1"),
            (spec(encode: ", color: { range: pc }"), "color"),
            (
                spec().replacing("in/a.mp4", with: "{ path: in/a.mp4, timing: precise }"),
                "timing: fast → precise"
            ),
        ] {
            try scratch.write(text, to: "jobs.yaml")
            let why = try tandem("explain", "jobs.yaml", "one", in: scratch)
            #expect(why.status == 0 && why.text.contains("one: will run"), "\(text)\(why.text)\(why.errors)")
            #expect(why.text.contains(words), "\(text)\(why.text)")
            #expect(
                why.text.split(separator: "\n").count <= 7,
                "expected few lines for one change: \(text)\(why.text)")
        }
    }

    @Test func keysThatDontAffectTheOutputCauseNoRerun() throws {
        let scratch = try folder()
        let before = try scratch.shell("stat -c %i one.mkv")
        for keys in [
            "on_damage: skip", "metadata: { set: { title: T } }", "retries: 3", "timeout: \"1:00:00\"",
            "needs: []",
            "leftover: warn", "priority: 3", "expect: { frames: 25, decodes: true }",
            "expect: { frames: 25 }",
            "expect: { similarity: { psnr: { min: 60 } } }",
        ] {
            try scratch.write(spec(keys), to: "jobs.yaml")
            let run = try tandem("run", "jobs.yaml", in: scratch)
            #expect(run.status == 0, "\(keys): \(run.errors)")
            #expect(try scratch.shell("stat -c %i one.mkv") == before, "\(keys): \(run.errors)")
            #expect(
                try tandem("explain", "jobs.yaml", "one", in: scratch).text == "one: up to date\n", "\(keys)")
        }
    }

    @Test func equivalentTimesCauseNoRerun() throws {
        let scratch = try folder()
        try scratch.write(spec("range: { start: 0.2s, end: 0.5s }"), to: "jobs.yaml")
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        for range in [
            "start: 200ms, end: 500ms", "start: 0.20, end: \"0:00.50\"", "start: 0.2s, duration: 0.3s",
        ] {
            try scratch.write(spec("range: { \(range) }"), to: "jobs.yaml")
            let why = try tandem("explain", "jobs.yaml", "one", in: scratch)
            #expect(why.text == "one: up to date\n", "\(range): \(why.text)")
        }
    }

    /// Changed expectations are evaluated on the existing output, with and without the state.
    @Test(arguments: [false, true]) func newExpectationsAreEvaluatedOnTheExistingOutput(isStateLost: Bool)
        throws
    {
        let scratch = try folder()
        if isStateLost { try scratch.shell("rm -r .tandem") }
        let before = try scratch.shell("stat -c '%i %Y' one.mkv")
        try scratch.write(spec("expect: { size: { max: 10B } }"), to: "jobs.yaml")
        let why = try tandem("explain", "jobs.yaml", "one", in: scratch)
        #expect(
            why.text.hasPrefix("one: will evaluate its expectations; the output is kept\n"), "\(why.text)")
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(plan.text.contains("  will check "), "\(plan.text)")
        for isolation in ["worker", "none"] {
            let run = try tandem("run", "jobs.yaml", "--isolation", isolation, in: scratch)
            #expect(run.status == 5, "\(run.errors)")
            #expect(run.errors.contains("the output of an earlier run is kept"), "\(run.errors)")
            #expect(try scratch.shell("stat -c '%i %Y' one.mkv") == before)
        }
        try scratch.write(spec("expect: { size: { max: 1MB } }"), to: "jobs.yaml")
        for _ in 0..<2 {
            #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
            #expect(try scratch.shell("stat -c '%i %Y' one.mkv") == before)
            if isStateLost { try scratch.shell("rm -r .tandem") }
        }
        #expect(try tandem("explain", "jobs.yaml", "one", in: scratch).text == "one: up to date\n")
    }

    /// `file_times: keep` copies the source's modification time, and the output stays up to date. For generated sources
    /// it is an error.
    @Test func fileTimesAreCopiedFromTheSource() throws {
        let scratch = try folder()
        try scratch.shell("touch -d '2001-02-03 04:05:06.789 UTC' in/a.mp4")
        try scratch.write(spec("metadata: { file_times: keep }"), to: "jobs.yaml")
        for (number, word) in ["1 of 1 jobs done\n", "1 of them up to date"].enumerated() {
            let run = try tandem("run", "jobs.yaml", in: scratch)
            #expect(run.status == 0 && run.errors.contains(word), "\(number): \(run.errors)")
            #expect(try scratch.shell("stat -c %.3Y one.mkv") == "981173106.789\n")
        }
        try scratch.shell("rm -r .tandem && touch -d '2001-02-03 04:05:07 UTC' in/a.mp4")
        #expect(try tandem("run", "--fingerprint", "content", "jobs.yaml", in: scratch).status == 0)
        #expect(try scratch.shell("stat -c %Y one.mkv") == "981173107\n")
        try scratch.write(
            spec("metadata: { file_times: keep }").replacing("in/a.mp4", with: testSignal), to: "jobs.yaml")
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(
            plan.status == 3 && plan.errors.contains("`file_times` requires a file as the source"),
            "\(plan.errors)")
    }

    /// An output with skipped damage isn't up to date for a job that doesn't skip damage.
    @Test func skippedDamageCausesARerunWithoutOnDamage() throws {
        let scratch = try folder()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=2", "-c:v", "libx264", "-preset",
            "ultrafast", "-g", "10", scratch.file("in/a.mp4"))
        var bytes = try Data(contentsOf: URL(fileURLWithPath: scratch.file("in/a.mp4")))
        let start = try #require(bytes.range(of: Data("mdat".utf8))).upperBound
        for offset in stride(from: 9000, to: 30_000, by: 700) { bytes[start + offset] ^= 0x55 }
        try bytes.write(to: URL(fileURLWithPath: scratch.file("in/a.mp4")))
        try scratch.write(spec("on_damage: skip"), to: "jobs.yaml")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 0 && run.errors.contains("skipped"), "\(run.errors)")
        try scratch.write(spec("on_damage: skip\n    retries: 2"), to: "jobs.yaml")
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        try scratch.write(spec(), to: "jobs.yaml")
        let why = try tandem("explain", "jobs.yaml", "one", in: scratch)
        #expect(why.text.contains("damaged data was skipped"), "\(why.text)")
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 1)
    }

    /// Times of images may depend on the decoded source. If nothing changed, the source isn't decoded; a single missing
    /// file requires it.
    @Test func existingImagesAreUpToDateWithoutDecoding() throws {
        let scratch = try folder()
        let file = """
            version: 1
            assets: { a: { path: in/a.mp4 } }
            jobs:
              each: { asset: a, images: { every: 200ms }, destination: "${image.number}.png" }
              keys: { asset: a, images: { keyframes: true }, destination: "key-${image.time}.png" }
              sheet: { asset: a, images: { scenes: 0.3, sheet: { columns: 2, index: vtt } }, destination: sheet.png }
              both:
                asset: a
                outputs:
                  movie: { tracks: [ { video: first, copy: true } ], destination: both.mp4 }
                  stills: { images: { count: 3 }, destination: "both-${image.number}.png" }

            """
        try scratch.write(file, to: "jobs.yaml")
        /// Runs the jobs, and returns those whose sources were probed.
        func planned() throws -> [String] {
            let run = try tandem("run", "--events", "e.jsonl", "jobs.yaml", in: scratch)
            #expect(run.status == 0, "\(run.errors)")
            return try String(contentsOfFile: scratch.file("e.jsonl"), encoding: .utf8)
                .split(separator: "\n").compactMap { line in
                    guard line.contains("job_planned"), line.contains("\"source\"") else { return nil }
                    return line.firstMatch(of: /"job":"([a-z]+)"/).map { String($0.1) }
                }
        }
        #expect(try planned() == ["each", "keys", "sheet", "both"])
        #expect(try planned() == [])
        for (file, job) in [
            ("0003.png", "each"), ("sheet.vtt", "sheet"), ("both-0002.png", "both"), ("both.mp4", "both"),
        ] {
            try FileManager.default.removeItem(atPath: scratch.file(file))
            #expect(try planned() == [job])
            #expect(scratch.contents.contains(file))
        }
        #expect(try planned() == [])
        // An image that was moved to the path of another image of the same output isn't up to date, although it has a
        // mark.
        let whole = try Data(contentsOf: URL(filePath: scratch.file("0001.png")))
        try scratch.shell("mv 0001.png x; mv 0002.png 0001.png; mv x 0002.png")
        #expect(try planned() == ["each"])
        #expect(try Data(contentsOf: URL(filePath: scratch.file("0001.png"))) == whole)
        try scratch.shell("cp --preserve=all both-0001.png both-0003.png; rm -r .tandem")
        #expect(
            try tandem("explain", "jobs.yaml", "both", in: scratch).text.contains("both/stills: will run"))
        #expect(try planned().count == 4)
        let known = try scratch.shell("md5sum both-*.png | cut -d' ' -f1 | sort -u | wc -l")
        #expect(known.trimmingCharacters(in: .whitespacesAndNewlines) == "3")
        #expect(try planned() == [])
        // Without a shortcut, as after a killed run, the job is planned.
        try scratch.shell("sqlite3 .tandem/state.sqlite \"UPDATE jobs SET shortcut = '' WHERE id = 'each'\"")
        #expect(try planned() == ["each"])
        // Temporary files of a killed run are removed.
        try scratch.shell("cp 0001.png .0001.png.0123456789abcdef.part")
        #expect(try planned() == [])
        #expect(!scratch.contents.contains { $0.hasSuffix(".part") }, "\(scratch.contents)")
        // Files of an image output that is up to date without planning still belong to it.
        try scratch.write(
            "version: 1\njobs: { other: { asset: in/a.mp4, images: { at: 0s }, destination: 0002.png } }\n",
            to: "other.yaml")
        let both = try tandem("run", "jobs.yaml", "other.yaml", in: scratch)
        #expect(
            both.status == 3 && both.errors.contains("two outputs have the destination"), "\(both.errors)")
        let cleaned = try tandem("clean", "--yes", "jobs.yaml", in: scratch)
        #expect(cleaned.status == 0, "\(cleaned.errors)")
        #expect(try planned() == [])
        try scratch.shell("touch in/a.mp4")
        #expect(try planned() == ["each", "keys", "sheet", "both"])
    }

    @Test func explainReportsInstancesDespiteABrokenSource() throws {
        let scratch = try folder()
        try scratch.shell("head -c 2000 in/a.mp4 > in/b.mp4; cp in/a.mp4 in/c.mp4")
        try scratch.write(
            spec().replacing("in/a.mp4", with: "in/*.mp4").replacing(
                "one.mkv", with: "\"${asset.stem}.mkv\""),
            to: "jobs.yaml")
        let why = try tandem("explain", "jobs.yaml", "one", "--set", "x=1", in: scratch)
        #expect(why.status == 3 && why.errors.hasPrefix("--set: error[unused-variable]"), "\(why.errors)")
        let all = try tandem("explain", "jobs.yaml", "one", in: scratch)
        #expect(all.status == 3 && all.errors.contains("b.mp4"), "\(all.errors)")
        #expect(
            all.text == "one[a.mp4]: will run\n  no output yet\none[c.mp4]: will run\n  no output yet\n",
            "\(all.text)")
        let none = try tandem("explain", "jobs.yaml", "one[x]", in: scratch)
        #expect(none.errors.contains("jobs.yaml: error[undefined-name]"), "\(none.errors)")
        #expect(none.errors.contains("3 instances of `one`: `one[a.mp4]`"), "\(none.errors)")
    }
}

extension Scratch {
    /// Runs a shell command in the folder and returns its output.
    @discardableResult
    fileprivate func shell(_ line: String) throws -> String {
        let result = try program("/bin/sh", ["-ec", line], directory: path)
        #expect(result.status == 0, "\(line): \(result.errors)")
        return result.text
    }
}
