import FileSystem
import Foundation
import LibAV
import TestSupport
import Testing

@testable import JobPlan

/// Tests which files of a package are read as a source.
@Suite struct PackageFinderTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try scratch.write(
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:2
            #EXT-X-MAP:URI="a.mp4",BYTERANGE="2@0"
            #EXTINF:2,
            #EXT-X-BYTERANGE:3@2
            a.mp4
            #EXTINF:2,
            #EXT-X-BYTERANGE:1@7
            a.mp4
            #EXTINF:2,
            b/c.mp4
            #EXT-X-ENDLIST
            """, to: "p/a.m3u8")
        try scratch.write("0123456789", to: "p/a.mp4")
        try scratch.write("abc", to: "p/b/c.mp4")
    }

    private func package(_ root: PathRoot = .anywhere) throws(SourceProblem) -> SegmentedPackage {
        try PackageFinder.package(at: scratch.file("p/a.m3u8"), beneath: root)
    }

    private func problem(_ root: PathRoot = .anywhere) -> String? {
        do throws(SourceProblem) {
            _ = try package(root)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test func rangesThatFollowEachOtherAreOneSection() throws {
        let found = try package()
        #expect(found.isValid && found.files == ["a.mp4", "b/c.mp4"])
        #expect(
            found.parts.map(\.sections) == [
                [
                    .init(file: 0, offset: 0, length: 5), .init(file: 0, offset: 7, length: 1),
                    .init(file: 1, offset: 0, length: 3),
                ]
            ])
    }

    @Test func identityChangesWithEachFile() throws {
        let before = try package()
        #expect(before.currentIdentity == before.identity)
        try scratch.write("abcd", to: "p/b/c.mp4")
        #expect(before.currentIdentity != before.identity)
        #expect(try package().identity == before.currentIdentity)
        try FileManager.default.removeItem(atPath: scratch.file("p/b/c.mp4"))
        #expect(before.currentIdentity == nil)
    }

    @Test func filesMustBeBeneathTheFolderAndTheRoot() throws {
        let other = try Scratch()
        #expect(
            problem(try #require(PathRoot(folder: other.path)))
                == "it is outside of --root, or a link leads out of it")
        #expect(problem(try #require(PathRoot(folder: scratch.path))) == nil)
        #expect(problem(try #require(PathRoot(folder: scratch.file("p")))) == nil)
        try other.write("abc", to: "c.mp4")
        try FileManager.default.removeItem(atPath: scratch.file("p/b/c.mp4"))
        try FileManager.default.createSymbolicLink(
            atPath: scratch.file("p/b/c.mp4"), withDestinationPath: other.file("c.mp4"))
        #expect(
            problem()
                == "b/c.mp4 doesn't exist, isn't a regular file, or is outside of the package's folder")
        try FileManager.default.removeItem(atPath: scratch.file("p/b/c.mp4"))
        try scratch.write("", to: "p/b/c.mp4")
        #expect(problem() == "b/c.mp4 is empty")
        try scratch.write("0123", to: "p/a.mp4")
        #expect(problem() == "a byte range is behind the end of a.mp4")
    }
}
