import Foundation
import LibAV
import TestSupport
import Testing

@testable import Media

/// Tests the digests of small files, such as subtitle files.
@Suite struct FileContentsTests {
    private let environment = SourceEnvironment()

    @Test func contents_areSizeAndDigest() throws {
        let scratch = try Scratch()
        try scratch.write("abc", to: "a.srt")
        let contents = try FileContents(of: scratch.file("a.srt"), limit: 3, environment: environment)
        #expect(
            contents
                == FileContents(
                    size: 3, digest: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
        #expect(contents.isValid(upTo: 3) && !contents.isValid(upTo: 2))
        try contents.check(path: scratch.file("a.srt"), limit: 3, environment: environment)
    }

    /// A file that grew is reported as changed, up to the limit of its kind.
    @Test(arguments: ["abd", "ab", "abcd"])
    func otherContents_areAChange(_ text: String) throws {
        let scratch = try Scratch()
        try scratch.write("abc", to: "a.srt")
        let path = scratch.file("a.srt")
        let contents = try FileContents(of: path, limit: 100, environment: environment)
        try scratch.write(text, to: "a.srt")
        let problem = #expect(throws: FileProblem.self) {
            try contents.check(path: path, limit: 100, environment: environment)
        }
        #expect(problem?.description == "the file changed after planning")
    }

    @Test func unusableFiles_areNamed() throws {
        let scratch = try Scratch()
        try scratch.write("abc", to: "a.srt")
        for (name, limit, text) in [
            ("a.srt", 2, "the file has 3 bytes; at most 2 are allowed"), ("none.srt", 2, "no such file"),
            ("", 2, "is a directory, not a file"),
        ] {
            let problem = #expect(throws: FileProblem.self) {
                try FileContents(of: scratch.file(name), limit: Int64(limit), environment: environment)
            }
            #expect(problem?.description == text)
            #expect(problem?.isMissing == (name == "none.srt"))
        }
    }
}
