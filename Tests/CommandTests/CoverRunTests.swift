internal import Foundation
internal import TestSupport
internal import Testing

/// Tests jobs with covers from image files: changes that cause a rerun, rejected images, and cleanup after failures.
@Suite struct CoverRunTests {
    private func spec(_ cover: String = "art.png", more: String = "") -> String {
        """
        version: 1
        jobs:
          one:
            asset: in/a.wav
            tracks: [ { audio: first, encode: { codec: flac } } ]
            metadata: { cover: \(cover) }
        \(more)    destination: one.flac

        """
    }

    private func draw(_ pattern: String, to path: String, size: String = "64x64") throws {
        try ffmpeg("-f", "lavfi", "-i", "\(pattern)=size=\(size):rate=1", "-frames:v", "1", path)
    }

    private func tandem(_ arguments: [String], in scratch: Scratch) throws -> ProgramResult {
        try program(
            TestPaths.tandem, arguments, directory: scratch.path,
            environment: ["SWIFT_BACKTRACE": "enable=no"])
    }

    private func folder() throws -> Scratch {
        let scratch = try Scratch()
        try FileManager.default.createDirectory(
            atPath: scratch.file("in"), withIntermediateDirectories: true)
        try ffmpeg("-f", "lavfi", "-i", "sine=d=0.5", scratch.file("in/a.wav"))
        try draw("testsrc", to: scratch.file("art.png"))
        try scratch.write(spec(), to: "jobs.yaml")
        return scratch
    }

