import Diagnostics
import FileSystem
import Glibc
import TestSupport
import Testing

@testable import JobPlan

/// The files that patterns match, on a file system of values.
@Suite struct GlobberTests {
    private static let disk: FakeDisk = {
        var disk = FakeDisk(
            "/in/b.wav", "/in/a.wav", "/in/sub/deep/c.wav", "/in/.hidden/d.wav", "/in/.e.wav", "/other/f.wav",
            "/in/pipe.wav")
        disk.special = ["/in/pipe.wav"]
        disk.links = ["/in/link.wav": "/other/f.wav", "/in/far": "/other", "/in/gone.wav": "/nowhere"]
        return disk
    }()

    private func paths(
        _ pattern: String, from base: String = "/in", on disk: FakeDisk = disk,
        beneath root: PathRoot = .anywhere
    ) throws -> (paths: [String], obstacles: [String]) {
        var globber = Globber(beneath: root, on: disk)
        let (paths, obstacles) = try globber.paths(pattern, from: base)
        let found = obstacles.map { obstacle in
            switch obstacle {
            case .unreadable(let folder, let code): "unreadable \(folder) \(code)"
            case .noFile(let path): "no file \(path)"
            case .noText(let path): "no text \(path)"
            }
        }
        return (paths, found)
    }

    /// Matches are in the order of their names, in the spelling of the pattern. `**` matches no hidden folders, and follows
    /// no links; other wildcards do.
    @Test(arguments: [
        ("[ab].wav", ["a.wav", "b.wav"]), ("/in/[ab].wav", ["/in/a.wav", "/in/b.wav"]), ("a.wav", ["a.wav"]),
        ("missing.wav", []), ("sub", []), ("**/?.wav", ["a.wav", "b.wav", "sub/deep/c.wav"]),
        ("**/deep/**/*.wav", ["sub/deep/c.wav"]), ("*/f.wav", ["far/f.wav"]), ("f*/*.wav", ["far/f.wav"]),
        ("li*.wav", ["link.wav"]), (".e.*", [".e.wav"]), ("../o*/f.wav", ["../other/f.wav"]),
        ("{b,a}.wav", ["a.wav", "b.wav"]),
    ]) func matchesAreSorted(_ pattern: String, _ expected: [String]) throws {
        let found = try paths(pattern)
        #expect(found.paths == expected && found.obstacles == [])
    }

    /// Entries that can't be read are reported if they match; the other matches remain.
    @Test func obstaclesAreReportedWithTheMatches() throws {
        #expect(try paths("[ap]*.wav").obstacles == ["no file /in/pipe.wav"])
        #expect(try paths("g*.wav").obstacles == ["no file /in/gone.wav"])
        var disk = Self.disk
        disk.unreadable["/in/sub"] = EACCES
        disk.add("/in/\u{FFFD}.wav")
        let found = try paths("**/*[ab\u{FFFD}].wav", on: disk)
        #expect(found.paths == ["a.wav", "b.wav"])
        #expect(Set(found.obstacles) == ["unreadable /in/sub \(EACCES)", "no text /in/\u{FFFD}.wav"])
        #expect(try paths("none/*.wav", on: disk).obstacles == [], "a missing folder is no obstacle")
    }

    /// Folders outside of the root aren't listed, also behind links.
    @Test func foldersOutsideOfTheRootAreNotListed() throws {
        let scratch = try Scratch()
        let root = try #require(PathRoot(folder: scratch.path))
        var disk = FakeDisk(scratch.path + "/in/a.wav", "/other/f.wav")
        disk.links = [scratch.path + "/in/far": "/other"]
        #expect(try paths("*/?.wav", from: scratch.path + "/in", on: disk, beneath: root).paths == [])
        #expect(try paths("?.wav", from: scratch.path + "/in", on: disk, beneath: root).paths == ["a.wav"])
        #expect(try paths("/other/*.wav", on: disk, beneath: root).paths == [])
    }

    /// The entries of all folders together are limited.
    @Test func tooManyEntriesAreAnError() throws {
        var disk = FakeDisk()
        disk.crowded = ["/": 200_000]
        var globber = Globber(beneath: .anywhere, on: disk)
        #expect(try globber.paths("/y*", from: "/").paths == [])
        #expect(throws: Globber.TooMany.self) { _ = try globber.paths("/y*", from: "/") }
    }
}
