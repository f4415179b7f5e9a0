import Foundation
import TestSupport
import Testing

/// Tests `tandem run --cache`: fresh checkouts, damaged and hostile entries, several runs at once, a full disk.
@Suite struct CacheTests {
    private let cache: Scratch

    init() throws { cache = try Scratch() }

    /// A folder with `a.mp4`, whose bytes are the same in each folder, and a job file.
    private func checkout(_ jobs: String, of source: Scratch) throws -> Scratch {
        let scratch = try Scratch()
        let bytes = try Data(contentsOf: URL(filePath: source.file("a.mp4")))
        try bytes.write(to: URL(filePath: scratch.file("a.mp4")))
        try write(jobs, in: scratch)
        return scratch
    }

    @discardableResult
    private func run(_ scratch: Scratch, _ arguments: String...) throws -> ProgramResult {
        try program(
            TestPaths.tandem, ["run", "jobs.yaml", "--cache", cache.path] + arguments,
            directory: scratch.path,
            environment: ["SWIFT_BACKTRACE": "enable=no"])
    }

    private func bytes(_ name: String, _ scratch: Scratch) throws -> Data {
        try Data(contentsOf: URL(filePath: scratch.file(name)))
    }

    private var entries: [String] {
        cache.contents.filter { $0.split(separator: "/").count == 3 }.map { cache.file($0) }
    }

    private let encode = job("web", asset: "./a.mp4", to: "out/web.mp4")

    /// Sources are identified by content, so that a checkout at another path with other times finds the outputs.
    @Test func freshCheckout_takesTheOutputs() throws {
        let source = try folderWithSource()
        let first = try checkout(encode, of: source)
        #expect(try run(first).status == 0)
        let second = try checkout(encode, of: source)
        let result = try run(
            second, "--report", "report.json", "--report", "report.html", "--events", "events")
        #expect(result.status == 0 && result.errors.contains(", from the cache)"), "\(result.errors)")
        #expect(result.errors.hasSuffix("1 of 1 jobs done, 1 from the cache\n"))
        #expect(try bytes("out/web.mp4", first) == bytes("out/web.mp4", second))
        #expect(try FFmpegFile(second.file("out/web.mp4")).decodeErrors() == "")
        for (name, text) in [
            ("report.json", "\"cached\" : true"), ("events", "\"cached\":true"),
            ("report.html", "from the cache"),
        ] {
            let whole = String(decoding: try bytes(name, second), as: UTF8.self)
            #expect(whole.contains(text), "\(name): \(whole.prefix(2000))")
        }
        // The state doesn't depend on the cache.
        try FileManager.default.removeItem(atPath: cache.path)
        let third = try tandem("run", "jobs.yaml", in: second)
        #expect(third.errors == "1 of 1 jobs done, 1 of them up to date\n", "\(third.errors)")
    }