    private func picture(_ scratch: Scratch) throws -> Data {
        try program(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-i", scratch.file("one.flac"), "-map", "0:v", "-c", "copy", "-f",
                "image2pipe", "-",
            ]
        ).output
    }

    private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    /// A changed image causes a rerun, with and without sandboxed workers, and with content fingerprints.
    @Test(arguments: [["--isolation", "worker"], ["--isolation", "none"], ["--fingerprint", "content"]])
    func changedImageCausesARerun(_ arguments: [String]) throws {
        let scratch = try folder()
        func run() throws -> String {
            let run = try tandem(["run"] + arguments + ["jobs.yaml"], in: scratch)
            #expect(run.status == 0, "\(run.errors)")
            #expect(try picture(scratch) == bytes(scratch.file("art.png")))
            return run.errors
        }
        #expect(try run().contains("1 of 1 jobs done"))
        #expect(try run().contains("1 of them up to date"))
        // A changed modification time with unchanged content causes no rerun.
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 981_173_106)],
            ofItemAtPath: scratch.file("art.png"))
        #expect(try run().contains("1 of them up to date"))
        try draw("testsrc2", to: scratch.file("art.png"))
        let mode = arguments[0] == "--fingerprint" ? arguments : []
        let why = try tandem(["explain"] + mode + ["jobs.yaml", "one"], in: scratch)
        #expect(why.text.contains("cover: PNG 64x64, SHA-256 "), "\(why.text)\(why.errors)")
        let plan = try tandem(["plan", "jobs.yaml"], in: scratch)
        #expect(plan.text.contains("  cover      \(scratch.path)/art.png, PNG 64x64, "), "\(plan.text)")
        #expect(try !run().contains("up to date"))
        #expect(try run().contains("1 of them up to date"))
    }

    /// A saved plan and its parts are rejected after the image changes.
    @Test func savedPlansAreRejectedAfterTheImageChanges() throws {
        let scratch = try folder()
        #expect(try tandem(["plan", "--out", "plan.json", "jobs.yaml"], in: scratch).status == 0)
        #expect(
            try tandem(["plan", "--shards", "2", "--out", "parts", "jobs.yaml"], in: scratch).status == 0)
        try draw("testsrc2", to: scratch.file("art.png"))
        let changed = try tandem(["run", "--plan", "plan.json"], in: scratch)
        #expect(
            changed.status == 3 && changed.errors.contains("the cover of the job one changed"),
            "\(changed.errors)")
        #expect(!scratch.contents.contains("one.flac"))
        try draw("testsrc", to: scratch.file("art.png"))
        for index in 0..<2 {
            let part = try tandem(["run", "--plan", "parts", "--shard", "\(index)"], in: scratch)
            #expect(part.status == 0, "\(part.errors)")
        }
        #expect(try picture(scratch) == bytes(scratch.file("art.png")))
    }

    /// Images that can't be decoded or are too large are errors of the plan, at their line.
    @Test func badImagesAreRefused() throws {
        let scratch = try folder()
        let whole = try bytes(scratch.file("art.png"))
        try draw("testsrc", to: scratch.file("art.jpg"))
        let jpeg = try bytes(scratch.file("art.jpg"))
        try draw("testsrc", to: scratch.file("art.gif"))
        try draw("testsrc", to: scratch.file("art.bmp"))
        var damaged = whole
        damaged[whole.count / 2] ^= 0x55
        let files: [(name: String, data: Data, words: String)] = [
            ("short.png", whole.dropLast(6), "it is truncated"),
            ("short.jpg", jpeg.dropLast(6), "it is truncated"),
            // An EOI marker appended to half of the scan, and a second image appended to half of the first.
            ("half.jpg", jpeg.prefix(jpeg.count / 2) + [0xff, 0xd9], "it can't be decoded"),
            ("joined.jpg", jpeg.prefix(jpeg.count / 2) + jpeg, "it is truncated"),
            ("bad.png", damaged, "it can't be decoded"),
            ("gif.png", try bytes(scratch.file("art.gif")), "it is GIF; expected JPEG or PNG"),
            ("bmp.png", try bytes(scratch.file("art.bmp")), "it is BMP; expected JPEG or PNG"),
            ("text.png", Data("hello, world".utf8), "expected JPEG or PNG"),
            ("big.png", whole + Data(count: 16_000_000), "at most 16000000 are allowed"),
        ]
        for (name, data, words) in files {
            try data.write(to: URL(fileURLWithPath: scratch.file(name)))
            try scratch.write(spec(name), to: "jobs.yaml")
            for (command, status) in [("validate", Int32(0)), ("plan", 3), ("run", 1)] {
                let result = try tandem([command, "jobs.yaml"], in: scratch)
                #expect(result.status == status, "\(name) \(command): \(result.errors)")
                guard status != 0 else { continue }
                #expect(
                    result.errors.contains("jobs.yaml:6:24: error[source-unreadable]: \(name): "),
                    "\(result.errors)")
                #expect(result.errors.contains(words), "\(name): \(result.errors)")
            }
        }
        #expect(!scratch.contents.contains("one.flac"))
    }

    /// A cover outside of the root is rejected, by any path.
    @Test func coversStayBeneathTheRoot() throws {
        let (scratch, outside) = (try folder(), try Scratch())
        try draw("testsrc", to: outside.file("secret.png"))
        try FileManager.default.createSymbolicLink(
            atPath: scratch.file("link.png"), withDestinationPath: outside.file("secret.png"))
        for cover in [outside.file("secret.png"), "link.png", "in/../../x.png"] {
            try scratch.write(spec(cover), to: "jobs.yaml")
            for arguments in [["--root", "."], ["--untrusted"]] {
                let plan = try tandem(["plan"] + arguments + ["jobs.yaml"], in: scratch)
                #expect(plan.status == 3, "\(cover): \(plan.errors)")
                #expect(
                    plan.errors.contains("jobs.yaml:6:24: error[source-unreadable]:")
                        && plan.errors.contains("it is outside of --root, or a link leads out of it"),
                    "\(cover): \(plan.errors)")
            }
        }
        try scratch.write(spec(), to: "jobs.yaml")
        let plan = try tandem(["plan", "--untrusted", "jobs.yaml"], in: scratch)
        #expect(plan.status == 0, "\(plan.errors)")
    }

    /// A cover that changes between planning and work fails the job at its line, and nothing is published.
    @Test(arguments: [
        ("mv other.png art.png", "the file changed after planning"), ("rm art.png", "art.png: No such file"),
    ])
    func aCoverThatChangesMeanwhileFails(_ change: String, _ words: String) throws {
        let scratch = try folder()
        try scratch.write(
            """
            version: 1
            jobs:
              slow:
                asset: { pattern: testsrc, size: 320x240, duration: 4s }
                tracks: [ { video: first, encode: { codec: ffv1 } } ]
                destination: slow.mkv
              one:
                asset: in/a.wav
                needs: slow
                tracks: [ { audio: first, encode: { codec: flac } } ]
                metadata: { cover: art.png }
                destination: one.flac

            """, to: "jobs.yaml")
        try draw("testsrc2", to: scratch.file("other.png"))
        let script = """
            "$0" run jobs.yaml 2>log & pid=$!
            until grep -q 'slow: started' log 2>/dev/null; do kill -0 $pid || exit 99; done
            \(change)
            wait $pid
            """
        let result = try program(
            "/bin/bash", ["-c", script, TestPaths.tandem], directory: scratch.path,
            environment: ["SWIFT_BACKTRACE": "enable=no"])
        let log = try String(contentsOfFile: scratch.file("log"), encoding: .utf8)
        #expect(result.status == 1, "\(log)")
        #expect(log.contains(words) && log.contains("jobs.yaml:11:24"), "\(log)")
        #expect(scratch.contents.contains("slow.mkv") && !scratch.contents.contains("one.flac"))
    }

    @Test func cancelledRunLeavesNoFile() throws {
        let scratch = try folder()
        try scratch.write(
            spec().replacing("in/a.wav", with: "{ pattern: black, duration: 36000s, tone: 1kHz }"),
            to: "jobs.yaml")
        let before = scratch.contents
        let script = """
            "$0" run jobs.yaml 2>log & pid=$!
            until grep -q 'one: started' log 2>/dev/null; do kill -0 $pid || exit 99; done
            kill -TERM $pid
            wait $pid
            """
        let result = try program(
            "/bin/bash", ["-c", script, TestPaths.tandem], directory: scratch.path,
            environment: ["SWIFT_BACKTRACE": "enable=no"])
        #expect(result.status == 143, "\(result.errors)")
        #expect(scratch.contents == (before + ["log"]).sorted())
    }
}
