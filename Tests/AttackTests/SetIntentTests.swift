import ExactStrings
import FileSystem
import Foundation
import TestSupport
import Testing

@testable import Publishing

/// Tests the record of files that are replaced together, and the completion of the set after the process was killed.
@Suite struct SetIntentTests {
    /// Existing files `a` and `b` in two folders, and new versions that are ready to be published.
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

        func contents() throws -> [String] {
            try ["one/a", "two/b"].map { try String(contentsOfFile: scratch.file($0), encoding: .utf8) }
        }

        func record() throws -> String? {
            try FileManager.default.contentsOfDirectory(atPath: scratch.file("two")).first {
                $0.hasSuffix(SetIntent.suffix)
            }
        }

        func find(_ names: Set<ExactString> = ["b".exact], beneath root: PathRoot = .anywhere)
            -> [InterruptedSet]
        {
            InterruptedSet.find(in: scratch.file("two"), of: names, beneath: root)
        }

        /// Publishes `a`, simulates a kill at this point, and calls `body`. `change` alters the record before.
        func interrupted(
            _ change: (inout SetIntent) -> Void, body: () throws -> Void
        ) throws {
            struct Stop: Error {}
            #expect(throws: Stop.self) {
                _ = try TemporaryFile.publishTogether(files) { index, keepsReplaced in
                    guard index == 1 else {
                        try files[0].publish(replacing: true, keepsReplaced: keepsReplaced)
                        return true
                    }
                    #expect(try contents() == ["new", "old"])
                    // The record of a running process is locked.
                    #expect(find().isEmpty)
                    let name = scratch.file("two/" + (try #require(try record())))
                    var intent = try #require(
                        SetIntent(decoding: [UInt8](try Data(contentsOf: URL(filePath: name)))))
                    change(&intent)
                    try FileManager.default.removeItem(atPath: name)
                    try Data(intent.encoded).write(to: URL(filePath: scratch.file("two/.b.dead.set")))
                    // The temporary files are locked too.
                    let flags = files.map { flock($0.descriptor, LOCK_UN) }
                    #expect(flags == [0, 0])
                    try body()
                    throw Stop()
                }
            }
        }
    }

    @Test func interruptedSetsAreCompleted() throws {
        let set = try Replacement()
        try set.interrupted({ _ in }) {
            let found = try #require(set.find().first)
            #expect(found.destinations == ["one/a", "two/b"].map(set.scratch.file))
            let missing = try #require(found.missing())
            #expect(missing.map(\.destination) == [set.scratch.file("two/b")])
            try found.complete(missing)
            #expect(try set.contents() == ["new", "new"])
            #expect(try set.record() == nil)
        }
    }

    @Test func failedSetsAreWithdrawnWithTheirRecord() throws {
        struct Stop: Error {}
        let set = try Replacement()
        #expect(throws: Stop.self) {
            _ = try TemporaryFile.publishTogether(set.files) { index, keepsReplaced in
                if index == 1 { throw Stop() }
                try set.files[0].publish(replacing: true, keepsReplaced: keepsReplaced)
                return true
            }
        }
        #expect(try set.contents() == ["old", "old"])
        #expect(try set.record() == nil)
        for file in set.files { file.discard() }
        for folder in ["one", "two"] {
            #expect(try FileManager.default.contentsOfDirectory(atPath: set.scratch.file(folder)).count == 1)
        }
    }

    /// Changes to a record that forge it, or that contradict the files.
    private static let changes: [(String, @Sendable (inout SetIntent) -> Void)] = [
        ("another identity", { $0.members[1].new = "1 3-0.0" }),
        ("no part", { $0.members[1].part = ".b.gone.part" }),
        ("another output's part", { $0.members[1].part = ".a.x.part" }),
        ("a part elsewhere", { $0.members[1].part = "../two/" + $0.members[1].part }),
        ("a name elsewhere", { $0.members[1].name = "../one/a" }),
        ("nothing replaced", { $0.members[1].old = "" }),
        ("another file replaced", { $0.members[1].old = "7 3-0.0" }),
        ("a folder that isn't there", { $0.members[1].folder = "/none" }),
        ("no folder", { $0.members[0].folder = "" }),
    ]

    @Test(arguments: changes.indices) func recordsThatDontMatchTheFilesAreRejected(_ index: Int) throws {
        let set = try Replacement()
        try set.interrupted(Self.changes[index].1) {
            let missing = set.find().first?.missing()
            #expect(missing == nil, "\(Self.changes[index].0)")
            let contents = try set.contents()
            #expect(contents == ["new", "old"])
        }
    }

    @Test func lockedFilesLinksAndOtherRootsAreRejected() throws {
        let set = try Replacement()
        try set.interrupted({ _ in }) {
            #expect(set.find(["z".exact]).isEmpty)
            let root = try #require(PathRoot(folder: set.scratch.file("one")))
            #expect(set.find(beneath: root).isEmpty)
            flock(set.files[1].descriptor, LOCK_EX)
            #expect(set.find().first?.missing() == nil)
            flock(set.files[1].descriptor, LOCK_UN)
            #expect(set.find().first?.missing() != nil)
            try FileManager.default.removeItem(atPath: set.scratch.file("two/b"))
            try FileManager.default.createSymbolicLink(
                atPath: set.scratch.file("two/b"), withDestinationPath: "/etc/passwd")
            #expect(set.find().first?.missing() == nil)
            try FileManager.default.removeItem(atPath: set.scratch.file("two/b"))
            // On file systems without links, the replaced file temporarily has another name.
            #expect(set.find().first?.missing()?.count == 1)
            try set.scratch.write("old", to: "two/b")
        }
    }

    /// Tests that damaged and forged records are rejected or decoded without a trap, at a cost limited by the record's
    /// size.
    @Test func damagedRecordsAreRejected() {
        let member = SetIntent.Member(folder: "/f", name: "n", part: ".n.1.part", new: "1 2-3.4", old: "")
        let valid = SetIntent(members: [member, member]).encoded
        #expect(SetIntent(decoding: valid)?.members == [member, member])
        for length in 0..<valid.count { #expect(SetIntent(decoding: Array(valid.prefix(length))) == nil) }
        for index in valid.indices {
            for byte: UInt8 in [0, 0x2d, 0x39, 0xff] {
                var bytes = valid
                bytes[index] = byte
                _ = SetIntent(decoding: bytes)
            }
        }
        // Counts whose product with the number of fields overflows to the actual number of fields.
        let counts = [
            "9223372036854775807", "7378697629483820647", "3689348814741910323", "-1", "0", "1", "2", "", "x",
            "-9223372036854775808",
        ]
        for count in counts {
            for fields in 0...6 {
                let text = (["tandem set 1", count] + (0..<fields).map { "f\($0)" }).joined(separator: "\0")
                let isRight = count == "1" && fields == 5
                #expect((SetIntent(decoding: Array(text.utf8) + [0]) != nil) == isRight, "\(count) \(fields)")
            }
        }
        #expect(SetIntent(decoding: [UInt8](repeating: 0, count: 4 << 20)) == nil)
        // Records with as many files as they declare: one above the limit, and one at the limit.
        let many = Array("tandem set 1\0100001".utf8) + [UInt8](repeating: 0, count: 1 + 5 * 100_001)
        #expect(SetIntent(decoding: many) == nil)
        let most = Array("tandem set 1\0100000".utf8) + [UInt8](repeating: 0, count: 1 + 5 * 100_000)
        #expect(SetIntent(decoding: most)?.members.count == 100_000)
    }
}
