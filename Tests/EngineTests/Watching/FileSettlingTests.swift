import FileSystem
import Foundation
import TestSupport
import Testing

@testable import Engine

@Suite struct FileSettlingTests {
    private let start = ContinuousClock.now

    /// Files by path with their tokens, of which some are open for writing.
    private final class Files {
        var tokens: [String: String] = [:]
        var open: Set<String> = []
        var looks = 0
        var unknown = false
    }

    private func settling(_ files: Files) -> FileSettling {
        FileSettling(time: .seconds(2)) {
            files.looks += 1
            return files.open.contains($0) ? .some : files.unknown ? .unknown : .none
        }
    }

    @Test func file_isCompleteAfterTheTimeWithoutAChange() {
        let files = Files()
        files.tokens = ["/a": "1"]
        var settling = settling(files)
        func state(after milliseconds: Int) -> FileSettling.State {
            settling.examine(["/a", "/a"], at: start + .milliseconds(milliseconds)) { files.tokens[$0] }
            return settling.state(of: "/a")
        }
        #expect(state(after: 0) == .incomplete(until: start + .seconds(2)))
        #expect(state(after: 1900) == .incomplete(until: start + .seconds(2)))
        files.tokens["/a"] = "2"
        #expect(state(after: 1950) == .incomplete(until: start + .milliseconds(3950)))
        #expect(state(after: 3900) == .incomplete(until: start + .milliseconds(3950)))
        #expect(state(after: 3950) == .complete(token: "2"))
        files.tokens["/a"] = nil
        #expect(state(after: 4000) == .missing)
        // A file that returns is observed anew, also with the same content.
        files.tokens["/a"] = "2"
        #expect(state(after: 5000) == .incomplete(until: start + .seconds(7)))
    }

    /// An open file is examined at growing intervals, since the end of a write is reported.
    @Test func openFile_isIncomplete() {
        let files = Files()
        (files.tokens, files.open) = (["/a": "1"], ["/a"])
        var settling = settling(files)
        func state(after seconds: Int) -> FileSettling.State {
            settling.examine(["/a"], at: start + .seconds(seconds)) { files.tokens[$0] }
            return settling.state(of: "/a")
        }
        _ = state(after: 0)
        #expect(files.looks == 0)
        #expect(state(after: 2) == .incomplete(until: start + .seconds(4)))
        #expect(state(after: 4) == .incomplete(until: start + .seconds(8)))
        for seconds in 5..<20 { _ = state(after: seconds) }
        #expect(state(after: 20) == .incomplete(until: start + .seconds(25)))
        files.open = []
        let looks = files.looks
        #expect(state(after: 21) == .complete(token: "1"))
        // A writer that opens the file later changes it before it is incomplete again.
        files.open = ["/a"]
        #expect(state(after: 22) == .complete(token: "1"))
        #expect(files.looks == looks + 1 && settling.token(of: "/a") == "1")
    }

    /// Without knowledge of its writers, a file must be unchanged for longer.
    @Test func fileWithUnknownWriters_isCompleteLater() {
        let files = Files()
        (files.tokens, files.unknown) = (["/a": "1"], true)
        var settling = settling(files)
        func state(after seconds: Int) -> FileSettling.State {
            settling.examine(["/a"], at: start + .seconds(seconds)) { files.tokens[$0] }
            return settling.state(of: "/a")
        }
        _ = state(after: 0)
        #expect(state(after: 2) == .incomplete(until: start + .seconds(10)))
        #expect(state(after: 10) == .complete(token: "1"))
    }

    @Test func forgottenFile_isMissing() {
        let files = Files()
        files.tokens = ["/a": "1"]
        var settling = settling(files)
        settling.examine(["/a"], at: start) { files.tokens[$0] }
        settling.examine([], at: start + .seconds(9)) { files.tokens[$0] }
        #expect(settling.state(of: "/a") == .missing)
    }

    /// A real file that this process has open for writing; a lease shows it.
    @Test func fileWithAWriter_isIncomplete() throws {
        let scratch = try Scratch()
        let path = scratch.file("a")
        #expect(FileManager.default.createFile(atPath: path, contents: Data("text".utf8)))
        var settling = FileSettling(time: .seconds(2), beneath: .anywhere)
        let writer = try #require(FileHandle(forWritingAtPath: path))
        settling.examine([path], at: start)
        settling.examine([path], at: start + .seconds(2))
        #expect(settling.state(of: path) == .incomplete(until: start + .seconds(4)))
        try writer.close()
        settling.examine([path], at: start + .seconds(3))
        let token = try #require(FileIdentity.changeToken(path: path))
        #expect(settling.state(of: path) == .complete(token: token))
    }
}
