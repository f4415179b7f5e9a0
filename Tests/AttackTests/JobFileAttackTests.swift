import Foundation
import TestSupport
import Testing

/// Tests access to files, environment variables and the network by untrusted job files.
@Suite struct JobFileAttackTests {
    /// Creates a folder that contains a secret, and a working folder.
    private func foldersWithSecret() throws -> (outside: Scratch, inside: Scratch) {
        let (outside, inside) = (try Scratch(), try folderWithSource())
        try outside.write("password: hunter2\n  - [broken\n", to: "secret.yaml")
        return (outside, inside)
    }

    private static let commands = [["validate"], ["plan"], ["run"], ["clean"], ["explain"], ["accept"]]

    /// Tests that includes, sources and destinations outside of the root are neither read, printed nor written, whether
    /// given by path, by `..` or by link.
    @Test(arguments: ["--untrusted", "--root=."]) func pathsOutsideTheRootAreNeitherReadNorWritten(
        _ flag: String
    ) throws {
        let (outside, inside) = try foldersWithSecret()
        let secret = outside.file("secret.yaml")
        try FileManager.default.createSymbolicLink(
            atPath: inside.file("link.yaml"), withDestinationPath: secret)
        try FileManager.default.createSymbolicLink(
            atPath: inside.file("folder"), withDestinationPath: outside.path)
        let up = "../" + (outside.path as NSString).lastPathComponent + "/secret.yaml"
        for path in [secret, up, "link.yaml", "folder/secret.yaml", "/etc/passwd"] {
            try inside.write(
                "version: 1\ninclude: [\(quoted(path))]\njobs: { one: { asset: ./a.mp4, tracks: [ { video: first, copy: true } ], destination: o.mp4 } }\n",
                to: "jobs.yaml")
            for command in Self.commands {
                let result = try tandem(
                    command + [flag, "jobs.yaml"]
                        + ([["explain"], ["accept"]].contains(command) ? ["one"] : []), in: inside)
                #expect(result.status == 3, "\(command) \(path): \(result.status) \(result.errors)")
                let printed = result.errors + result.text
                #expect(
                    !printed.contains("hunter2") && !printed.contains("root:x"),
                    "\(command) \(path): \(printed)")
                #expect(printed.contains("jobs.yaml:2:"), "\(printed)")
            }
        }
        try FileManager.default.copyItem(atPath: inside.file("a.mp4"), toPath: outside.file("b.mp4"))
        for (asset, destination) in [
            (outside.file("b.mp4"), "o.mp4"), ("folder/b.mp4", "o.mp4"), ("./a.mp4", outside.file("o.mp4")),
            ("./a.mp4", "folder/o.mp4"), ("./a.mp4", "../o.mp4"),
        ] {
            try inside.write(
                "version: 1\njobs: { one: { asset: \(quoted(asset)), tracks: [ { video: first, copy: true } ], destination: \(quoted(destination)) } }\n",
                to: "jobs.yaml")
            let result = try tandem("run", flag, "jobs.yaml", in: inside)
            #expect(result.status != 0, "\(asset) \(destination): \(result.errors)")
            #expect(outside.contents == ["b.mp4", "secret.yaml"])
        }
    }

    /// Tests that a job file that is a link to a file outside of the root isn't printed.
    @Test func linkedJobFilesAreNotPrinted() throws {
        let (outside, inside) = try foldersWithSecret()
        try FileManager.default.createSymbolicLink(
            atPath: inside.file("jobs.yaml"), withDestinationPath: outside.file("secret.yaml"))
        for command in ["validate", "plan", "run"] {
            let result = try tandem(command, "--untrusted", "jobs.yaml", in: inside)
            #expect(
                result.status == 3 && !(result.errors + result.text).contains("hunter2"), "\(result.errors)")
        }
    }

    /// Tests that environment variables, which contain secrets in CI, aren't available to untrusted job files.
    @Test func environmentIsUnavailableToUntrustedFiles() throws {
        let inside = try folderWithSource()
        try inside.write(
            "version: 1\njobs: { one: { asset: ./a.mp4, tracks: [ { video: first, copy: true } ], metadata: { set: { title: \"${env.TOKEN}\" } }, destination: o.mp4 } }\n",
            to: "jobs.yaml")
        let secret = ["TOKEN": "hunter2"]
        for command in ["validate", "plan", "run"] {
            let result = try tandem(command, "--untrusted", "jobs.yaml", in: inside, environment: secret)
            #expect(result.status == 3 && !(result.errors + result.text).contains("hunter2"))
            #expect(result.errors.contains("not available with `--untrusted`"), "\(result.errors)")
        }
        #expect(try tandem("run", "jobs.yaml", in: inside, environment: secret).status == 0)
        // The state contains the expanded values, and is readable by this user only.
        let folder = inside.file(".tandem")
        let modes =
            try [folder] + FileManager.default.contentsOfDirectory(atPath: folder).map { folder + "/" + $0 }
        for path in modes {
            let mode = try #require(
                try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)
            #expect(mode.intValue & 0o077 == 0, "\(path) \(String(mode.intValue, radix: 8))")
        }
    }

    /// Tests that `--untrusted` can't be combined with network access or without a sandbox.
    @Test func untrustedFilesRequireTheSandboxAndNoNetwork() throws {
        let inside = try folderWithSource()
        try inside.write(jobFile(video: "codec: ffv1"), to: "jobs.yaml")
        for more in [["--allow-network"], ["--no-sandbox"], ["--isolation", "none"]] {
            #expect(try tandem(["run", "--untrusted"] + more + ["jobs.yaml"], in: inside).status == 64)
        }
        #expect(try tandem("probe", "--untrusted", "a.mp4", in: inside).status == 0)
        #expect(try tandem("probe", "--root", "/usr", "a.mp4", in: inside).status == 1)
        let run = try tandem("run", "--untrusted", "jobs.yaml", in: inside)
        #expect(run.status == 0, "\(run.errors)")
        // Without `--state` no state is written.
        #expect(!FileManager.default.fileExists(atPath: inside.file(".tandem")))
    }

    /// Tests planted states: a link, a linked database, and a view in place of a table.
    @Test func plantedStatesAreRejected() throws {
        let (outside, inside) = (try Scratch(), try folderWithSource())
        try inside.write(jobFile(video: "codec: ffv1"), to: "jobs.yaml")
        try FileManager.default.createSymbolicLink(
            atPath: inside.file(".tandem"), withDestinationPath: outside.path)
        let linked = try tandem("run", "jobs.yaml", in: inside)
        #expect(
            linked.status == 4 && linked.errors.contains("links are not followed"), "\(linked.errors)")
        #expect(outside.contents == [])
        try FileManager.default.removeItem(atPath: inside.file(".tandem"))
        #expect(try tandem("run", "jobs.yaml", in: inside).status == 0)
        // The database is a link to a file outside of the folder.
        let database = inside.file(".tandem/state.sqlite")
        try FileManager.default.moveItem(atPath: database, toPath: outside.file("db"))
        try FileManager.default.createSymbolicLink(atPath: database, withDestinationPath: outside.file("db"))
        #expect(try tandem("run", "jobs.yaml", in: inside).status == 4)
        try FileManager.default.removeItem(atPath: database)
        try FileManager.default.moveItem(atPath: outside.file("db"), toPath: database)
        // A view that never terminates in place of a table.
        let planted = try program(
            "sqlite3",
            [
                database,
                "DROP TABLE intents; CREATE VIEW intents AS WITH RECURSIVE r(destination, output, digest) AS (SELECT 'a', 'b', 'c' UNION ALL SELECT destination || 'x', output, digest FROM r) SELECT * FROM r",
            ])
        #expect(planted.status == 0, "\(planted.errors)")
        let hung = try program(
            "timeout", ["20", TestPaths.tandem, "run", "jobs.yaml"], directory: inside.path)
        #expect(
            hung.status == 0 && hung.errors.contains("was damaged, and a new one is created"),
            "\(hung.status) \(hung.errors)")
    }

    /// Tests a forged record of a file that Tandem didn't publish.
    @Test func cleanRemovesOnlyMarkedFiles() throws {
        let inside = try folderWithSource()
        try inside.write(jobFile(video: "codec: ffv1", to: "old.mkv"), to: "jobs.yaml")
        #expect(try tandem("run", "jobs.yaml", in: inside).status == 0)
        try inside.write("mine", to: "victim")
        // The record contains the file's current fingerprint.
        let database = inside.file(".tandem/state.sqlite")
        let old = inside.file("old.mkv")
        func output(_ path: String) throws -> String {
            try program("stat", ["-c", "%s %y", path]).text
        }
        _ = try output(old)
        let forged = try program(
            "sqlite3",
            [
                database,
                "UPDATE jobs SET destination = '\(inside.file("victim"))', output = (SELECT '\(try fingerprint(inside.file("victim")))')",
            ])
        #expect(forged.status == 0, "\(forged.errors)")
        try inside.write(jobFile(video: "codec: ffv1", to: "new.mkv"), to: "jobs.yaml")
        _ = try tandem("clean", "--yes", "jobs.yaml", in: inside)
        #expect(FileManager.default.fileExists(atPath: inside.file("victim")))
        // Published outputs are removed.
        #expect(try tandem("run", "jobs.yaml", in: inside).status == 0)
        try inside.write(jobFile(video: "codec: ffv1", to: "newer.mkv"), to: "jobs.yaml")
        _ = try tandem("clean", "--yes", "jobs.yaml", in: inside)
        #expect(!FileManager.default.fileExists(atPath: inside.file("new.mkv")))
    }

    /// Tests two job files with the same destination in separate runs.
    @Test func outputsOfOtherJobFilesAreNotReplaced() throws {
        let inside = try folderWithSource()
        try inside.write(jobFile(video: "codec: ffv1", to: "out.mkv"), to: "one.yaml")
        try inside.write(jobFile(video: "codec: mjpeg", to: "out.mkv"), to: "two.yaml")
        #expect(try tandem("run", "one.yaml", in: inside).status == 0)
        let before = try Data(contentsOf: URL(filePath: inside.file("out.mkv")))
        for command in ["plan", "run"] {
            let result = try tandem(command, "two.yaml", in: inside)
            #expect(result.status == (command == "plan" ? 3 : 1))
            #expect(result.errors.contains("was published for another job file"), "\(result.errors)")
        }
        #expect(try Data(contentsOf: URL(filePath: inside.file("out.mkv"))) == before)
        #expect(try tandem("run", "one.yaml", in: inside).errors.contains("up to date"))
        try inside.write(
            jobFile(video: "codec: mjpeg", to: "{ path: out.mkv, if_exists: replace }"), to: "two.yaml")
        #expect(try tandem("run", "two.yaml", in: inside).status == 0)
    }

    /// Tests that reports and plans don't overwrite other files. Links and modes are kept, and devices are written to.
    @Test func reportsDontReplaceOtherFiles() throws {
        let inside = try folderWithSource()
        try inside.write(jobFile(video: "codec: ffv1"), to: "jobs.yaml")
        func all(_ path: String) -> [[String]] {
            [
                ["plan", "--out", path, "jobs.yaml"], ["run", "--force", "--junit", path, "jobs.yaml"],
                ["run", "--force", "--events", path, "jobs.yaml"],
                ["run", "--force", "--report", path, "jobs.yaml"],
            ]
        }
        try inside.write("mine", to: "mine.json")
        for words in all("mine.json") {
            let result = try tandem(words, in: inside)
            #expect(
                result.status == 4 && result.errors.contains("it is not overwritten"),
                "\(words): \(result.errors)")
            #expect(try String(contentsOfFile: inside.file("mine.json"), encoding: .utf8) == "mine")
        }
        // An existing report, written through a link and with a mode.
        #expect(try tandem("run", "--report", "r.json", "jobs.yaml", in: inside).status == 0)
        #expect(chmod(inside.file("r.json"), 0o640) == 0)
        try FileManager.default.createSymbolicLink(
            atPath: inside.file("link.json"), withDestinationPath: "r.json")
        #expect(try tandem("run", "--report", "link.json", "jobs.yaml", in: inside).status == 0)
        let attributes = try FileManager.default.attributesOfItem(atPath: inside.file("r.json"))
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o640)
        let link = try FileManager.default.attributesOfItem(atPath: inside.file("link.json"))
        #expect(link[.type] as? FileAttributeType == .typeSymbolicLink)
        // A pipe without a reader, and a device that is full.
        #expect(mkfifo(inside.file("pipe.json"), 0o600) == 0)
        #expect(mkfifo(inside.file("pipe"), 0o600) == 0)
        for words in all("pipe.json") + all("pipe").prefix(3) {
            let result = try program("timeout", ["30", TestPaths.tandem] + words, directory: inside.path)
            #expect(result.status == 4, "\(words): \(result.status) \(result.errors)")
        }
        #expect(try tandem("plan", "--out", "/dev/full", "jobs.yaml", in: inside).status == 4)
        var status = stat()
        #expect(stat("/dev/full", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
        let read = try program(
            "/bin/bash",
            ["-c", "cat pipe & \"$0\" plan --out pipe jobs.yaml >/dev/null; wait", TestPaths.tandem],
            directory: inside.path)
        #expect(read.text.contains("tandem-plan"), "\(read.errors)")
    }

    @Test func devicesAreNotReplaced() throws {
        let inside = try folderWithSource()
        try FileManager.default.createSymbolicLink(
            atPath: inside.file("o.mkv"), withDestinationPath: "/dev/null")
        try inside.write(
            jobFile(video: "codec: ffv1", to: "{ path: o.mkv, if_exists: replace }"), to: "jobs.yaml")
        let result = try tandem("run", "jobs.yaml", in: inside)
        #expect(result.status == 1 && result.errors.contains("not a regular file"), "\(result.errors)")
        let link = try FileManager.default.attributesOfItem(atPath: inside.file("o.mkv"))
        #expect(link[.type] as? FileAttributeType == .typeSymbolicLink)
    }

    /// Tests names that Swift and the system compare differently: a slash followed by a combining mark, and `é` as one
    /// scalar and as two.
    @Test func pathsAreComparedAsBytes() throws {
        let scratch = try folderWithSource()
        let source = scratch.file("a.mp4")
        for folder in ["réé/root/in", "uni/\u{e9}", "uni/e\u{301}", "box/root"] {
            try scratch.write("x", to: folder + "/x")
        }
        // A root with non-ASCII characters, and another file at the path that a wrong byte count would yield.
        try FileManager.default.copyItem(atPath: source, toPath: scratch.file("réé/root/in/s.mp4"))
        try scratch.write("not media", to: "réé/root/s.mp4")
        try scratch.write(
            "version: 1\njobs: { one: { asset: in/s.mp4, tracks: [ { video: first, copy: true } ], destination: out/o.mp4 } }\n",
            to: "réé/root/j.yaml")
        let own = try tandem("run", "--untrusted", "réé/root/j.yaml", in: scratch)
        #expect(own.status == 0, "\(own.errors)")
        #expect(FileManager.default.fileExists(atPath: scratch.file("réé/root/out/o.mp4")))
        // A sibling folder whose name differs only in normalization.
        try scratch.write("secret: hunter2\n - [", to: "uni/e\u{301}/sec.yaml")
        try scratch.write(
            "version: 1\ninclude: [\"../e\\u0301/sec.yaml\"]\njobs: { one: { asset: ./s.mp4, tracks: [ { video: first, copy: true } ], destination: o.mp4 } }\n",
            to: "uni/\u{e9}/j.yaml")
        let seen = try tandem("validate", "--untrusted", "uni/\u{e9}/j.yaml", in: scratch)
        #expect(seen.status == 3 && !seen.errors.contains("hunter2"), "\(seen.errors)")
        // Folders that the run creates for its output.
        try FileManager.default.copyItem(atPath: source, toPath: scratch.file("box/root/s.mp4"))
        try scratch.write(
            "version: 1\njobs: { one: { asset: ./s.mp4, tracks: [ { video: first, copy: true } ], destination: \"q/../../\\u0301z/o.mp4\" } }\n",
            to: "box/root/j.yaml")
        _ = try tandem("run", "--untrusted", "box/root/j.yaml", in: scratch)
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.file("box"))
        #expect(names == ["root"], "\(names)")
    }

    /// Tests planted links at the paths of reports, and among the folders of the job file's path.
    @Test func plantedLinksAreNotFollowed() throws {
        let (outside, inside) = try foldersWithSecret()
        try inside.write(jobFile(video: "codec: ffv1"), to: "jobs.yaml")
        try outside.write("", to: "empty")
        for (name, target) in [("e.json", outside.file("profile")), ("f.json", outside.file("empty"))] {
            try FileManager.default.createSymbolicLink(atPath: inside.file(name), withDestinationPath: target)
            for words in [["--events", name], ["--report", name], ["--junit", name]] {
                let result = try tandem(["run", "--force"] + words + ["jobs.yaml"], in: inside)
                #expect(result.status == 4, "\(words): \(result.errors)")
            }
        }
        #expect(outside.contents == ["empty", "secret.yaml"])
        #expect(try Data(contentsOf: URL(filePath: outside.file("empty"))).isEmpty)
        // Without `--root`, the job file's folder becomes the root.
        try FileManager.default.createSymbolicLink(
            atPath: inside.file("jobs"), withDestinationPath: outside.path)
        let linked = try tandem("validate", "--untrusted", "jobs/secret.yaml", in: inside)
        #expect(
            linked.status == 64 && !linked.errors.contains("hunter2"), "\(linked.status) \(linked.errors)")
        #expect(
            try tandem("validate", "--untrusted", "--root", ".", "jobs/secret.yaml", in: inside).status == 3)
    }

    /// Tests that patterns match nothing outside of the root.
    @Test(arguments: [
        "/etc/ss*/*", "/root/.*", "../*/*.yaml", "folder/**/*.yaml", "folder/*.yaml", "/**/*/**/*/**/*.mp4",
    ])
    func patternsStayBeneathTheRoot(_ pattern: String) throws {
        let (outside, inside) = try foldersWithSecret()
        try FileManager.default.createSymbolicLink(
            atPath: inside.file("folder"), withDestinationPath: outside.path)
        try inside.write(
            "version: 1\njobs: { one: { asset: { path: \(quoted(pattern)) }, tracks: [ { video: first, copy: true } ], destination: 'o/${asset.stem}.mp4' } }\n",
            to: "jobs.yaml")
        let result = try program(
            "timeout", ["20", TestPaths.tandem, "plan", "--untrusted", "jobs.yaml"], directory: inside.path)
        #expect(result.status == 3, "\(result.status)")
        for name in ["secret", "ssh_config", "bashrc", "openssl"] { #expect(!result.errors.contains(name)) }
    }

    /// Tests state folders with pipes, hard links or other kinds of files in place of their files.
    @Test func stateFoldersContainOnlyRegularFiles() throws {
        for name in ["owner", "lock", "state.sqlite"] {
            let inside = try folderWithSource()
            try inside.write(jobFile(video: "codec: ffv1"), to: "jobs.yaml")
            try inside.write("precious", to: "precious")
            try FileManager.default.createDirectory(
                atPath: inside.file(".tandem"), withIntermediateDirectories: true)
            #expect(mkfifo(inside.file(".tandem/" + name), 0o600) == 0)
            let pipe = try program(
                "timeout", ["20", TestPaths.tandem, "run", "jobs.yaml"], directory: inside.path)
            #expect(pipe.status == 4, "\(name): \(pipe.status) \(pipe.errors)")
            unlink(inside.file(".tandem/" + name))
            #expect(link(inside.file("precious"), inside.file(".tandem/" + name)) == 0)
            #expect(try tandem("run", "jobs.yaml", in: inside).status == 4)
            #expect(try String(contentsOfFile: inside.file("precious"), encoding: .utf8) == "precious")
        }
    }

    /// Tests that 20,000 errors in two megabytes are reported within limited processor time.
    @Test func manyErrorsAreReportedQuickly() throws {
        let inside = try folderWithSource()
        var text = "version: 1\njobs:\n"
        for index in 0..<20_000 {
            text +=
                "  j\(index): { aset: ./a.mp4, trakcs: [ { vidoe: first, encode: { codek: h246, cfr: 23 } } ], destinatoin: o\(index).mp4 }\n"
        }
        try inside.write(text, to: "jobs.yaml")
        let result = try program(
            "/usr/bin/env",
            [
                "bash", "-c", "ulimit -t 30; \"$0\" validate jobs.yaml >/dev/null 2>errors; echo $?",
                TestPaths.tandem,
            ],
            directory: inside.path)
        #expect(result.text == "3\n", "\(result.text)")
    }
}
