import Diagnostics
import Foundation
import JobPlan
import JobSpec
import TestSupport
import Testing
import YAMLDocument

/// Tests attacks that revealed no fault: numbers at the limits of the language, other files in place of the state,
/// stopped processes, and folders with very many names.
@Suite struct HostileEnvironmentTests {
    private static let asset = "{ pattern: smpte, size: 64x48, duration: 1s, tone: 440Hz }"
    private static let encoded = "tracks: [ { video: first, encode: { codec: ffv1 } } ]"

    /// Bodies of jobs, each with a given time in a different key.
    private static let jobs: [@Sendable (String) -> String] = [
        { "asset: \(asset), range: { start: \($0) }, \(encoded)" },
        { "asset: \(asset), range: { start: 0, end: \($0) }, \(encoded)" },
        { "asset: \(asset), range: { duration: \($0) }, \(encoded)" },
        { "asset: \(asset), range: { start: -\($0) }, \(encoded)" },
        { "asset: \(asset), chapters: [ { start: \($0), title: x } ], \(encoded)" },
        { "asset: \(asset), limit: { duration: \($0) }, \(encoded)" },
        { "asset: \(asset), timeout: \($0), \(encoded)" },
        { "asset: \(asset), expect: { duration: { is: 1s, within: \($0) } }, \(encoded)" },
        { "asset: \(asset), expect: { duration: \($0) }, \(encoded)" },
        {
            "asset: \(asset), tracks: [ { video: first, encode: { codec: h264, keyframe_interval: \($0) } } ]"
        },
        { "asset: { pattern: smpte, size: 64x48, duration: \($0) }, \(encoded)" },
        { "asset: { image: ./a.png, duration: \($0), frame_rate: 25 }, \(encoded)" },
        { "composition: { sequence: [ { asset: \(asset) }, { gap: \($0) } ] }, \(encoded)" },
        {
            "composition: { sequence: [ { asset: \(asset) }, { join: dissolve, overlap: \($0) }, { asset: \(asset) } ] }, \(encoded)"
        },
        {
            "composition: { sequence: [ { asset: \(asset) } ], layers: [ { text: x, at: \($0), duration: \($0) } ] }, \(encoded)"
        },
        {
            "composition: { sequence: [ { asset: \(asset), volume: [ { at: \($0), value: 1 } ] } ] }, \(encoded)"
        },
        {
            "composition: { sequence: [ { asset: \(asset) } ], audio: [ { asset: \(asset), at: \($0), loop: true, fade_out: \($0) } ] }, \(encoded)"
        },
    ]

    /// Tests that an enormous time is an error at its line or has no effect, and that planning terminates.
    @Test(arguments: jobs.indices) func enormousTimesAreErrorsOrHaveNoEffect(_ index: Int) throws {
        let scratch = try Scratch()
        for time in [
            "4611686018427387904s", "4611686018427387903s", "9223372036854775807s", "9223372036854775808s",
            "4611686018427387904f", "4611686018427387904ms", "4611686018427387904:00:00",
            "4611686018427387904%", "0.4611686018427387904s", "1e62",
        ] {
            let text =
                "version: 1\njobs:\n  it: { \(Self.jobs[index](time)), destination: o.mkv }\n"
            let (file, sink) = decode(text, directory: scratch.path)
            #expect(sink.diagnostics.allSatisfy { $0.range.line == 3 }, "\(sink.diagnostics)")
            guard let file, !sink.hasErrors else { continue }
            let result = BatchPlanner.plan([file])
            #expect(result.diagnostics.diagnostics.allSatisfy { $0.range.line == 3 }, "\(time)")
        }
    }

    @Test(arguments: ["at: [ TIME ]", "every: TIME", "at: [ 0s ], tolerance: { before: TIME, after: TIME }"])
    func enormousTimesOfImagesCauseNoTrap(_ images: String) throws {
        let scratch = try Scratch()
        for time in ["4611686018427387904s", "9223372036854775807s", "4611686018427387904f"] {
            let text =
                "version: 1\njobs:\n  it: { asset: \(Self.asset), images: { \(images.replacing("TIME", with: time)) }, destination: \"o-${image.number}.png\" }\n"
            let (file, sink) = decode(text, directory: scratch.path)
            #expect(sink.diagnostics.allSatisfy { $0.range.line == 3 }, "\(sink.diagnostics)")
            if let file, !sink.hasErrors { _ = BatchPlanner.plan([file]) }
        }
    }

