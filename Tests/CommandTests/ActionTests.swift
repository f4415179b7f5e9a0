import Foundation
import TestSupport
import Testing

/// The scripts of the actions for GitHub and of GitLab's jobs, with the environment variables that these systems set.
@Suite struct ActionTests {
    private static let actions = TestPaths.repository + "/actions"

    /// A folder with a job file, and the files of a step.
    private struct Step {
        let scratch: Scratch
        /// The runner's folder for temporary files, which is outside of the root of job files.
        let temporary: Scratch
        var environment: [String: String]

        init() throws {
            (scratch, temporary) = (try Scratch(), try Scratch())
            try write(job("web", video: "codec: h264, preset: ultrafast, crf: 30"), in: scratch)
            for name in ["output", "summary"] { try scratch.write("", to: name) }
            let programs = (TestPaths.tandem as NSString).deletingLastPathComponent
            environment = [
                "GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": scratch.file("output"),
                "GITHUB_STEP_SUMMARY": scratch.file("summary"), "GITHUB_WORKSPACE": scratch.path,
                "RUNNER_TEMP": temporary.path, "PATH": "\(programs):/usr/bin:/bin",
                "SWIFT_BACKTRACE": "enable=no", "TANDEM_FILES": "jobs.yaml\n", "TANDEM_ROOT": ".",
            ]
        }

        func run(_ script: String, _ more: [String: String] = [:]) throws -> ProgramResult {
            try program(
                "bash", [ActionTests.actions + "/" + script], directory: scratch.path,
                environment: environment.merging(more) { $1 })
        }

        /// The outputs of the step, the last of each name.
        var outputs: [String: String] {
            get throws {
                let lines = try text("output").split(separator: "\n").map {
                    $0.split(separator: "=", maxSplits: 1)
                }
                return Dictionary(lines.map { (String($0[0]), String($0[1])) }) { $1 }
            }
        }

        func text(_ name: String) throws -> String {
            try String(contentsOfFile: name.hasPrefix("/") ? name : scratch.file(name), encoding: .utf8)
        }
    }

    // MARK: actions/run

