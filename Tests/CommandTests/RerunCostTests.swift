import Foundation
import TestSupport
import Testing

/// The system calls of a rerun in which all jobs are up to date.
@Suite struct RerunCostTests {
    /// The work per job is the status of its source and of its output. Everything else is done once per run, or in
    /// blocks of many jobs.
    @Test func jobsThatAreUpToDateCostTwoSystemCalls() throws {
        let (few, many) = (20, 220)
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=duration=0.1", scratch.file("a.wav"))
        for (folder, count) in [("few", few), ("many", many)] {
            try FileManager.default.createDirectory(
                atPath: scratch.file(folder), withIntermediateDirectories: true)
            for number in 1...count {
                try FileManager.default.copyItem(
                    atPath: scratch.file("a.wav"), toPath: scratch.file("\(folder)/\(number).wav"))
            }
            try scratch.write(
                """
                version: 1
                assets: { all: { path: "*.wav" } }
                jobs:
                  one: { asset: all, tracks: [ { audio: first, copy: true } ], destination: "out/${asset.stem}.wav" }

                """, to: "\(folder)/jobs.yaml")
            let run = try tandem("run", "\(folder)/jobs.yaml", in: scratch)
            #expect(run.status == 0, "\(run.errors)")
        }
        // The first rerun moves the records of the run from the database's log.
        for folder in ["few", "many"] { try tandem("run", "\(folder)/jobs.yaml", in: scratch) }
        let (before, after) = (try calls("few", in: scratch), try calls("many", in: scratch))
        func perJob(_ name: String) -> Double {
            Double(after[name, default: 0] - before[name, default: 0]) / Double(many - few)
        }
        // A worker starts ahead; during a longer run it loads more libraries, each of which takes some calls.
        #expect(perJob("newfstatat") < 2.9, "\(perJob("newfstatat"))")
        // Folders and the database are read in blocks of many jobs.
        for name in [
            "readlink", "getcwd", "faccessat2", "access", "openat2", "getxattr", "pread64", "pwrite64",
            "fcntl",
        ] {
            #expect(perJob(name) < 0.25, "\(name): \(perJob(name))")
        }
    }

    /// Returns the number of system calls of a rerun, by name.
    private func calls(_ folder: String, in scratch: Scratch) throws -> [String: Int] {
        let run = try program(
            "strace",
            [
                "-f", "-c", "-o", "counts", TestPaths.tandem, "run", "--isolation", "none",
                "\(folder)/jobs.yaml",
            ],
            directory: scratch.path)
        #expect(run.status == 0, "\(run.errors)")
        var counts: [String: Int] = [:]
        for line in try String(contentsOfFile: scratch.file("counts"), encoding: .utf8).split(separator: "\n")
        {
            // Columns: share, seconds, microseconds per call, calls, errors (may be blank), name.
            let columns = line.split(separator: " ")
            guard columns.count >= 5, let count = Int(columns[3]), let name = columns.last else { continue }
            counts[String(name)] = count
        }
        return counts
    }
}
