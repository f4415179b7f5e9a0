import FileSystem
import Foundation
import LibAV
import TestSupport
import Testing

/// Tests the bytes of a package's parts.
@Suite struct SegmentedSourceTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// Returns the bytes of a part that consists of sections of files.
    private func bytes(
        _ files: [String], _ sections: [SegmentedPackage.Section], root: PathRoot = .anywhere
    ) throws -> [UInt8]? {
        let package = SegmentedPackage(
            folder: scratch.path, files: files,
            parts: [SegmentedPackage.Part(name: "v", sections: sections)], identity: "")
        var environment = SourceEnvironment(root: root)
        environment.packages.add(package, at: "a.m3u8")
        let source = try environment.open("a.m3u8#v")
        return source.bytes(at: 0, Int(source.size))
    }

    @Test func sectionsFollowEachOther() throws {
        try scratch.write("0123456789", to: "a")
        try scratch.write("abcdef", to: "b")
        let found = try bytes(
            ["a", "b"],
            [
                .init(file: 0, offset: 0, length: 3), .init(file: 1, offset: 2, length: 4),
                .init(file: 0, offset: 8, length: 2),
            ])
        #expect(found == Array("012cdef89".utf8))
    }

    @Test func filesThatBecameShorterAreErrors() throws {
        try scratch.write("012", to: "a")
        #expect(try bytes(["a"], [.init(file: 0, offset: 0, length: 4)]) == nil)
    }

    @Test func foldersOutsideOfTheRootAreNotOpened() throws {
        try scratch.write("012", to: "a")
        let other = try Scratch()
        let root = try #require(PathRoot(folder: other.path))
        #expect(throws: InputError.self) {
            try bytes(["a"], [.init(file: 0, offset: 0, length: 3)], root: root)
        }
    }

    @Test func linksThatLeaveTheFolderAreNotFollowed() throws {
        let other = try Scratch()
        try other.write("secret", to: "a")
        try FileManager.default.createSymbolicLink(
            atPath: scratch.file("link"), withDestinationPath: other.file("a"))
        #expect(try bytes(["link"], [.init(file: 0, offset: 0, length: 3)]) == nil)
    }

    /// Cues that overlap several segments occur once; times are those of the media.
    @Test func segmentsOfSubtitlesAreJoined() throws {
        let map = "X-TIMESTAMP-MAP=MPEGTS:126000,LOCAL:00:00:00.000"
        let texts = [
            "WEBVTT\n\(map)\n\n1\n00:01.000 --> 00:05.000 line:10%\nOne\n\n00:02.000 --> 00:03.000\nTwice\n\n00:02.000 --> 00:03.000\nTwice\n",
            "WEBVTT\r\n\(map)\r\n\r\n1\r\n00:01.000 --> 00:05.000 line:10%\r\nOne\r\n\r\n01:00:06.000 --> 01:00:07.000\r\nTwo\r\n",
        ]
        var sections: [SegmentedPackage.Section] = []
        for (index, text) in texts.enumerated() {
            try scratch.write(text, to: "\(index)")
            sections.append(.init(file: index, offset: 0, length: Int64(text.utf8.count)))
        }
        let found = try #require(try bytes(["0", "1"], sections))
        #expect(
            String(decoding: found, as: UTF8.self) == """
                WEBVTT

                1
                00:00:02.400 --> 00:00:06.400 line:10%
                One

                00:00:03.400 --> 00:00:04.400
                Twice

                00:00:03.400 --> 00:00:04.400
                Twice

                01:00:07.400 --> 01:00:08.400
                Two


                """)
    }

    @Test func pathsAndNumbersOfPlansAreChecked() {
        func package(_ file: String, _ section: SegmentedPackage.Section) -> SegmentedPackage {
            SegmentedPackage(
                folder: "/a", files: [file],
                parts: [SegmentedPackage.Part(name: "v", sections: [section])], identity: "")
        }
        let section = SegmentedPackage.Section(file: 0, offset: 0, length: 1)
        #expect(package("b/c", section).isValid)
        for file in ["", "/b", "../b", "b/../../c", "b\0"] {
            #expect(!package(file, section).isValid, "\(file)")
        }
        for (file, offset, length) in [(1, 0, 1), (0, -1, 1), (0, 0, 0), (0, Int64.max, 1)]
            as [(Int, Int64, Int64)]
        {
            #expect(!package("b", .init(file: file, offset: offset, length: length)).isValid)
        }
    }
}
