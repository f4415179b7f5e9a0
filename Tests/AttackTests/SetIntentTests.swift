import ExactStrings
import FileSystem
import Foundation
import TestSupport
import Testing

@testable import Publishing

/// The record of files that replace others together, and its completion after the process was killed.
@Suite struct SetIntentTests {
    /// `a` and `b` of an old version in two folders, and new versions that are about to be published.
    private struct Replacement {
        let scratch: Scratch
        let files: [TemporaryFile]

        init() throws {
            scratch = try Scratch()
            for folder in ["one", "two"] {
                try FileManager.default.createDirectory(
                    atPath: scratch.file(folder), withIntermediateDirectories: true)
            }
            files = try ["one/a", "two/b"].map { [scratch] path in
                try scratch.write("old", to: path)
                let file = try TemporaryFile(destination: scratch.file(path), in: .anywhere)
                try Array("new".utf8).withUnsafeBytes { try file.write($0, at: 0) }
                try file.synchronize()
                return file
            }
        }

        var names: [ExactString: Set<String>] {
            [scratch.file("one").exact: ["a"], scratch.file("two").exact: ["b"]]
        }

        func contents() throws -> [String] {
            try ["one/a", "two/b"].map { try String(contentsOfFile: scratch.file($0), encoding: .utf8) }
        }

        func record() throws -> String? {
            try FileManager.default.contentsOfDirectory(atPath: scratch.file("two")).first {
                $0.hasSuffix(SetIntent.suffix)
            }
        }

        /// Publishes `a`, and calls `body` in place of publishing `b`: what it finds is what a killed process leaves, but
        /// for the lock. Then fails.
        func interrupted(_ body: () throws -> Void) {
            struct Stop: Error {}
            #expect(throws: Stop.self) {
                _ = try TemporaryFile.publishTogether(files) { index, keepsReplaced in
                    if index == 1 {
                        try body()
                        throw Stop()
                    }
                    try files[0].publish(replacing: true, keepsReplaced: keepsReplaced)
                    return true
                }
            }
        }
    }

    @Test func aSetThatWasInterruptedIsCompleted() throws {
        let set = try Replacement()
        set.interrupted {
            #expect(try set.contents() == ["new", "old"])
            let record = try #require(try set.record())
            // The record of a live process is locked.
            #expect(TemporaryFile.completeInterrupted(set.names, in: .anywhere) == 0)
            #expect(try set.contents() == ["new", "old"])
            let copy = set.scratch.file("two/.b.copy.set")
            try FileManager.default.copyItem(atPath: set.scratch.file("two/" + record), toPath: copy)
            #expect(TemporaryFile.completeInterrupted(set.names, in: .anywhere) == 1)
            #expect(try set.contents() == ["new", "new"])
            #expect(!FileManager.default.fileExists(atPath: copy))
        }
    }

    @Test func aSetThatFailsIsWithdrawnWithItsRecord() throws {
        let set = try Replacement()
        set.interrupted {}
        #expect(try set.contents() == ["old", "old"])
        #expect(try set.record() == nil)
        for file in set.files { file.discard() }
        for folder in ["one", "two"] {
            #expect(try FileManager.default.contentsOfDirectory(atPath: set.scratch.file(folder)).count == 1)
        }
    }

    /// A record that somebody else wrote, or that no longer fits what is there, renames nothing.
    @Test func aRecordThatDoesNotFitIsDropped() throws {
        let set = try Replacement()
        set.interrupted {
            let name = try #require(try set.record())
            let whole = try Data(contentsOf: URL(filePath: set.scratch.file("two/" + name)))
            let honest = try #require(SetIntent(decoding: [UInt8](whole)))
            func changed(_ change: (inout SetIntent.Member) -> Void) -> [UInt8] {
                var intent = honest
                change(&intent.members[1])
                return intent.encoded
            }
            func record(of fields: String...) -> [UInt8] {
                Array((["tandem set 1"] + fields).joined(separator: "\0").utf8) + [0]
            }
            try set.scratch.write("new", to: "two/.b.planted.part")
            let planted: [[UInt8]] = [
                // Identities of other files, names elsewhere, a file that somebody else replaced, a temporary file that is
                // gone or is another output's.
                changed { $0.new = "1 3-0.0" },
                changed { $0.part = ".b.planted.part" },
                changed { $0.old = "" },
                changed { $0.old = "7 3-0.0" },
                changed { $0.part = ".b.gone.part" },
                changed { $0.part = ".a.x.part" },
                changed { $0.part = "../two/" + $0.part },
                changed { $0.name = "../one/a" },
                changed { $0.name = "c" },
                changed { $0.folder = "/etc" },
                changed { $0.folder = "" },
                Array(whole.dropLast()), Array(whole.dropLast(3)), Array(whole.dropFirst()), [], [0],
                record(of: "9223372036854775807"), record(of: "-1"), record(of: "0"), record(of: "1"),
            ]
            for (index, bytes) in planted.enumerated() {
                try Data(bytes).write(to: URL(filePath: set.scratch.file("two/.b.copy.set")))
                #expect(TemporaryFile.completeInterrupted(set.names, in: .anywhere) == 0, "record \(index)")
                #expect(try set.contents() == ["new", "old"], "record \(index)")
                #expect(!FileManager.default.fileExists(atPath: set.scratch.file("two/.b.copy.set")))
            }
            // Nothing outside the root, and nothing that the caller doesn't expect.
            try whole.write(to: URL(filePath: set.scratch.file("two/.b.copy.set")))
            let root = try #require(PathRoot(folder: set.scratch.file("one")))
            #expect(TemporaryFile.completeInterrupted(set.names, in: root) == 0)
            #expect(
                TemporaryFile.completeInterrupted([set.scratch.file("two").exact: ["z"]], in: .anywhere) == 0)
            #expect(try set.contents() == ["new", "old"])
        }
    }

    /// Random bytes and random damage of an honest record are refused or decoded, and never trap.
    @Test func damagedRecordsAreRefused() {
        let member = SetIntent.Member(folder: "/f", name: "n", part: ".n.1.part", new: "1 2-3.4", old: "")
        let honest = SetIntent(members: [member, member]).encoded
        #expect(SetIntent(decoding: honest)?.members == [member, member])
        for length in 0..<honest.count { #expect(SetIntent(decoding: Array(honest.prefix(length))) == nil) }
        for index in honest.indices {
            for byte: UInt8 in [0, 0x2d, 0x39, 0xff] {
                var bytes = honest
                bytes[index] = byte
                _ = SetIntent(decoding: bytes)
            }
        }
    }
}
