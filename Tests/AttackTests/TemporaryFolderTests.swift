import ExactStrings
import FileSystem
import Foundation
import TestSupport
import Testing

@testable import Publishing

/// Tests folders that are complete or absent at their destination.
@Suite struct TemporaryFolderTests {
    private let scratch: Scratch
    private var destination: String { scratch.file("out/package") }

    init() throws {
        scratch = try Scratch()
        try FileManager.default.createDirectory(
            atPath: scratch.file("out"), withIntermediateDirectories: true)
    }

    /// Returns a complete folder with two files of a text, which isn't published yet.
    private func folder(_ text: String) throws -> TemporaryFolder {
        let folder = try TemporaryFolder(destination: destination, in: .anywhere)
        let file = try TemporaryFile(destination: destination, in: .anywhere)
        try Array("0123456789".utf8).withUnsafeBytes { try file.write($0, at: 0) }
        let parts = [TemporaryFile.Part(offset: 2, length: 3), TemporaryFile.Part(offset: 5, length: 1)]
        try folder.add([
            .init("index.txt", [.bytes(Array(text.utf8))]),
            .init("parts/1.bin", [.part(file, parts[0]), .bytes(Array("-".utf8)), .part(file, parts[1])]),
        ])
        try folder.synchronize()
        return folder
    }

    private func text(_ path: String = "index.txt") throws -> String {
        try String(contentsOfFile: destination + "/" + path, encoding: .utf8)
    }

    /// Names in the destination's folder.
    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scratch.file("out")).sorted()
    }

    @Test func folder_isAbsentUntilItIsPublished() throws {
        let folder = try folder("one")
        #expect(!FileManager.default.fileExists(atPath: destination))
        try folder.publish(replacing: false, keepsReplaced: false)
        #expect(try text() == "one")
        #expect(try text("parts/1.bin") == "234-5")
        #expect(try names() == ["package"])
        #expect(folder.size == 8)
        #expect(TemporaryFolder.size(ofPublished: destination) == 8)
    }

    @Test func discardedFolder_leavesNothing() throws {
        do { _ = try folder("one") }
        #expect(try names() == [])
    }

    @Test func publishing_replacesTheOldFolderInOneStep() throws {
        try folder("one").publish(replacing: false, keepsReplaced: false)
        let second = try folder("two")
        try second.publish(replacing: true, keepsReplaced: true)
        #expect(try text() == "two")
        #expect(try names().count == 2)
        second.removeReplaced()
        #expect(try names() == ["package"])
    }

    @Test(arguments: [false, true]) func withdrawnFolder_givesWayToTheReplacedOne(hadEarlier: Bool) throws {
        if hadEarlier { try folder("one").publish(replacing: false, keepsReplaced: false) }
        let second = try folder("two")
        try second.publish(replacing: hadEarlier, keepsReplaced: true)
        second.withdraw()
        #expect(try names() == (hadEarlier ? ["package"] : []))
        if hadEarlier { #expect(try text() == "one") }
        #expect(!second.isPublished)
    }

    @Test func publishingWithoutReplacing_refusesAnExistingFolderButAnEmptyOne() throws {
        try FileManager.default.createDirectory(atPath: destination, withIntermediateDirectories: true)
        #expect(DestinationPath.occupant(of: destination, owner: nil, kind: .folder) == .nothing)
        try folder("one").publish(replacing: false, keepsReplaced: false)
        #expect(throws: PublishingError.destinationExists) {
            try folder("two").publish(replacing: false, keepsReplaced: false)
        }
        #expect(try text() == "one")
        #expect(try names() == ["package"])
    }

    @Test func mark_isInvalidAfterAnyFileChanged() throws {
        let folder = try folder("one")
        let mark = DestinationPath.Mark(output: folder.fingerprint, digest: "d", owner: "o", job: "j")
        try #require(folder.setAttribute(DestinationPath.attribute, mark.text))
        try folder.publish(replacing: false, keepsReplaced: false)
        #expect(DestinationPath.mark(at: destination)?.digest == "d")
        #expect(DestinationPath.occupant(of: destination, owner: "o", kind: .folder) == .published)
        #expect(DestinationPath.occupant(of: destination, owner: "p", kind: .folder) == .foreign)
        #expect(DestinationPath.occupant(of: destination, owner: "o", kind: .file) == .wrongKind)
        try scratch.write("more", to: "out/package/parts/2.bin")
        #expect(DestinationPath.mark(at: destination) == nil)
        #expect(DestinationPath.occupant(of: destination, owner: "o", kind: .folder) == .foreign)
    }

    @Test func abandonedFolder_isRemovedUnlessItIsInUse() throws {
        let inUse = try folder("one")
        try scratch.write("rest", to: "out/.package.abc.part/parts/1.bin")
        let removed = TemporaryFile.removeAbandonedParts(in: scratch.file("out"), of: ["package".exact])
        #expect(removed == [".package.abc.part"])
        try inUse.publish(replacing: false, keepsReplaced: false)
        #expect(try names() == ["package"])
    }

    @Test func links_areNeitherFollowedNorReplaced() throws {
        try scratch.write("other", to: "elsewhere/file")
        try FileManager.default.createSymbolicLink(
            atPath: destination, withDestinationPath: scratch.file("elsewhere"))
        #expect(DestinationPath.occupant(of: destination, owner: nil, kind: .folder) == .wrongKind)
        #expect(throws: (any Error).self) { try folder("one").publish(replacing: true, keepsReplaced: false) }
        try scratch.write("x", to: "out/.package.abc.part/x")
        try FileManager.default.createSymbolicLink(
            atPath: scratch.file("out/.package.abc.part/link"), withDestinationPath: scratch.file("elsewhere")
        )
        _ = TemporaryFile.removeAbandonedParts(in: scratch.file("out"), of: ["package".exact])
        #expect(try String(contentsOfFile: scratch.file("elsewhere/file"), encoding: .utf8) == "other")
    }

    @Test(arguments: ["", "/", "a/b/c", "../a", "a/..", "."]) func add_refusesPathsOutsideOfTheFolder(
        path: String
    ) throws {
        let folder = try TemporaryFolder(destination: destination, in: .anywhere)
        #expect(throws: SystemError.self) { try folder.add([.init(path, [.bytes([1])])]) }
    }
}
