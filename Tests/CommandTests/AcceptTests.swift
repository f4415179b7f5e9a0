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
    }
}