    @Test func changedSource_isEncodedAgain() throws {
        let source = try folderWithSource()
        try run(try checkout(encode, of: source))
        let other = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc=size=128x96:rate=25:duration=1", "-c:v", "libx264",
            other.file("a.mp4"))
        let result = try run(try checkout(encode, of: other))
        #expect(result.status == 0 && !result.errors.contains("cache"), "\(result.errors)")
        #expect(entries.count == 2)
    }

    /// The entry of another output, with its key and digests forged, passes all checks of the cache itself.
    @Test func forgedEntry_isReplaced() throws {
        let source = try folderWithSource()
        let other = job(
            "other", asset: "./a.mp4", video: "codec: h264, preset: ultrafast, size: 64x48",
            to: "out/other.mp4")
        let first = try checkout(other, of: source)
        try run(first)
        let foreign = try #require(entries.first)
        try run(try checkout(encode, of: source))
        let own = try #require(entries.first { $0 != foreign })
        let key = { (path: String) in String(path.split(separator: "/").last ?? "") }
        var forged = try Data(contentsOf: URL(filePath: foreign))
        let end = try #require(forged.firstIndex(of: 0x0a))
        let words = String(decoding: forged[..<end], as: UTF8.self).split(separator: " ")
        let length = try #require(Int(words[2]))
        let header = String(decoding: forged[(end + 1)..<(end + 1 + length)], as: UTF8.self)
            .replacing(key(foreign), with: key(own))
        try Data(header.utf8).write(to: URL(filePath: cache.file("header")))
        let digest = try program("sha256sum", [cache.file("header")]).text.prefix(64)
        forged.replaceSubrange(
            ..<(end + 1 + length), with: "tandem-cache 1 \(length) \(digest)\n\(header)".utf8)
        try forged.write(to: URL(filePath: own))
        let scratch = try checkout(encode, of: source)
        let result = try run(scratch)
        #expect(result.status == 0 && !result.errors.contains("from the cache"), "\(result.errors)")
        #expect(
            result.errors.hasSuffix(
                "warning: 1 entry of the cache \(cache.path) couldn't be used: damaged, or not what the plan describes\n"
            ))
        #expect(try FFmpegFile(scratch.file("out/web.mp4")).stream("v:0", "width")["width"] as? Int == 128)
        // The run has replaced the entry.
        let last = try run(try checkout(encode, of: source))
        #expect(last.errors.hasSuffix("1 of 1 jobs done, 1 from the cache\n"), "\(last.errors)")
    }

    @Test func readMode_leavesTheCacheUnchanged() throws {
        let source = try folderWithSource()
        let result = try run(try checkout(encode, of: source), "--cache-mode", "read")
        #expect(result.status == 0 && entries.isEmpty)
        try run(try checkout(encode, of: source))
        let second = try run(try checkout(encode, of: source), "--cache-mode", "read")
        #expect(second.errors.hasSuffix("1 of 1 jobs done, 1 from the cache\n"), "\(second.errors)")
    }

    @Test func severalRunsAtOnce_shareTheCache() async throws {
        let source = try folderWithSource()
        let jobs = (0..<6).map {
            job("j\($0)", asset: "./a.mp4", video: "codec: h264, preset: ultrafast, crf: \(20 + $0)")
        }
        .joined()
        let folders = try (0..<4).map { _ in try checkout(jobs, of: source) }
        let results = try await withThrowingTaskGroup(of: ProgramResult.self) { group in
            for folder in folders { group.addTask { try run(folder) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for result in results {
            #expect(result.status == 0 && !result.errors.contains("warning"), "\(result.errors)")
        }
        #expect(entries.count == 6)
        for folder in folders {
            #expect(folder.contents.filter { $0.hasPrefix("out/") }.count == 6)
        }
        let last = try run(try checkout(jobs, of: source))
        #expect(last.errors.hasSuffix("6 of 6 jobs done, 6 from the cache\n"), "\(last.errors)")
    }

    /// The cache's disk is full: the jobs succeed, and the run warns once.
    @Test func fullDisk_failsNoJob() throws {
        let source = try folderWithSource()
        let jobs = (0..<3).map {
            job("j\($0)", asset: "./a.mp4", video: "codec: ffv1", to: "out/\($0).mkv")
        }.joined()
        let scratch = try checkout(jobs, of: source)
        let script = """
            mkdir full && mount -t tmpfs -o size=32k none full || exit 77
            '\(TestPaths.tandem)' run jobs.yaml --cache full
            status=$?
            find full -type f >left
            exit $status
            """
        let result = try program("unshare", ["-rm", "sh", "-c", script], directory: scratch.path)
        if result.status == 77 || result.errors.hasPrefix("unshare:") {
            return print("measured: no tmpfs here")
        }
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("warning: the cache full couldn't be used for all outputs: "))
        #expect(result.errors.components(separatedBy: "warning").count == 2)
        #expect(scratch.contents.filter { $0.hasPrefix("out/") }.count == 3)
        #expect(try bytes("left", scratch).isEmpty)
    }

    @Test func limit_isTheSizeOfTheCache() throws {
        let source = try folderWithSource()
        let jobs = (0..<4).map { index in
            job(
                "j\(index)", asset: "./a.mp4", video: "codec: ffv1, size: \(64 + 2 * index)x48",
                to: "out/\(index).mkv")
        }.joined()
        let result = try run(
            try checkout(jobs, of: source), "--cache-limit", "300kB", "--jobs", "1", "--report", "r.json")
        #expect(result.status == 0, "\(result.errors)")
        let sizes = try entries.map { try Data(contentsOf: URL(filePath: $0)).count }
        #expect((1...3).contains(sizes.count) && sizes.reduce(0, +) <= 270_000, "\(sizes)")
    }

    @Test func wrongArguments_areUsageErrors() throws {
        let scratch = try checkout(encode, of: folderWithSource())
        for (arguments, message) in [
            (["--cache-mode", "read"], "--cache-mode and --cache-limit require --cache DIR"),
            (["--cache", "c", "--cache-limit", "much"], "--cache-limit must be a size such as 10GB"),
            (["--cache", "s3://bucket"], "--cache"), (["--cache", ""], "--cache is the path of a folder"),
            (["--cache", "c", "--cache-mode", "write"], "--cache-mode"),
            (
                ["--cache", "c", "--cache-mode", "read-write", "--untrusted"],
                "--untrusted can't be combined with --cache-mode read-write"
            ),
        ] {
            let result = try program(
                TestPaths.tandem, ["run", "jobs.yaml"] + arguments, directory: scratch.path)
            #expect(result.status == 64 && result.errors.contains(message), "\(result.errors)")
        }
        mkdir(scratch.file("inside"), 0o755)
        let inside = try program(
            TestPaths.tandem, ["run", "jobs.yaml", "--cache", "inside", "--untrusted"],
            directory: scratch.path)
        #expect(
            inside.status == 64 && inside.errors.contains("requires a cache outside of the root"),
            "\(inside.errors)")
        try scratch.write("", to: "file")
        let result = try program(
            TestPaths.tandem, ["run", "jobs.yaml", "--cache", "file"], directory: scratch.path)
        #expect(result.status == 4 && result.errors.contains("Not a directory"), "\(result.errors)")
    }
}