    /// Tests that an output has at most 9,999 images; a job with more is an error at its line.
    @Test func numberOfImagesIsLimited() throws {
        let scratch = try Scratch()
        func plan(_ images: String) throws -> BatchPlanner.Result {
            let text =
                "version: 1\njobs:\n  it:\n    asset: { pattern: smpte, size: 64x48, duration: 5000s }\n    images:\n      \(images)\n    destination: \"o-${image.number}.png\"\n"
            let (file, sink) = decode(text, directory: scratch.path)
            #expect(!sink.hasErrors, "\(sink.diagnostics)")
            return BatchPlanner.plan([try #require(file)])
        }
        let most = try plan("every: 500.1ms")
        #expect(most.plan.jobs.first?.outputs.first?.images?.stills.count == 9999, "\(most.diagnostics)")
        for images in ["every: 1ms", "every: 500ms"] {
            let diagnostics = try plan(images).diagnostics.diagnostics
            #expect(diagnostics.count == 1 && diagnostics.first?.range.line == 6, "\(diagnostics)")
            #expect(
                diagnostics.first?.message.contains("more than 9999 still images") == true, "\(diagnostics)")
        }
    }

    /// Tests that job files that expand to large plans are planned within limited memory.
    @Test(arguments: [
        (
            "instances", 500,
            "    asset: ./a.mp4\n    tracks: [ { video: first, encode: { codec: h264 } } ]\n    destination: \"o/${matrix.k}.mp4\"\n"
        ),
        (
            "instances of 1,000 clips", 3,
            "    composition: { sequence: [\([String](repeating: "./a.mp4", count: 1000).joined(separator: ", "))] }\n    tracks: [ { video: first, encode: { codec: h264 } } ]\n    destination: \"o/${matrix.k}.mp4\"\n"
        ),
        (
            "instances of 999 stills", 10,
            "    asset: { pattern: smpte, size: 64x48, duration: 100s }\n    images: { count: 999 }\n    destination: \"o/${matrix.k}/${image.number}.png\"\n"
        ),
    ]) func planningUsesLimitedMemory(_ kind: String, _ count: Int, _ body: String) throws {
        let scratch = try folderWithSource()
        let values = (1...count).map(String.init).joined(separator: ", ")
        try scratch.write(
            "version: 1\njobs:\n  j:\n    matrix: { k: [\(values)] }\n" + body, to: "jobs.yaml")
        // `ulimit -d` limits data and heap; a limit on the address space isn't suitable, because the program maps more.
        let result = try program(
            "/bin/bash",
            ["-c", "ulimit -d 600000; exec \"$0\" plan --out plan.json jobs.yaml", TestPaths.tandem],
            directory: scratch.path)
        #expect(result.status == 0, "\(count) \(kind): \(result.status) \(result.errors.prefix(500))")
        let plan = try String(contentsOfFile: scratch.file("plan.json"), encoding: .utf8)
        #expect(plan.contains("j[k=\(count)]"), "\(kind)")
    }

    // MARK: Files instead of the state

    private enum Planted: String, CaseIterable {
        case linkToFolder, linkToFile, danglingLink, file, pipe, foreignState, unreadable
    }

    /// Tests other files in place of the state folder: the run either refuses to start or uses the folder, and changes
    /// nothing outside of it.
    @Test(arguments: Planted.allCases.map(\.rawValue)) func plantedStateFoldersAreRefusedOrUsed(
        _ kind: String
    ) throws {
        let (scratch, outside) = (try folderWithSource(), try Scratch())
        try scratch.write(jobFile(video: "codec: ffv1"), to: "jobs.yaml")
        try outside.write("precious", to: "precious")
        let folder = scratch.file(".tandem")
        switch try #require(Planted(rawValue: kind)) {
        case .linkToFolder: #expect(symlink(outside.path, folder) == 0)
        case .linkToFile: #expect(symlink(outside.file("precious"), folder) == 0)
        case .danglingLink: #expect(symlink(outside.file("nothing"), folder) == 0)
        case .file: try scratch.write("precious", to: ".tandem")
        case .pipe: #expect(mkfifo(folder, 0o600) == 0)
        case .foreignState:
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let create = try program(
                "python3",
                [
                    "-c",
                    "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute('create table jobs(x)'); c.execute('insert into jobs values(1)'); c.commit()",
                    folder + "/state.sqlite",
                ])
            #expect(create.status == 0)
        case .unreadable:
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data([0xff, 0, 1]).write(to: URL(filePath: folder + "/owner"))
        }
        let result = try program(
            "timeout", ["30", TestPaths.tandem, "run", "jobs.yaml"], directory: scratch.path,
            environment: ["SWIFT_BACKTRACE": "enable=no"])
        #expect([0, 4].contains(result.status), "\(kind): \(result.status) \(result.errors)")
        #expect(result.status == 0 || result.errors.contains(".tandem"), "\(kind): \(result.errors)")
        #expect(scratch.contents.contains("out.mkv") == (result.status == 0))
        #expect(try String(contentsOfFile: outside.file("precious"), encoding: .utf8) == "precious")
        #expect(outside.contents == ["precious"], "\(kind): \(outside.contents)")
    }