    @Test func planIsInTheSummaryAndTheOutputs() throws {
        let step = try Step()
        let result = try step.run("run/run.sh")
        #expect(result.status == 0, "\(result.errors)")
        let outputs = try step.outputs
        #expect(outputs["status"] == "0" && outputs["junit"] == nil)
        let markdown = try step.text(#require(outputs["markdown"]))
        #expect(markdown.hasPrefix("### Tandem plan: 1 job, 1 output\n"))
        #expect(try step.text("summary") == markdown)
        // The plan of the base is compared with that of the change.
        let plan = try #require(outputs["plan"])
        try step.scratch.write(step.text("jobs.yaml").replacing("crf: 30", with: "crf: 40"), to: "jobs.yaml")
        #expect(try step.run("run/run.sh", ["TANDEM_AGAINST": plan]).status == 0)
        let changes = try step.text(#require(try step.outputs["markdown"]))
        #expect(changes.contains("<code>track 0 crf</code> | <code>30</code> | <code>40</code>"))
        #expect(!FileManager.default.fileExists(atPath: step.scratch.file("out")))
    }

    @Test func runTakesOutputsFromTheCache() throws {
        let cache = try Scratch()
        let run = ["TANDEM_COMMAND": "run", "TANDEM_CACHE": cache.path]
        #expect(try Step().run("run/run.sh", run).status == 0)
        let second = try Step().run("run/run.sh", run)
        #expect(second.status == 0 && second.errors.hasSuffix("1 from the cache\n"), "\(second.errors)")
    }

    /// The state is kept beside the cache, and knows sources of a new checkout by their content. Untrusted job files don't change it.
    @Test func runKeepsTheState() throws {
        let (step, cache) = (try Step(), try Scratch())
        try ffmpeg("-f", "lavfi", "-i", "sine=d=1", step.scratch.file("a.wav"))
        try step.scratch.write(
            "version: 1\njobs: { whole: { asset: ./a.wav, check: {} } }\n", to: "jobs.yaml")
        let run = ["TANDEM_COMMAND": "run", "TANDEM_CACHE": cache.file("tandem")]
        let untrusted = try step.run("run/run.sh", run.merging(["TANDEM_UNTRUSTED": "true"]) { $1 })
        #expect(untrusted.status == 0 && !cache.contents.contains("tandem-state"), "\(untrusted.errors)")
        #expect(try step.run("run/run.sh", run).errors.hasSuffix("1 of 1 jobs done\n"))
        let copy = "cp a.wav b.wav && mv b.wav a.wav && touch a.wav"
        #expect(try program("bash", ["-c", copy], directory: step.scratch.path).status == 0)
        let second = try step.run("run/run.sh", run)
        #expect(second.errors.hasSuffix("1 of 1 jobs done, 1 of them up to date\n"), "\(second.errors)")
    }

    @Test func errorsAreAnnotationsWithTheStatusOfTandem() throws {
        let step = try Step()
        try step.scratch.write("version: 1\njobs: { web: { aset: x } }\n", to: "jobs.yaml")
        let result = try step.run("run/run.sh")
        #expect(result.status == 3 && result.text.contains("::error file=jobs.yaml,line=2"))
        #expect(try step.outputs == ["status": "3"])
        // Errors that depend on sources are those of `plan`.
        try write(job("web", asset: "./none.mp4"), in: step.scratch)
        let missing = try step.run("run/run.sh")
        #expect(
            missing.status == 3 && missing.text.contains("::error file=jobs.yaml,line=3"), "\(missing.text)")
        #expect(try step.text("summary").contains("#### Rejected") && step.outputs["plan"] == nil)
        for (name, value) in [("TANDEM_FILES", " \n"), ("TANDEM_COMMAND", "rm")] {
            let wrong = try step.run("run/run.sh", [name: value])
            #expect(wrong.status == 64 && wrong.text.hasPrefix("::error title=tandem::the input "))
        }
    }

    @Test func runWritesReports() throws {
        let step = try Step()
        let result = try step.run(
            "run/run.sh", ["TANDEM_COMMAND": "run", "TANDEM_ARGUMENTS": "--only\nweb\n"])
        #expect(result.status == 0, "\(result.errors)")
        let outputs = try step.outputs
        #expect(try step.text(#require(outputs["junit"])).contains("<testcase"))
        #expect(try step.text(#require(outputs["report"])).contains("<html"))
        #expect(outputs["plan"] == nil)
        #expect(FileManager.default.fileExists(atPath: step.scratch.file("out/web.mp4")))
        #expect(try step.text("summary").contains("Tandem"))
    }

    /// Names of files are arguments, whatever they contain.
    @Test func hostileNamesRunNothing() throws {
        let step = try Step()
        for name in ["$(touch x).yaml", "`touch x`.yaml", "--help", "a; touch x.yaml"] {
            let result = try step.run("run/run.sh", ["TANDEM_FILES": name])
            #expect(result.status == 3, "\(name): \(result.text)")
        }
        #expect(!step.scratch.contents.contains { $0.hasPrefix("x") })
    }

    // MARK: actions/run/comment.py

    private struct Replies: Decodable {
        struct Run: Decodable { let status: Int32, output: String, errors: String }
        struct Request: Decodable { let method: String, path: String, token: String, body: String? }
        struct Comment: Decodable { let id: Int, body: String }
        let runs: [Run], requests: [Request], comments: [Comment]
    }

    /// Writes the comment twice to a fake of GitHub's API.
    private func comment(
        _ mode: String, existing: String = "[]", event: String = "{ \"pull_request\": { \"number\": 7 } }",
        _ more: [String: String] = [:]
    ) throws -> Replies {
        let scratch = try Scratch()
        let environment = [
            "GITHUB_EVENT_PATH": try scratch.write(event, to: "event.json"),
            "GITHUB_REPOSITORY": "media/jobs",
            "no_proxy": "127.0.0.1",
        ]
        let result = try program(
            "python3",
            [
                TestPaths.repository + "/Tests/Actions/fake-github.py", Self.actions + "/run/comment.py",
                scratch.write("### Plan\n", to: "plan.md"), mode,
                scratch.write(existing, to: "comments.json"),
            ], environment: environment.merging(more) { $1 })
        #expect(result.status == 0, "\(result.errors)")
        return try JSONDecoder().decode(Replies.self, from: result.output)
    }

    @Test func oneCommentIsWrittenAndUpdated() throws {
        let replies = try comment("writable")
        #expect(replies.runs.map(\.status) == [0, 0], "\(replies.runs)")
        #expect(replies.comments.map(\.body) == ["<!-- tandem: plan -->\n### Plan\n"])
        #expect(replies.requests.map(\.method) == ["GET", "POST", "GET", "PATCH"])
        #expect(replies.requests[1].path == "/repos/media/jobs/issues/7/comments")
        #expect(replies.requests[3].path == "/repos/media/jobs/issues/comments/1000")
        #expect(replies.requests.allSatisfy { $0.token == "Bearer secret" })
    }

    /// Only the own comment is updated, also beyond the first page.
    @Test func commentsOfOthersAreKept() throws {
        var comments = (0..<120).map {
            "{ \"id\": \($0), \"user\": { \"login\": \"eve\" }, \"body\": \"<!-- tandem: plan -->\" }"
        }
        comments.append(
            "{ \"id\": 200, \"user\": { \"login\": \"github-actions[bot]\" }, \"body\": \"<!-- tandem: plan -->\\nold\" }"
        )
        let replies = try comment("writable", existing: "[\(comments.joined(separator: ","))]")
        #expect(replies.requests.map(\.method) == ["GET", "GET", "PATCH", "GET", "GET", "PATCH"])
        #expect(replies.comments.count == 121 && replies.comments.last?.body.hasSuffix("### Plan\n") == true)
        #expect(replies.comments.first?.body == "<!-- tandem: plan -->")
        let other = try comment(
            "writable", existing: "[\(comments.joined(separator: ","))]", ["TANDEM_COMMENT_KEY": "nightly"])
        #expect(other.comments.count == 122)
    }

    @Test func tokensWithoutPermissionResultInANotice() throws {
        let replies = try comment("forbidden")
        #expect(
            replies.runs.allSatisfy {
                $0.status == 0 && $0.output.hasPrefix("::notice title=tandem::the token has no permission")
            })
        #expect(replies.comments.isEmpty)
        let broken = try comment("broken")
        #expect(
            broken.runs.allSatisfy {
                $0.status == 1
                    && $0.output == "::error title=tandem::the comment can't be written: HTTP 500\n"
            })
        let push = try comment("writable", event: "{ \"ref\": \"refs/heads/main\" }")
        #expect(
            push.requests.isEmpty
                && push.runs.allSatisfy { $0.status == 0 && $0.output.hasPrefix("::notice ") })
    }

    // MARK: actions/setup

    /// Installs with fakes of apt-get, and of sudo for tests that don't run as root. Returns the result and the calls of apt-get.
    private func install(_ environment: [String: String]) throws -> (
        result: ProgramResult, calls: String, output: String
    ) {
        let step = try Step()
        let bin = step.scratch.file("bin")
        try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
        for (name, text) in [("apt-get", "echo \"$@\" >>\"$CALLS\""), ("sudo", "exec \"$@\"")] {
            try step.scratch.write("#!/bin/bash\n\(text)\n", to: "bin/\(name)")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: bin + "/" + name)
        }
        try step.scratch.write("a package\n", to: "tandem.deb")
        try step.scratch.write("", to: "calls")
        let result = try step.run(
            "setup/install.sh",
            ["PATH": bin + ":" + step.environment["PATH"]!, "CALLS": step.scratch.file("calls")]
                .merging(environment) { $1 })
        return (result, try step.text("calls"), try step.text("output"))
    }

    /// A checksum that no package of the tests has.
    private static let digest = String(repeating: "0", count: 64)

    @Test func packagesAreInstalledAfterTheirChecksumWasVerified() throws {
        let digest = try program("bash", ["-c", "echo 'a package' | sha256sum | cut -d ' ' -f 1"]).text
            .trimmingCharacters(in: .whitespacesAndNewlines)
        for text in [digest, digest.uppercased()] {
            let (result, calls, output) = try install(["TANDEM_PACKAGE": "tandem.deb", "TANDEM_SHA256": text])
            #expect(result.status == 0, "\(result.text)")
            #expect(
                calls.contains("install -y -qq --no-install-recommends /") && calls.contains("/tandem.deb\n"))
            #expect(output.hasPrefix("version=0."))
        }
    }

    @Test(arguments: [
        ("tandem.deb", digest, "the package has the SHA-256"),
        ("tandem.deb", "abc", "must have 64 hexadecimal digits"),
        ("tandem.deb", "", "must have 64 hexadecimal digits"), ("", digest, "TANDEM_PACKAGE is empty"),
        ("http://127.0.0.1:1/tandem.deb", digest, "a URL with https"),
        ("missing.deb", digest, "can't be read"),
        ("-rf", digest, "can't be read"),
    ]) func otherPackagesAreRefused(_ package: String, _ digest: String, _ reason: String) throws {
        let (result, calls, output) = try install(["TANDEM_PACKAGE": package, "TANDEM_SHA256": digest])
        #expect(result.status == 1 && result.text.hasPrefix("::error title=tandem::"), "\(result.text)")
        #expect(result.text.contains(reason), "\(result.text)")
        #expect(!calls.contains("install") && output == "")
    }

    // MARK: Descriptions and GitLab

    /// Every variable that an action passes to its script is one that the script reads, and every file that it runs exists.
    @Test(arguments: ["setup", "run"]) func descriptionsMatchTheirScripts(_ name: String) throws {
        let script = """
            import sys, yaml
            folder = sys.argv[1]
            action = yaml.safe_load(open(folder + "/action.yml"))
            assert action["runs"]["using"] == "composite"
            inputs, text = set(action["inputs"]), open(folder + "/action.yml").read()
            for step in action["runs"]["steps"]:
                if "uses" in step:
                    # A cache, of which untrusted files change nothing.
                    assert step["uses"] in ["actions/cache/save@v4", "actions/cache/restore@v4"], step
                    assert ("save" in step["uses"]) == ("inputs.untrusted != 'true'" in step["if"])
                    continue
                assert step["shell"] == "bash"
                script = next(word.strip('"').replace("$GITHUB_ACTION_PATH", folder)
                              for word in step["run"].split() if "GITHUB_ACTION_PATH" in word)
                source = open(script).read()
                # Values are passed as variables: in the command itself they would be parsed by the shell.
                assert "${{" not in step["run"], step
                for variable in step["env"]:
                    assert variable in source or variable in step["run"], variable
            for name in inputs:
                assert "inputs." + name in text, name
            """
        let result = try program("python3", ["-c", script, Self.actions + "/" + name])
        #expect(result.status == 0, "\(result.errors)")
    }

    /// The workflows of the page use inputs, outputs and jobs that exist.
    @Test func pageUsesExistingInputs() throws {
        let script = """
            import re, sys, yaml
            root = sys.argv[1]
            page = open(root + "/docs/ci.md").read()
            blocks = dict(re.findall(r"```yaml title=(\\S+)\\n(.*?)```", page, re.S))
            workflow = yaml.safe_load(blocks[".github/workflows/media.yml"])
            used, steps = set(), [step for job in workflow["jobs"].values() for step in job["steps"]]
            for step in steps:
                found = re.fullmatch(r"OWNER/tandem/(actions/\\w+)@v[0-9.]+", step["uses"])
                if not found:
                    continue
                action = yaml.safe_load(open(root + "/" + found[1] + "/action.yml"))
                used.add(found[1])
                assert set(step["with"]) <= set(action["inputs"]), step
                for name, input in action["inputs"].items():
                    assert not input.get("required") or name in step["with"], (step, name)
            assert used == {"actions/setup", "actions/run"}, used
            run = yaml.safe_load(open(root + "/actions/run/action.yml"))
            for name in re.findall(r"steps\\.base\\.outputs\\.(\\w+)", page):
                assert name in run["outputs"], name
            jobs = yaml.safe_load(open(root + "/actions/gitlab/tandem.gitlab-ci.yml"))
            pipeline = yaml.safe_load(blocks[".gitlab-ci.yml"])
            for name in ["plan", "run"]:
                assert pipeline[name]["extends"] in jobs
            hooks = yaml.safe_load(open(root + "/.pre-commit-hooks.yaml"))
            config = yaml.safe_load(blocks[".pre-commit-config.yaml"])
            assert config["repos"][0]["hooks"][0]["id"] in [hook["id"] for hook in hooks]
            """
        let result = try program("python3", ["-c", script, TestPaths.repository])
        #expect(result.status == 0, "\(result.errors)")
    }

    /// The commands of GitLab's jobs, without the installation.
    @Test func jobsOfGitLabRun() throws {
        let step = try Step()
        let commands = """
            import sys, yaml
            jobs = yaml.safe_load(open(sys.argv[1]))
            print("\\n".join(["set -e"] + jobs[sys.argv[2]]["script"]))
            """
        for (name, files) in [
            (".tandem-plan", ["plan.md", "plan.json"]), (".tandem-run", ["junit.xml", "report.html"]),
        ] {
            let script = try program(
                "python3", ["-c", commands, Self.actions + "/gitlab/tandem.gitlab-ci.yml", name])
            #expect(script.status == 0, "\(script.errors)")
            try step.scratch.write(script.text, to: "job.sh")
            let result = try program(
                "bash", ["job.sh"], directory: step.scratch.path,
                environment: step.environment.merging(["GITHUB_ACTIONS": "", "TANDEM_FILES": "jobs.yaml"]) {
                    $1
                })
            #expect(result.status == 0, "\(result.errors)")
            for file in files { #expect(step.scratch.contents.contains(file), "\(file)") }
        }
    }
}
