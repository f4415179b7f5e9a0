import Foundation
import TestSupport
import Testing

/// Tests that `collect` counts an output only if a result of this plan names it and the existing file matches the
/// result.
@Suite struct CollectAttackTests {
    private static let jobs = """
        version: 1
        jobs:
          a: { asset: { pattern: black, size: 64x48, duration: 1s, tone: 1kHz }, tracks: [ { audio: first, encode: { codec: flac } } ], destination: out/a.flac }
          b: { asset: { pattern: black, size: 64x48, duration: 2s, tone: 2kHz }, tracks: [ { audio: first, encode: { codec: flac } } ], destination: out/b.flac }
          c:
            asset: { pattern: smpte, size: 64x48, frame_rate: 10, duration: 1s }
            outputs:
              p: { images: { count: 2, format: png }, destination: "out/p-${image.number}.png" }
              q: { images: { at: [0s], format: png }, destination: out/q.png }
        """

    /// Creates a plan in two parts and runs both.
    private func batch() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write(Self.jobs, to: "jobs.yaml")
        let plan = try tandem("plan", "--shards", "2", "--out", "parts", "jobs.yaml", in: scratch)
        try #require(plan.status == 0, "\(plan.errors)")
        for index in 0..<2 {
            let run = try tandem("run", "-q", "--plan", "parts", "--shard", "\(index)", in: scratch)
            try #require(run.status == 0, "\(run.errors)")
        }
        return scratch
    }

    private func collect(_ scratch: Scratch) throws -> (status: Int32, text: String) {
        let result = try tandem("collect", "parts", in: scratch)
        return (result.status, result.text + result.errors)
    }

    /// Replaces text in a file. Fails if the file doesn't contain it.
    private func replace(_ old: String, by new: String, in name: String, of scratch: Scratch) throws {
        let text = try String(contentsOfFile: scratch.file(name), encoding: .utf8)
        try #require(text.contains(old), "\(name) has no \(old)")
        try scratch.write(text.replacingOccurrences(of: old, with: new), to: name)
    }

    private func results(_ scratch: Scratch) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scratch.file("parts/results")).sorted()
            .filter { $0.hasSuffix(".json") }.map { "parts/results/" + $0 }
    }

    /// Changes the entries of all results in place.
    private func edit(_ scratch: Scratch, _ change: (inout [String: Any]) -> Void) throws {
        for name in try results(scratch) {
            let url = URL(fileURLWithPath: scratch.file(name))
            var report = try #require(
                try JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [String: Any])
            var jobs = report["jobs"] as? [[String: Any]] ?? []
            for index in jobs.indices { change(&jobs[index]) }
            report["jobs"] = jobs
            try JSONSerialization.data(withJSONObject: report).write(to: url)
        }
    }

    @Test func unchangedResultsAreCounted() throws {
        let scratch = try batch()
        let (status, text) = try collect(scratch)
        #expect(status == 0 && text.contains("4 of 4 jobs done"), "\(text)")
    }

    /// Tests that `collect` and `run` reject an edited part.
    @Test(arguments: [
        ("\"count\" : 2", "\"count\" : -5"), ("\"count\" : 2", "\"count\" : 1"),
        ("\"index\" : 0", "\"index\" : 1"), ("/out/", "/../etc/"),
    ])
    func editedShardsAreErrors(_ old: String, _ new: String) throws {
        let scratch = try batch()
        for index in 0..<2 {
            let name = "parts/shard-\(index).json"
            let text = try String(contentsOfFile: scratch.file(name), encoding: .utf8)
            guard text.contains(old) else { continue }
            try replace(old, by: new, in: name, of: scratch)
            let (status, message) = try collect(scratch)
            #expect(status == 3 && message.contains("was changed after it was planned"), "\(message)")
            let run = try tandem("run", "--plan", "parts", "--shard", "\(index)", in: scratch)
            #expect(run.status == 3 && run.errors.contains("was changed after it was planned"))
            try scratch.write(text, to: name)
        }
        #expect(try collect(scratch).status == 0)
    }

    /// Tests manifests that are malformed, missing, or list only one of the parts.
    @Test func invalidManifestsAreErrors() throws {
        let scratch = try batch()
        let list = try String(contentsOfFile: scratch.file("parts/plan.json"), encoding: .utf8)
        for text in ["{", "{\"kind\":\"tandem-parts\",\"version\":1,\"parts\":[]}", "[]"] {
            try scratch.write(text, to: "parts/plan.json")
            #expect(try collect(scratch).status == 3)
        }
        try FileManager.default.removeItem(atPath: scratch.file("parts/plan.json"))
        #expect(try collect(scratch).status == 3)
        // The manifest lists only one of the two parts.
        var lines = list.split(separator: "\n", omittingEmptySubsequences: false)
        if let last = lines.lastIndex(where: { $0.hasPrefix("    \"") }) {
            lines.remove(at: last)
            lines[last - 1].removeLast()
        }
        try scratch.write(lines.joined(separator: "\n"), to: "parts/plan.json")
        #expect(try collect(scratch).status == 3)
    }

    /// Tests results with entries that contradict the plan or the file.
    @Test func falseResultsAreNotCounted() throws {
        let scratch = try batch()
        var saved: [String: Data] = [:]
        for name in try results(scratch) {
            saved[name] = try Data(contentsOf: URL(fileURLWithPath: scratch.file(name)))
        }
        func after(_ change: (inout [String: Any]) -> Void) throws -> (status: Int32, text: String) {
            try edit(scratch, change)
            defer {
                for (name, data) in saved {
                    try? data.write(to: URL(fileURLWithPath: scratch.file(name)))
                }
            }
            return try collect(scratch)
        }
        func output(_ path: String) -> String { scratch.file("out/" + path) }
        let other = try fingerprint(output("b.flac"))
        // The entry of one job names the output of another.
        let swapped = try after { job in
            guard job["id"] as? String == "a" else { return }
            (job["destination"], job["output"]) = (output("b.flac"), other)
        }
        #expect(swapped.status == 1 && swapped.text.contains("names another output"), "\(swapped.text)")
        #expect(swapped.text.contains("3 of 4 jobs done"))
        // The size differs from that of the file.
        let size = try after { job in if job["id"] as? String == "a" { job["size"] = 5 } }
        #expect(size.status == 1 && size.text.contains("its result states 5"), "\(size.text)")
        // The outcome is "skipped", although the plan skips nothing.
        let skipped = try after { job in if job["id"] as? String == "a" { job["outcome"] = "skipped" } }
        #expect(skipped.status == 1 && skipped.text.contains("if_exists: skip"), "\(skipped.text)")
        // An entry for a job with several outputs is valid only if the job failed.
        let whole = try after { job in
            if (job["id"] as? String)?.hasPrefix("c/") == true { job["id"] = "c" }
        }
        #expect(whole.status == 1 && whole.text.contains("2 of 4 jobs done"), "\(whole.text)")
        #expect(try collect(scratch).status == 0)
        // Results of another plan.
        for (name, data) in saved {
            let text = String(decoding: data, as: UTF8.self)
            let start = try #require(text.range(of: "\"part\":\""))
            try scratch.write(
                text.replacingCharacters(
                    in: start.upperBound..<text.index(start.upperBound, offsetBy: 64), with: "0"),
                to: name)
        }
        let foreign = try collect(scratch)
        #expect(foreign.status == 1 && foreign.text.contains("0 of 4 jobs done"), "\(foreign.text)")
    }

    /// Tests outputs that are missing, replaced, or not regular files, including the second file of a set.
    @Test func replacedFilesAreNotCounted() throws {
        let scratch = try batch()
        func check(_ name: String, _ change: String) throws {
            let shell = try program(
                "/bin/bash", ["-c", "cd out && cp -a \(name) ../kept && \(change)"], directory: scratch.path)
            #expect(shell.status == 0, "\(shell.errors)")
            let (status, text) = try collect(scratch)
            #expect(status == 1 && text.contains("3 of 4 jobs done"), "\(change): \(text)")
            let back = try program(
                "/bin/bash", ["-c", "cd out && rm -rf \(name) && mv ../kept \(name)"], directory: scratch.path
            )
            #expect(back.status == 0, "\(back.errors)")
        }
        try check("a.flac", "rm a.flac")
        try check("a.flac", "cp -a --remove-destination b.flac a.flac")
        try check("a.flac", "rm a.flac && mkdir a.flac")
        try check("a.flac", "rm a.flac && ln -s b.flac a.flac")
        try check("a.flac", "rm a.flac && mkfifo a.flac")
        try check("p-0002.png", "rm p-0002.png")
        try check("p-0002.png", "cp -a --remove-destination p-0001.png p-0002.png")
        try check("p-0002.png", "touch p-0002.png")
        #expect(try collect(scratch).status == 0)
    }
}
