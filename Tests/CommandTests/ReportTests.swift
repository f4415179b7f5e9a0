import Foundation
import LibAV
import Media
import TestSupport
import Testing

/// Tests machine-readable diagnostics, saved plans, lists of presets and codecs, and patterns.
@Suite struct ReportTests {
    private func writeInvalidJobs(in scratch: Scratch, jobs: Int = 1) throws {
        let text =
            "version: 1\njobs:\n"
            + (0..<jobs).map {
                "  j\($0): { asset: ./a.mp4, tracks: [ { video: first, encode: { codec: h265, x: 1 } } ], destination: \"%, o\($0).mp4\" }\n"
            }.joined()
        try scratch.write(text, to: "a, b.yaml")
    }

    /// GitHub annotations are limited to ten, the most severe first, with control characters escaped.
    @Test func githubAnnotationsAreLimitedAndEscaped() throws {
        let scratch = try Scratch()
        try writeInvalidJobs(in: scratch, jobs: 12)
        let result = try tandem("validate", "--format", "github", "a, b.yaml", in: scratch)
        let lines = result.text.split(separator: "\n")
        #expect(result.status == 3 && result.errors == "")
        #expect(lines.count == 10)
        #expect(
            lines[0].hasPrefix(
                "::error file=a%2C b.yaml,line=3,endLine=3,col=68,endColumn=72,title=tandem unknown-codec::"))
        #expect(lines[0].contains("%0Adid you mean `hevc`?"))
        #expect(lines[9].hasPrefix("::error title=tandem::15 more"))
    }

    @Test func annotationsAreDefaultInGitHubActions() throws {
        let scratch = try Scratch()
        try writeInvalidJobs(in: scratch)
        let result = try program(
            TestPaths.tandem, ["validate", "a, b.yaml"], directory: scratch.path,
            environment: ["GITHUB_ACTIONS": "true", "SWIFT_BACKTRACE": "enable=no"])
        #expect(result.text.hasPrefix("::error file="))
        #expect(result.errors.contains("error[unknown-codec]"))
    }

    /// SARIF contains the properties that readers require.
    @Test func sarifHasRulesAndLocations() throws {
        let scratch = try Scratch()
        try writeInvalidJobs(in: scratch)
        let result = try tandem("validate", "--format", "sarif", "a, b.yaml", in: scratch)
        #expect(result.status == 3)
        let log = try #require(
            try JSONSerialization.jsonObject(with: Data(result.text.utf8)) as? [String: Any])
        #expect(log["version"] as? String == "2.1.0")
        let run = try #require((log["runs"] as? [[String: Any]])?.first)
        let results = try #require(run["results"] as? [[String: Any]])
        let rules = try #require(
            ((run["tool"] as? [String: Any])?["driver"] as? [String: Any])?["rules"] as? [[String: Any]])
        #expect(results.count == 2)
        for one in results {
            let index = try #require(one["ruleIndex"] as? Int)
            #expect(rules[index]["id"] as? String == one["ruleId"] as? String)
            let location = try #require(
                (one["locations"] as? [[String: Any]])?.first?["physicalLocation"] as? [String: Any])
            #expect((location["artifactLocation"] as? [String: Any])?["uri"] as? String == "a%2C%20b.yaml")
            #expect((location["region"] as? [String: Any])?["startLine"] as? Int == 3)
        }
    }

    @Test func warningsAsErrorsFailsPlanAndRun() throws {
        let scratch = try folderWithSource()
        try scratch.write(jobFile(more: "    leftover: warn"), to: "jobs.yaml")
        #expect(try tandem("plan", "jobs.yaml", in: scratch).status == 0)
        let strict = try tandem("plan", "--warnings-as-errors", "jobs.yaml", in: scratch)
        #expect(strict.status == 3 && strict.errors.contains("warning[leftover-track]"))
        #expect(try tandem("run", "--warnings-as-errors", "jobs.yaml", in: scratch).status == 3)
        #expect(scratch.contents.sorted() == ["a.mp4", "jobs.yaml"])
        try scratch.write(jobFile(more: "    leftover: error"), to: "jobs.yaml")
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 1)
    }

    /// Warnings of the plan are printed once, stated in reports, and repeated while the output is up to date.
    @Test func warningsOfThePlan_areReportedAndRepeated() throws {
        let scratch = try folderWithSource()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=d=1", "-f", "lavfi", "-i", "sine=d=1", scratch.file("b.mp4"))
        try scratch.write(
            jobFile(more: "    leftover: warn").replacing("a.mp4", with: "b.mp4"), to: "jobs.yaml")
        let message = "no rule selects track 1 of the source: audio aac"
        func warnings() throws -> [String] {
            let report = try JSONSerialization.jsonObject(
                with: Data(contentsOf: URL(fileURLWithPath: scratch.file("r.json"))))
            let jobs = try #require((report as? [String: Any])?["jobs"] as? [[String: Any]])
            return jobs.flatMap { $0["warnings"] as? [String] ?? [] }
        }
        for (arguments, status) in [([], 0), ([], 0), (["--force"], 0), (["--warnings-as-errors"], 1)] {
            let run = try program(
                TestPaths.tandem, ["run", "jobs.yaml", "--report", "r.json"] + arguments,
                directory: scratch.path)
            #expect(run.status == status, "\(arguments): \(run.errors)")
            #expect(run.errors.components(separatedBy: message).count == 2, "\(arguments): \(run.errors)")
            #expect(try warnings().map { $0.hasPrefix(message) } == [true])
        }
    }

    @Test func savedPlansRunUnlessInputsChanged() throws {
        let scratch = try folderWithSource()
        try scratch.write(
            "version: 1\nvars: { q: \"30\" }\njobs:\n  one: { asset: ./a.mp4, tracks: [ { video: first, encode: { codec: h264, crf: \"${q}\", preset: ultrafast } } ], destination: out.mp4 }\n",
            to: "jobs.yaml")
        #expect(try tandem("plan", "--set", "q=28", "--out", "p.json", "jobs.yaml", in: scratch).status == 0)
        let first = try tandem("run", "--plan", "p.json", in: scratch)
        #expect(first.status == 0, "\(first.errors)")
        #expect(FileManager.default.fileExists(atPath: scratch.file("out.mp4")))
        func refused(_ reason: String) throws {
            let result = try tandem("run", "--plan", "p.json", in: scratch)
            #expect(result.status == 3 && result.errors.contains(reason), "\(result.errors)")
        }
        let yaml = try String(contentsOfFile: scratch.file("jobs.yaml"), encoding: .utf8)
        try scratch.write(yaml + "# more\n", to: "jobs.yaml")
        try refused("jobs.yaml changed")
        try scratch.write(yaml, to: "jobs.yaml")
        try ffmpeg("-i", scratch.file("a.mp4"), "-c", "copy", "-t", "0.5", scratch.file("b.mp4"))
        try FileManager.default.removeItem(atPath: scratch.file("a.mp4"))
        try FileManager.default.moveItem(atPath: scratch.file("b.mp4"), toPath: scratch.file("a.mp4"))
        try refused("the source of the job one changed")
        let plan = try String(contentsOfFile: scratch.file("p.json"), encoding: .utf8)
        try scratch.write(plan.replacingOccurrences(of: "\"0.1.0\"", with: "\"0.0.9\""), to: "p.json")
        try refused("it was created by tandem 0.0.9")
        try scratch.write("{", to: "p.json")
        try refused("p.json is not a plan")
        try FileManager.default.removeItem(atPath: scratch.file("p.json"))
        try refused("the plan p.json can't be read: No such file or directory")
        #expect(try tandem("run", "--plan", "p.json", "jobs.yaml", in: scratch).status == 64)
    }

    @Test func unknownVariablesOfSetAreErrors() throws {
        let scratch = try folderWithSource()
        try scratch.write("version: 1\nvars: { height: \"64\" }\n" + jobFile().dropFirst(11), to: "jobs.yaml")
        let result = try tandem("validate", "--set", "heigth=48", "jobs.yaml", in: scratch)
        #expect(result.status == 3 && result.errors.contains("did you mean `height`?"), "\(result.errors)")
        #expect(try tandem("validate", "--set", "heigth", "jobs.yaml", in: scratch).status == 64)
        // An option has one value; the next word is a job file.
        let second = try tandem("validate", "--set", "height=48", "width=64", "jobs.yaml", in: scratch)
        #expect(
            second.status == 3
                && second.errors.contains("each variable needs its own `--set`: `--set width=64`"))
        #expect(try tandem("validate", in: scratch).status == 64)
    }

    /// `tandem presets` lists all presets, the settings of a preset, the presets that a file supports, or a preset
    /// resolved for a file.
    @Test func presetsAreListedAndFitted() throws {
        let scratch = try Scratch()
        let list = try tandem("presets", in: scratch).text
        #expect(list.contains("1280x720") && list.contains("passthrough") && list.contains("prores-422"))
        #expect(try tandem("presets", "hevc-1920x1080", in: scratch).text.contains("codec: hevc, crf: 22"))
        try ffmpeg("-f", "lavfi", "-i", "sine=d=1", "-c:a", "libvorbis", scratch.file("a.ogg"))
        let fitting = try tandem("presets", "./a.ogg", "--format", "json", in: scratch).text
        #expect(fitting.contains("\"name\" : \"m4a\""))
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=960x540:r=25:d=1", "-c:v", "libx264", scratch.file("a.mp4"))
        let refused = try tandem("presets", "a.mp4", in: scratch).text
        #expect(refused.contains("m4a             not possible for this file: the job has no track"))
        let settings = try tandem("presets", "640x480", "a.mp4", in: scratch).text
        #expect(settings.contains("size: 640x360, fit: scale-down"))
        let job = settings.split(separator: "\n").map { "    " + $0 }.joined(separator: "\n")
        try scratch.write(
            "version: 1\njobs:\n  j:\n    asset: ./a.mp4\n\(job)\n    destination: o.mp4\n", to: "jobs.yaml")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 0, "\(run.errors)")
        let misspelled = try tandem("presets", "hihgest", in: scratch)
        #expect(misspelled.status == 64 && misspelled.errors.contains("did you mean `highest`?"))
        #expect(try tandem("presets", "./none.mp4", in: scratch).status == 1)
    }

    @Test func codecsAndContainersAreListed() throws {
        let scratch = try Scratch()
        let text = try tandem("codecs", in: scratch).text
        #expect(text.contains("libx264"))
        let json = try tandem("codecs", "--format", "json", in: scratch).text
        let report = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        // The listed abilities come from the container models.
        let models = try #require(report["container_models"] as? [[String: Any]])
        #expect(models.compactMap { $0["name"] as? String } == report["containers"] as? [String])
        for model in models {
            let container = try #require((model["name"] as? String).flatMap(ContainerType.named))
            let abilities = try #require(model["abilities"] as? [String])
            #expect(abilities.contains("edit lists") == container.hasEditLists)
            #expect(abilities.contains("fragments") == container.hasFragments)
            #expect(abilities.contains("chapters") == container.hasChapters)
            #expect((model["tags"] as? [String]).map(Set.init) == container.metadataKeys)
            #expect(model["extensions"] as? [String] == container.extensions)
            for name in container.extensions { #expect(text.contains(" .\(name)")) }
        }
        let images = try #require(report["still_images"] as? [[String: Any]])
        #expect(images.compactMap { $0["format"] as? String } == ["jpeg", "png", "webp"])
        let animations = try #require(report["animations"] as? [[String: Any]])
        #expect(
            animations.compactMap { $0["format"] as? String } == AnimationFormat.allCases.map(\.rawValue))
        #expect(text.contains("libwebp") && text.contains("libwebp_anim"))
        let flac = models.first { $0["name"] as? String == "flac" }
        #expect(flac?["codecs"] as? [String] == ["flac"] && flac?["one_track"] as? Bool == true)
    }

    /// A pattern expands the job for every match, ordered by name; no match is an error.
    @Test func patternsExpandAJobForEveryMatch() throws {
        let scratch = try folderWithSource()
        for folder in ["m", "m/x", "m/.hidden"] {
            try FileManager.default.createDirectory(
                atPath: scratch.file(folder), withIntermediateDirectories: true)
        }
        for name in ["m/b.mp4", "m/x/c.mp4", "m/.hidden/d.mp4", "m/e.txt"] {
            try FileManager.default.copyItem(atPath: scratch.file("a.mp4"), toPath: scratch.file(name))
        }
        try FileManager.default.createSymbolicLink(atPath: scratch.file("m/x/up"), withDestinationPath: "..")
        let yaml = """
            version: 1
            jobs:
              after: { asset: { job: web }, tracks: [ { video: first, copy: true } ], destination: "o/${asset.stem}.mkv" }
              web: { asset: "m/**/*.mp4", tracks: [ { video: first, copy: true } ], destination: "o/${asset.stem}.mp4" }
              last: { asset: ./a.mp4, needs: [after], tracks: [ { video: first, copy: true } ], destination: o/last.mp4 }
            """
        try scratch.write(yaml, to: "jobs.yaml")
        let result = try tandem("run", "jobs.yaml", in: scratch)
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            result.errors.contains("after[x/c.mp4]: started") && result.errors.contains("5 of 5 jobs done"))
        let outputs = try FileManager.default.contentsOfDirectory(atPath: scratch.file("o")).sorted()
        #expect(outputs == ["b.mkv", "b.mp4", "c.mkv", "c.mp4", "last.mp4"])
        let lines = result.errors.components(separatedBy: "\n")
        let begun = lines.firstIndex { $0.contains("last: started") } ?? 0
        let ended = lines.lastIndex { $0.contains("done after") } ?? Int.max
        #expect(begun > ended, "`needs` must wait for every instance")
        try scratch.write(yaml.replacingOccurrences(of: "m/**", with: "nowhere/**"), to: "jobs.yaml")
        let none = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(none.status == 3 && none.errors.contains("error[no-match]"), "\(none.errors)")
        let empty = try tandem("run", "jobs.yaml", in: scratch)
        #expect(
            empty.status == 1
                && empty.errors.contains("last: not run, the job `after`, which it needs, has no instance"))
    }

    /// Hostile job files are errors, within bounded memory and time.
    @Test(arguments: [
        "matrix", "variables", "levels", "aliases", "nul", "bytes", "options", "large", "chain",
    ])
    func hostileJobFilesAreErrors(_ kind: String) throws {
        let scratch = try Scratch()
        let job =
            "jobs: { j: { asset: a/b.mp4, tracks: [ { video: first, copy: true } ], destination: \"${v}\" } }\n"
        var bytes: [UInt8]
        switch kind {
        case "matrix":
            let axis = "[" + (0..<1000).map(String.init).joined(separator: ",") + "]"
            bytes = Array(
                "version: 1\njobs: { j: { asset: a/b.mp4, matrix: { a: \(axis), b: \(axis), c: \(axis) }, tracks: [ { video: first, copy: true } ], destination: x.mp4 } }\n"
                    .utf8)
        case "variables":
            var vars = "v0: xxxxxxxxxx"
            for i in 1...40 { vars += ", v\(i): \"${v\(i - 1)}${v\(i - 1)}\"" }
            bytes = Array("version: 1\nvars: { \(vars), v: \"${v40}\" }\n\(job)".utf8)
        case "levels": bytes = Array(String(repeating: "[", count: 3_000_000).utf8)
        case "aliases":
            var text = "version: 1\nx-a: [&a0 [x,x,x,x,x,x,x,x,x,x]"
            for i in 1..<12 {
                text += ", &a\(i) [" + Array(repeating: "*a\(i - 1)", count: 10).joined(separator: ",") + "]"
            }
            bytes = Array((text + "]\n").utf8)
        case "nul": bytes = Array("version: 1\nname: \"a\0b\"\n".utf8)
        case "bytes": bytes = Array("version: 1\nname: ".utf8) + [0xff, 0xfe, 0x80] + Array("\n".utf8)
        case "options":
            let long = String(repeating: "a=b:", count: 10_000)
            bytes = Array(
                "version: 1\njobs: { j: { asset: a/b.mp4, tracks: [ { video: first, encode: { codec: h264, filters: \"\(String(long.prefix(5000)))\", options: { aq-mode: \"\(long)\" } } } ], destination: x.mp4 } }\n"
                    .utf8)
        case "large": bytes = [UInt8](repeating: 0x20, count: 33 << 20)
        default:
            let chain = (0..<20_000).map { "a\($0): \"${a\($0 + 1)}\"" }.joined(separator: "\n  ")
            bytes = Array("version: 1\nvars:\n  \(chain)\n  a20000: \"${a0}\"\n  v: x.mp4\n\(job)".utf8)
        }
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.file("jobs.yaml")))
        let result = try tandem("validate", "jobs.yaml", in: scratch)
        #expect(result.status == 3 && result.errors.contains("error["), "\(result.errors.prefix(300))")
        #expect(result.errors.utf8.count < 100_000)
    }
}
