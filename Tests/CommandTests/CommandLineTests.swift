import Foundation
import TestSupport
import Testing

@Suite struct CommandLineTests {
    /// Validates and runs every example in `jobs/`, including the README's.
    @Test func examplesRun() throws {
        let scratch = try Scratch()
        let folder = TestPaths.repository + "/jobs"
        let cache = scratch.file("cache")
        var examples: [String] = []
        for part in ["shared", "images"] {
            try FileManager.default.copyItem(atPath: folder + "/" + part, toPath: scratch.file(part))
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasSuffix(".yaml")
        {
            try FileManager.default.copyItem(atPath: folder + "/" + name, toPath: scratch.file(name))
            #expect(try tandem("validate", name, in: scratch).errors == "")
            // Examples that read the user's own files name the folder `media/`.
            if try String(contentsOfFile: scratch.file(name), encoding: .utf8).contains("media/") { continue }
            let result = try tandem("run", name, "--cache", cache, in: scratch)
            #expect(result.status == 0, "\(name): \(result.errors)")
            examples.append(name)
        }
        let web = FFmpegFile(scratch.file("out/web.mp4"))
        #expect(try web.frames().times.count == 75)
        #expect(try web.decodeErrors() == "")
        let audio = try web.stream("a:0", "codec_name,sample_rate,channels")
        #expect(
            audio["codec_name"] as? String == "aac" && audio["sample_rate"] as? String == "44100"
                && audio["channels"] as? Int == 2)
        #expect(try web.editDurations().compactMap { $0?.media } == [3, 3])
        // `moov` precedes `mdat`.
        let bytes = try #require(FileManager.default.contents(atPath: web.path))
        let (index, data) = (bytes.range(of: Data("moov".utf8)), bytes.range(of: Data("mdat".utf8)))
        #expect(try #require(index).lowerBound < #require(data).lowerBound)
        try examplesAreTaken(examples, from: cache)
    }

