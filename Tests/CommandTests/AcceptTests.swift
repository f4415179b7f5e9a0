import Foundation
import TestSupport
import Testing

/// Tests `tandem accept`: outputs that exist are up to date afterwards, with the same bytes.
@Suite struct AcceptTests {
    private let web = job(
        "web", asset: "./a.mp4", video: "codec: h264, preset: ultrafast, crf: 30", to: "out/web.mp4")

    private func accept(_ scratch: Scratch, _ jobs: String...) throws -> ProgramResult {
        try program(
            TestPaths.tandem, ["accept", "jobs.yaml"] + jobs, directory: scratch.path,
            environment: ["SWIFT_BACKTRACE": "enable=no"])
    }

    private func bytes(_ name: String, _ scratch: Scratch) throws -> Data {
        try Data(contentsOf: URL(filePath: scratch.file(name)))
    }

    /// Requires that a run changes nothing.
    private func expectUpToDate(_ scratch: Scratch, _ count: Int = 1) throws {
        let run = try tandem("run", "jobs.yaml", in: scratch)
        let noun = "\(count) of \(count) jobs done, \(count) of them up to date\n"
        #expect(run.status == 0 && run.errors == noun, "\(run.errors)")
    }

    @Test func changedSetting_keepsTheOutput() throws {
        let scratch = try folderWithSource()
        try write(web, in: scratch)
        try tandem("run", "jobs.yaml", in: scratch)
        let before = try bytes("out/web.mp4", scratch)
        try write(web.replacing("crf: 30", with: "crf: 20"), in: scratch)
        let result = try accept(scratch, "web")
        #expect(result.status == 0 && result.text == "web: accepted\n  track 0 crf: 30 → 20\n", "\(result)")
        #expect(try accept(scratch, "--all").text == "web: up to date\n")
        try expectUpToDate(scratch)
        #expect(try bytes("out/web.mp4", scratch) == before)
        // The next change is one from the accepted plan.
        try write(web.replacing("crf: 30", with: "crf: 25"), in: scratch)
        #expect(
            try tandem("explain", "jobs.yaml", "web", in: scratch).text
                == "web: will run\n  track 0 crf: 20 → 25\n")
    }

    /// Without the attribute or without the state, the other one is enough.
    @Test(arguments: [true, false]) func outputOfAnotherTool_isAccepted(_ keepsState: Bool) throws {
        let scratch = try folderWithSource()
        try write(web, in: scratch)
        mkdir(scratch.file("out"), 0o755)
        try ffmpeg("-i", scratch.file("a.mp4"), "-c:v", "libx264", "-an", scratch.file("out/web.mp4"))
        #expect(try tandem("run", "jobs.yaml", in: scratch).errors.contains("Tandem did not publish it"))
        let result = try accept(scratch, "web")
        #expect(result.text == "web: accepted\n  no record of an earlier run\n", "\(result)")
        if !keepsState { try FileManager.default.removeItem(atPath: scratch.file(".tandem")) }
        try expectUpToDate(scratch)
    }

    @Test func chainOfJobs_isAcceptedInItsOrder() throws {
        let scratch = try folderWithSource()
        let second = job(
            "small", asset: "{ job: web }", video: "codec: h264, preset: ultrafast, crf: 30", to: "out/s.mp4")
        try write(web + second, in: scratch)
        try tandem("run", "jobs.yaml", in: scratch)
        try write((web + second).replacing("crf: 30", with: "crf: 20"), in: scratch)
        let early = try accept(scratch, "small")
        #expect(
            early.status == 1
                && early.text
                    == "small: not accepted: the job `web`, whose output it reads, isn't up to date\n",
            "\(early)")
        let all = try accept(scratch, "--all")
        #expect(
            all.status == 0 && all.text.contains("web: accepted\n") && all.text.contains("small: accepted\n"),
            "\(all)")
        try expectUpToDate(scratch, 2)
    }

    @Test func severalFiles_areAcceptedTogether() throws {
        let scratch = try folderWithSource()
        let stills =
            "  s: { asset: ./a.mp4, images: { at: [0s, 0.4s] }, destination: \"out/${image.number}.png\" }\n"
        try write(stills, in: scratch)
        try tandem("run", "jobs.yaml", in: scratch)
        try write(stills.replacing("0.4s", with: "0.8s"), in: scratch)
        #expect(try accept(scratch, "s").text.hasPrefix("s: accepted\n"))
        try expectUpToDate(scratch)
        try write(stills, in: scratch)
        let image = try #require(scratch.contents.last { $0.hasSuffix(".png") })
        try FileManager.default.removeItem(atPath: scratch.file(image))
        let result = try accept(scratch, "s")
        #expect(
            result.status == 1
                && result.text == "s: not accepted: it doesn't exist: \(scratch.file(image))\n", "\(result)")
    }

    @Test func package_isAccepted() throws {
        let scratch = try folderWithSource()
        let package = """
              p:
                asset: ./a.mp4
                outputs:
                  v: { tracks: [ { video: first, encode: { codec: h264, preset: ultrafast, crf: 30 } } ] }
                package: { formats: [hls], segment: 1s, destination: out/ }

            """
        try write(package, in: scratch)
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 0, "\(run.errors)")
        try write(package.replacing("crf: 30", with: "crf: 20"), in: scratch)
        let result = try accept(scratch, "p")
        #expect(result.status == 0 && result.text.contains("accepted\n"), "\(result)")
        try expectUpToDate(scratch)
    }

    /// Files that aren't the planned output stay foreign.
    @Test func otherFiles_areNotAccepted() throws {
        let scratch = try folderWithSource()
        try write(web, in: scratch)
        mkdir(scratch.file("out"), 0o755)
        let path = scratch.file("out/web.mp4")
        func refusal() throws -> String {
            let result = try accept(scratch, "web")
            #expect(result.status == 1)
            #expect(try tandem("run", "jobs.yaml", in: scratch).status != 0)
            return result.text
        }
        #expect(try accept(scratch, "web").text == "web: not accepted: it doesn't exist: \(path)\n")
        for (arguments, reason) in [
            (["-c:v", "libx264", "-an", "-f", "matroska"], "its container is mkv instead of mp4"),
            (["-c:v", "libx264", "-an", "-vf", "tpad=stop=100"], "it lasts 0:05 instead of 0:01"),
            (["-c:v", "mpeg4", "-an"], "its track 0 is mpeg4 instead of h264"),
            (["-c", "copy"], "it has 2 tracks instead of 1"),
            (["-vn", "-c:a", "copy"], "its track 0 is audio instead of video"),
            (["-an", "-vf", "scale=64:48"], "its track 0 has 64x48 instead of 128x96 pixels"),
        ] {
            #expect(
                try program(
                    "ffmpeg", ["-v", "error", "-y", "-i", scratch.file("a.mp4")] + arguments + [path]
                ).status == 0)
            #expect(try refusal() == "web: not accepted: \(reason)\n")
        }
        try scratch.write("text", to: "out/web.mp4")
        #expect(try refusal().hasPrefix("web: not accepted: it can't be read: "))
        unlink(path)
        try ffmpeg("-i", scratch.file("a.mp4"), "-c:v", "libx264", "-an", scratch.file("other.mp4"))
        try FileManager.default.createSymbolicLink(
            atPath: path, withDestinationPath: scratch.file("other.mp4"))
        #expect(try refusal() == "web: not accepted: it is a link: \(path)\n")
    }

    @Test func unmetExpectation_isNotAccepted() throws {
        let scratch = try folderWithSource()
        try write(web, in: scratch)
        try tandem("run", "jobs.yaml", in: scratch)
        try write(
            job(
                "web", asset: "./a.mp4", video: "codec: h264, preset: ultrafast, crf: 20",
                more: "expect: { size: { max: 10 } }", to: "out/web.mp4"),
            in: scratch)
        let result = try accept(scratch, "web")
        #expect(result.status == 1 && result.text.hasPrefix("web: not accepted: expected size"), "\(result)")
    }

    @Test func wrongArguments_areErrors() throws {
        let scratch = try folderWithSource()
        try write(web, in: scratch)
        #expect(try accept(scratch).errors.contains("name a job, or use --all"))
        #expect(
            try accept(scratch, "web", "--all").errors.contains("--all can't be combined with jobs"))
        let unknown = try accept(scratch, "wev")
        #expect(unknown.status == 3 && unknown.errors.contains("unknown job `wev`"), "\(unknown)")
        // With a format for programs, standard output has one document.
        let json = try accept(scratch, "web", "--format", "json")
        #expect(json.status == 1 && json.errors.contains("web: not accepted: it doesn't exist"), "\(json)")
        #expect(try JSONSerialization.jsonObject(with: Data(json.text.utf8)) is [String: Any])
    }

    /// Destinations that are sources or collide: nothing is marked, so that `clean` removes nothing.
    @Test func conflicts_acceptNothing() throws {
        let scratch = try folderWithSource()
        for jobs in [
            job("v", asset: "./a.mp4", to: "a.mp4"),
            job("v", asset: "./a.mp4", to: "b.mp4") + job("w", asset: "./a.mp4", to: "b.mp4"),
            job("v", asset: "./a.mp4", to: "b.mp4") + job("w", asset: "./b.mp4", to: "c.mp4"),
        ] {
            try FileManager.default.copyItem(atPath: scratch.file("a.mp4"), toPath: scratch.file("b.mp4"))
            try write(jobs, in: scratch)
            let result = try accept(scratch, "--all")
            #expect(result.status == 3 && result.text.isEmpty, "\(result)")
            try write(web, in: scratch)
            let clean = try tandem("clean", "jobs.yaml", "--yes", in: scratch)
            #expect(clean.errors == "no outputs to remove\n", "\(clean)")
            unlink(scratch.file("b.mp4"))
        }
    }

    /// A folder, an image or a waveform that Tandem didn't publish isn't read, and isn't accepted.
    @Test func otherKindsOfForeignFiles_areNotAccepted() throws {
        let scratch = try folderWithSource()
        try scratch.write("keep me", to: "out/p/letter.txt")
        try scratch.write("junk", to: "out/s.png")
        try scratch.write("{}", to: "out/w.json")
        let jobs = """
              p:
                asset: ./a.mp4
                outputs:
                  v: { tracks: [ { video: first, encode: { codec: h264, preset: ultrafast } } ] }
                package: { formats: [hls], segment: 1s, destination: out/p/ }
              s: { asset: ./a.mp4, images: { at: [0s] }, destination: out/s.png }
              w: { asset: ./a.mp4, waveform: {}, destination: out/w.json }

            """
        try write(jobs, in: scratch)
        let result = try accept(scratch, "--all")
        #expect(result.status == 1, "\(result)")
        #expect(
            result.text.components(separatedBy: "Tandem didn't publish it, or it was changed since").count
                == 4,
            "\(result)")
        #expect(scratch.contents.contains("out/p/letter.txt"))
    }

    /// Jobs without output are no failure of `--all`.
    @Test func jobsWithoutOutput_areReported() throws {
        let scratch = try folderWithSource()
        let jobs =
            web
            + job(
                "tall", asset: "./a.mp4", more: "when: { video: { height: { min: 5000 } } }",
                to: "out/tall.mp4")
            + "  c: { asset: ./a.mp4, check: true }\n"
        try write(jobs, in: scratch)
        try tandem("run", "jobs.yaml", in: scratch)
        let result = try accept(scratch, "--all")
        #expect(result.status == 0 && result.text.contains("web: up to date\ntall: skipped: "), "\(result)")
        try write("  c: { asset: ./a.mp4, check: true }\n", in: scratch)
        #expect(try accept(scratch, "--all").errors == "no outputs to accept\n")
        #expect(try accept(scratch, "c").text == "c: not accepted: a check has no output\n")
    }

    /// The output of another job file changes its owner only if its job is named.
    @Test func outputOfAnotherJobFile_mustBeNamed() throws {
        let scratch = try folderWithSource()
        try scratch.write("version: 1\njobs:\n" + web, to: "other.yaml")
        try tandem("run", "other.yaml", in: scratch)
        try write(web.replacing("crf: 30", with: "crf: 20"), in: scratch)
        let all = try accept(scratch, "--all")
        #expect(
            all.status == 1 && all.text.contains("it was published for another job file; name the job"),
            "\(all)")
        let named = try accept(scratch, "web")
        #expect(
            named.status == 0 && named.text.contains("  it was published for another job file\n"), "\(named)")
        try expectUpToDate(scratch)
    }
}