    // MARK: Stopped processes

    /// Tests that a job succeeds after the supervisor and its workers were stopped and continued.
    @Test func stoppedProcessesContinue() throws {
        let scratch = try folderWithSource()
        try scratch.write(jobFile(video: "codec: ffv1", more: "    timeout: 60"), to: "jobs.yaml")
        let script = """
            "$0" run jobs.yaml 2>log & pid=$!
            \(untilOutputsAreOpen(in: ""))
            workers=$(pgrep -P $pid)
            kill -STOP $workers; sleep 1; kill -CONT $workers
            kill -STOP $pid; sleep 1; kill -CONT $pid
            kill -STOP $workers $pid; sleep 1; kill -CONT $pid $workers
            wait $pid; echo $?
            """
        let result = try program(
            "timeout", ["60", "/bin/bash", "-c", script, TestPaths.tandem], directory: scratch.path,
            environment: ["TANDEM_WORKER_FAULTS": "one:delayAfterOutput"])
        let log = try String(contentsOfFile: scratch.file("log"), encoding: .utf8)
        #expect(result.text == "0\n" && log.contains("1 of 1 jobs done"), "\(result.text) \(log)")
    }

    // MARK: Read errors

    /// Tests that a read error is reported as such: not as damage, which `on_damage: skip` would skip, nor as another
    /// format or the end of the data. strace injects the error: LD_PRELOAD has no effect, because workers start with an
    /// empty environment.
    @Test(arguments: ["mp4", "ts"]) func readErrorsAreReportedAsSuch(_ container: String) throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25:duration=2", "-f", "lavfi", "-i", "sine=d=2",
            "-c:v", "libx264", "-preset", "ultrafast", "-b:v", "2M", "-c:a", "aac",
            scratch.file("s.\(container)"))
        try scratch.write(
            "version: 1\njobs:\n  it: { asset: ./s.\(container), on_damage: skip, tracks: [ { video: first, copy: true }, { audio: first, copy: true } ], destination: { path: o.mkv, if_exists: replace } }\n",
            to: "jobs.yaml")
        var injected = 0
        for number in [1, 2, 3, 4, 5, 7] {
            try? FileManager.default.removeItem(atPath: scratch.file(".tandem"))
            let result = try program(
                "strace",
                [
                    "-f", "-qq", "-o", scratch.file("trace"), "-P", scratch.file("s.\(container)"), "-e",
                    "trace=pread64", "-e", "inject=pread64:error=EIO:when=\(number)", TestPaths.tandem, "run",
                    "--force", "jobs.yaml",
                ], directory: scratch.path)
            let trace = try String(contentsOfFile: scratch.file("trace"), encoding: .utf8)
            guard trace.contains("INJECTED") else { continue }
            injected += 1
            #expect(result.status == 1, "\(number): \(result.errors)")
            #expect(result.errors.contains("Input/output error"), "\(number): \(result.errors)")
        }
        #expect(injected >= 4)
    }

    // MARK: Folders with many names

    /// Tests that a pattern finds the only match among many names, and that a pattern without a match is reported.
    @Test func patternsWorkOnManyNames() throws {
        let scratch = try folderWithSource()
        let names = try program(
            "python3",
            [
                "-c",
                "import os,sys\nos.mkdir('d')\nfor n in range(40000): os.close(os.open('d/%d.txt' % n, os.O_CREAT | os.O_WRONLY))",
            ], directory: scratch.path)
        #expect(names.status == 0)
        try FileManager.default.copyItem(atPath: scratch.file("a.mp4"), toPath: scratch.file("d/x.mp4"))
        for (pattern, status) in [
            ("d/*.mp4", 0), ("**/x*.mp4", 0), ("d/*1*2*3*4*.mp4", 3), ("d/*.mkv", 3),
        ] as [(String, Int32)] {
            try scratch.write(
                "version: 1\njobs: { one: { asset: { path: \(quoted(pattern)) }, tracks: [ { video: first, copy: true } ], destination: 'o/${asset.stem}.mp4' } }\n",
                to: "jobs.yaml")
            let result = try program(
                "timeout", ["30", TestPaths.tandem, "plan", "jobs.yaml"], directory: scratch.path)
            #expect(result.status == status, "\(pattern): \(result.status) \(result.errors.prefix(300))")
        }
    }
}