    /// Runs the examples in another folder, where every output is in the cache but those that aren't kept there. So no key
    /// of any kind of output contains a path or a time.
    private func examplesAreTaken(_ examples: [String], from cache: String) throws {
        let scratch = try Scratch()
        let folder = TestPaths.repository + "/jobs"
        for part in try FileManager.default.contentsOfDirectory(atPath: folder) where part != "out" {
            try FileManager.default.copyItem(atPath: folder + "/" + part, toPath: scratch.file(part))
        }
        for name in examples {
            let result = try tandem("run", name, "--cache", cache, "--report", "report.json", in: scratch)
            #expect(result.status == 0, "\(name): \(result.errors)")
            let report = try #require(
                JSONSerialization.jsonObject(
                    with: Data(contentsOf: URL(filePath: scratch.file("report.json"))))
                    as? [String: Any])
            for job in report["jobs"] as? [[String: Any]] ?? [] where job["outcome"] as? String == "succeeded"
            {
                let actions = (job["tracks"] as? [[String: Any]] ?? []).compactMap { $0["action"] as? String }
                let isEncoded = !actions.allSatisfy {
                    ["copied", "decoded", "packets read", "ass", "webvtt", "subrip"].contains($0)
                }
                let isKept = isEncoded && !actions.contains("smart cut")
                let drawsText = ["captioned", "burned"].contains(job["id"] as? String)
                #expect((job["cached"] as? Bool ?? false) == (isKept && !drawsText), "\(name): \(job)")
            }
        }
    }

    @Test(arguments: ["validate", "plan", "run", "probe", "init", "clean", "collect", "history", "doctor"])
    func commandsHaveNoOptionOfOtherTools(_ command: String) throws {
        let help = try tandem(command, "--help", in: Scratch()).text
        for option in ["--dry-run", "--json", "-i", "-y", "-o", "--output", "--timeout", "--threads"] {
            #expect(!help.contains("\(option) ") && !help.contains("\(option),"), "\(option)")
            let result = try tandem(command, option, in: Scratch())
            #expect(result.status == 64 && result.errors.hasPrefix("error: unknown option `\(option)`; "))
        }
    }

    /// With a format for programs, standard output has one document, also with diagnostics of several stages.
    @Test(arguments: [
        ["validate", "jobs.yaml"], ["explain", "jobs.yaml", "one"], ["clean", "jobs.yaml"],
        ["accept", "jobs.yaml", "one"], ["run", "jobs.yaml"],
    ])
    func programsGetOneDocument(_ words: [String]) throws {
        let scratch = try folderWithSource()
        // A key of a matrix that isn't used is a warning.
        try scratch.write(jobFile(more: "    matrix: { unused: [1] }"), to: "jobs.yaml")
        for format in ["json", "sarif"] {
            let result = try program(
                TestPaths.tandem, words + ["--format", format], directory: scratch.path)
            let document = try? JSONSerialization.jsonObject(with: Data(result.text.utf8)) as? [String: Any]
            #expect(document != nil && result.text.contains("unused"), "\(format): \(result.text)")
        }
    }

    /// libavfilter is loaded only if needed, because loading it and its dependencies takes a third of the startup time.
    @Test func libavfilterIsLoadedOnlyForFilters() throws {
        let scratch = try folderWithSource()
        func loads(_ video: String) throws -> Bool {
            try scratch.write(jobFile(video: video), to: "jobs.yaml")
            let result = try tandem("validate", "jobs.yaml", in: scratch, environment: ["LD_DEBUG": "files"])
            #expect(result.status == 0 && result.errors.contains("libavcodec"))
            return result.errors.contains("libavfilter")
        }
        #expect(try !loads("codec: h264"))
        #expect(try loads("codec: h264, filters: hflip"))
    }

    @Test func planPrintsEveryDecisionAndWritesNothing() throws {
        let scratch = try folderWithSource()
        try scratch.write(jobFile(range: "{ start: 0.2s, end: 0.8s }"), to: "jobs.yaml")
        let text = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(text.status == 0)
        for part in [
            "0.2 s to 0.8 s", "h264 (libx264)", "crf 23  (default)", "track 1   dropped  audio aac",
            "no rule selects it",
        ] {
            #expect(text.text.contains(part), "\(part) in \(text.text)")
        }
        let json =
            try JSONSerialization.jsonObject(
                with: try tandem("plan", "--format", "json", "jobs.yaml", in: scratch).output)
            as? [String: Any]
        let jobs = (json?["plan"] as? [String: Any])?["jobs"] as? [[String: Any]]
        #expect(jobs?.first?["id"] as? String == "one")
        #expect(scratch.contents == ["a.mp4", "jobs.yaml"])
    }

    @Test func probePrintsTheTracks() throws {
        let scratch = try folderWithSource()
        let text = try tandem("probe", "a.mp4", in: scratch)
        #expect(
            text.status == 0 && text.text.contains("video h264 128x96") && text.text.contains("25 samples"))
        let json =
            try JSONSerialization.jsonObject(
                with: try tandem("probe", "--format", "json", "a.mp4", in: scratch).output) as? [String: Any]
        #expect((json?["tracks"] as? [Any])?.count == 2)
        #expect(try tandem("probe", "nothing.mp4", in: scratch).status == 1)
    }

    /// A write error on standard output fails the command; a closed pipe ends it silently.
    @Test func fullStandardOutputIsAnError() throws {
        for command in ["schema", "codecs --format json", "--help", "help run", "--version"] {
            let full = try program("sh", ["-c", "'\(TestPaths.tandem)' \(command) > /dev/full"])
            #expect(full.status == 4)
            #expect(full.errors.contains("standard output can't be written: No space left on device"))
            let read = try program(
                "bash", ["-c", "set -o pipefail; '\(TestPaths.tandem)' \(command) | head -c 1"])
            #expect(read.errors.isEmpty)
        }
    }

    /// Converting each real file, including damaged ones, ends with an error or an output, never with a crash or a
    /// hang.
    @Test(.enabled(if: TestPaths.media != nil)) func realFilesEndWithAnOutputOrAnError() throws {
        let media = try #require(TestPaths.media)
        let scratch = try Scratch()
        var table: [String] = []
        for name in TestPaths.mediaFiles {
            let yaml = """
                version: 1
                jobs:
                  one:
                    asset: "\(media)/\(name)"
                    tracks:
                      - { video: first, optional: true, encode: { codec: h264, preset: ultrafast, size: x120, pixel_format: yuv420p } }
                      - { audio: all, optional: true, encode: { codec: aac } }
                    container: mov
                    destination: { path: out.mov, if_exists: replace }
                """
            try scratch.write(yaml, to: "jobs.yaml")
            let isolation = TestPaths.givenProgram == nil ? "worker" : "none"
            let result = try program(
                "timeout", ["120", TestPaths.tandem, "run", "--isolation", isolation, "jobs.yaml"],
                directory: scratch.path, environment: ["SWIFT_BACKTRACE": "enable=no"])
            #expect([0, 1].contains(result.status), "\(name): \(result.status) \(result.errors)")
            #expect(
                !result.errors.contains("worker-died") && !result.errors.contains("worker that probed"),
                "\(name): \(result.errors)")
            if result.status == 0 {
                #expect(try FFmpegFile(scratch.file("out.mov")).decodeErrors() == "", "\(name)")
            }
            let why =
                result.status == 0
                ? "ok"
                : result.errors.split(separator: "\n").first { $0.contains("error[") }.map(String.init) ?? "?"
            table.append("\(name): \(why)")
        }
        print(table.map { "real file: " + $0 }.joined(separator: "\n"))
        #expect(table.count >= 60)
    }

    /// The status is 5 if only expectations failed, and 1 if another job failed too. In both cases nothing is
    /// published.
    @Test func failedExpectationsHaveTheirOwnExitStatus() throws {
        let scratch = try folderWithSource()
        try scratch.write(jobFile(more: "    expect: { size: { max: 10B } }"), to: "jobs.yaml")
        let wrong = try tandem("run", "jobs.yaml", in: scratch)
        #expect(wrong.status == 5)
        #expect(wrong.errors.contains("error[expectation-failed]"))
        // Reported when the job fails, and again in the summary.
        #expect(wrong.errors.components(separatedBy: "expected size at most").count == 3, "\(wrong.errors)")
        #expect(wrong.errors.contains("jobs.yaml:10:21"))
        try scratch.write(jobFile(asset: "./none.mp4", destination: "b.mp4"), to: "broken.yaml")
        #expect(try tandem("run", "jobs.yaml", "broken.yaml", in: scratch).status == 1)
        #expect(scratch.contents == ["a.mp4", "broken.yaml", "jobs.yaml"])
        try scratch.write(jobFile(more: "    expect: { frames: 25 }"), to: "jobs.yaml")
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
    }

    /// The hook of `.pre-commit-hooks.yaml`, with which other repositories check job files before a commit.
    @Test func preCommitHookChecksJobFiles() throws {
        let scratch = try Scratch()
        let hook = try String(
            contentsOfFile: TestPaths.repository + "/.pre-commit-hooks.yaml", encoding: .utf8)
        let fields = hook.split(separator: "\n").compactMap { line -> (Substring, Substring)? in
            let parts = line.drop { " -".contains($0) }.split(separator: ": ", maxSplits: 1)
            return parts.count == 2 ? (parts[0], parts[1]) : nil
        }
        let values = Dictionary(fields) { first, _ in first }
        let entry = try #require(values["entry"]).split(separator: " ").map(String.init)
        #expect(entry.first == "tandem")
        let names = try Regex(String(try #require(values["files"])))
        for (name, isJobFile) in [
            ("jobs.yaml", true), ("media/jobs.yml", true), ("tandem.yaml", true), ("a/web.tandem.yaml", true),
            ("docker-compose.yaml", false), ("myjobs.yaml", false), ("jobs.yaml.txt", false),
        ] {
            #expect((name.firstMatch(of: names) != nil) == isJobFile, "\(name)")
        }
        for (crf, status) in [(23, 0), (99, 3)] {
            try scratch.write(
                """
                version: 1
                jobs:
                  web:
                    asset: a.mp4
                    tracks: [ { video: first, encode: { codec: h264, crf: \(crf) } } ]
                    destination: b.mp4
                """, to: "jobs.yaml")
            let result = try program(
                TestPaths.tandem, Array(entry.dropFirst()) + ["jobs.yaml"], directory: scratch.path)
            #expect(result.status == status, "\(result.errors)")
        }
    }

    @Test func helpAndReferenceListEveryExitStatus() throws {
        let help = try tandem("--help", in: try Scratch()).text
        let reference = try tandem("schema", "--reference", in: try Scratch()).text
        for status in ["0", "1", "3", "4", "5", "64", "130", "143"] {
            #expect(reference.contains("\n| \(status) | "), "\(status)")
        }
        let section = (help.components(separatedBy: "Exit status:").last ?? "").components(
            separatedBy: "SUBCOMMANDS")[0]
        let words = section.split { $0 == " " || $0 == "\n" }
        for status in ["0", "1", "3", "4", "5", "64", "130", "143"] {
            #expect(words.contains { $0 == status }, "\(status): \(section)")
        }
    }

    /// Files that a command would write can't be URLs, which would create folders such as `s3:`.
    @Test(arguments: [
        ["plan", "jobs.yaml", "--out"], ["plan", "jobs.yaml", "--shards", "2", "--out"],
        ["plan", "jobs.yaml", "--state"], ["run", "jobs.yaml", "--state"],
        ["run", "jobs.yaml", "--events"], ["run", "jobs.yaml", "--junit"],
        ["collect", "parts", "--junit"], ["history", "jobs.yaml", "--state"],
    ])
    func writtenPathsAreLocal(_ arguments: [String]) throws {
        let scratch = try Scratch()
        let option = try #require(arguments.last)
        let result = try program(
            TestPaths.tandem, arguments + ["s3://bucket/x"], directory: scratch.path,
            environment: ["SWIFT_BACKTRACE": "enable=no"])
        #expect(result.status == 64)
        #expect(
            result.errors.split(separator: "\n").first.map(String.init)
                == "Error: \(option) must be a local path, not the URL s3://bucket/x")
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == [])
    }

    @Test func reportsAreLocal() throws {
        let result = try tandem("run", "a.yaml", "--report", "file:///tmp/x.html", in: Scratch())
        #expect(
            result.errors.split(separator: "\n").first.map(String.init)
                == "Error: --report must be a local path, not the URL file:///tmp/x.html; write only the path, without `file://`"
        )
    }
}
