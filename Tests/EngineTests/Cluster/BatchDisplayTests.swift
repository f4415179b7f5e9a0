import FileSystem
import Foundation
import Locking
import TestSupport
import Testing

@testable import Engine
@testable import JobRun

/// The display of a batch that is followed: lines for programs, bars on a terminal.
@Suite struct BatchDisplayTests {
    private func shown(
        interactive: Bool, width: Int = 80, _ body: (inout BatchDisplay) -> Void
    ) -> String {
        let written = Guarded("")
        var display = BatchDisplay(
            on: Console(
                isInteractive: interactive, usesColor: false, width: { width },
                write: { text in written.withLock { $0 += text } }))
        body(&display)
        display.end()
        return written.withLock { $0 }
    }

    private func status(running: Int) -> ClusterBatch.Status {
        var status = ClusterBatch.Status()
        (status.parts, status.running) = (3, running)
        return status
    }

    private func job(_ id: String, _ fraction: Double = 0.5) -> RunningJob {
        RunningJob(id: id, file: "jobs.yaml", fraction: fraction, media: 20, elapsed: 10)
    }

    @Test func changesAreLines() {
        let text = shown(interactive: false) { display in
            display.show(status(running: 2), nil)
            display.show(status(running: 2), nil)
            display.printLine("squeue failed; trying again")
            display.show(status(running: 0), nil)
        }
        #expect(
            text == """
                3 parts: 1 ended, 2 running, 0 waiting
                squeue failed; trying again
                3 parts: 3 ended, 0 running, 0 waiting

                """)
    }

    @Test func terminalsShowJobs() {
        let progress = BatchProgress(running: [job("film"), job("a\u{1b}[2J")], finished: 7, total: 612)
        let text = shown(interactive: true, width: 60) { display in
            display.show(status(running: 2), progress)
            display.show(status(running: 2), progress)
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[0].hasPrefix("film") && lines[0].hasSuffix(" 50 %  2.0x  0:10 left"), "\(text)")
        #expect(lines[1].hasPrefix("a\\u{1b}[2J") || !lines[1].contains("\u{1b}"), "\(lines[1])")
        #expect(lines[2] == "7 of 612 jobs" && lines[3] == "3 parts: 1 ended, 2 running, 0 waiting")
        // The second drawing replaces the four lines of the first one, and the state remains at the end.
        #expect(text.components(separatedBy: "\r\u{1b}[4A\u{1b}[J").count == 3)
        #expect(text.hasSuffix("\u{1b}[J3 parts: 1 ended, 2 running, 0 waiting\n"))
        #expect(lines.allSatisfy { $0.count <= 75 })
    }

    @Test func barsAreLimited() {
        let progress = BatchProgress(running: (0..<25).map { job("j\($0)") }, finished: 0, total: 25)
        let text = shown(interactive: true) { $0.show(status(running: 3), progress) }
        #expect(text.contains("j9") && !text.contains("j10") && text.contains("and 15 more running\n"))
    }

    /// Parts that have ended are read once, those that encode chunks count for no job, and damaged files for nothing.
    @Test func progressOfPartsIsAdded() throws {
        let scratch = try Scratch()
        let folder = ShardFolder(path: scratch.path, beneath: .anywhere)
        func write(_ part: Int, finished: Int, _ running: String = "") throws {
            try scratch.write(
                #"{"running": [\#(running)], "finished": \#(finished), "total": 9}"#,
                to: "progress/\(part).json")
        }
        try FileManager.default.createDirectory(
            atPath: scratch.file("progress"), withIntermediateDirectories: false)
        let running = #"{"id": "film", "file": "f", "fraction": 0.25, "media": 5, "elapsed": 2}"#
        try write(0, finished: 1, running)
        try write(1, finished: 4, running)
        try write(2, finished: 3)
        try scratch.write("{}", to: "progress/3.json")
        try scratch.write(#"{"running": [], "finished": 9, "total": 1}"#, to: "progress/4.json")
        try write(5, finished: 0, running.replacingOccurrences(of: "0.25", with: "1e9"))
        var reader = BatchProgressReader(of: folder, chunkParts: 1, jobCount: 20)
        let first = reader.read(open: [0, 1, 3, 4, 5])
        #expect(first.finished == 7 && first.total == 20)
        #expect(first.running.map(\.id) == ["film", "film"] && first.running[0].fraction == 0.25)
        try write(2, finished: 9)
        #expect(reader.read(open: [1]).finished == 7)
        // A part that runs again is read again.
        #expect(reader.read(open: [1, 2]).finished == 13)
        #expect(reader.read(open: []).running.isEmpty)
    }
}
