import Diagnostics
import FileSystem
import Glibc
import JobSpec
import TestSupport
import Testing

@testable import JobPlan

/// The diagnostics of searches for the files of patterns, on a file system of values.
@Suite struct PatternMatchesTests {
    /// Expands jobs that read the given assets. Returns the paths of their instances, the diagnostics, and these as text.
    private func expand(
        _ assets: String..., on disk: FakeDisk
    ) throws -> (paths: [String], found: [Diagnostic], messages: [String]) {
        let jobs = assets.enumerated().map {
            "j\($0): { asset: \($1), destination: \"out\($0)/${asset.stem}-${index}.mkv\" }"
        }
        let yaml =
            (["version: 1", "defaults: { tracks: [ { audio: first, copy: true } ] }", "jobs:"]
            + jobs.map { "  " + $0 }).joined(separator: "\n") + "\n"
        let (decoded, sink) = decode(yaml, directory: "/jobs")
        let file = try #require(decoded, "\(rendered(sink, yaml))")
        #expect(!sink.hasErrors, "\(rendered(sink, yaml))")
        var found = DiagnosticSink()
        let instances = file.expanded(into: &found, beneath: .anywhere, on: disk).jobs
        let paths = instances.map { job in
            if case .file(let path) = job.asset.source { path.value } else { "" }
        }
        return (paths, found.diagnostics, Text(yaml: yaml).messages(found))
    }

    private struct Text: LocatedText {
        let yaml: String
    }

    /// The files of other patterns are still planned, and the pattern isn't reported as one without a match.
    @Test func unreadableFolder_isAnError() throws {
        var disk = FakeDisk("/jobs/in/a.wav", folders: ["/jobs/locked"])
        disk.unreadable = ["/jobs/locked": EACCES]
        let (paths, _, messages) = try expand("{ paths: [ \"locked/*.wav\", \"in/*.wav\" ] }", on: disk)
        #expect(paths == ["in/a.wav"])
        #expect(
            messages == [
                "source-unreadable at \"locked/*.wav\": the folder /jobs/locked, which the pattern `locked/*.wav` covers, can't be read: Permission denied"
            ])
    }

    @Test func unusableMatches_areErrors() throws {
        var disk = FakeDisk("/jobs/in/a.wav", "/jobs/in/pipe.wav", "/jobs/in/\u{FFFD}.wav")
        disk.special = ["/jobs/in/pipe.wav"]
        disk.links = ["/jobs/in/gone.wav": "/nowhere"]
        let (paths, found, messages) = try expand("\"in/*.wav\"", on: disk)
        #expect(paths == ["in/a.wav"])
        let start = "source-unreadable at \"in/*.wav\": the pattern `in/*.wav` matches "
        #expect(
            messages == [
                start + "/jobs/in/gone.wav, which is a dangling link, a pipe, a socket or a device",
                start + "/jobs/in/pipe.wav, which is a dangling link, a pipe, a socket or a device",
                start + "a file name that is not UTF-8: /jobs/in/\u{FFFD}.wav",
            ])
        #expect(found.map(\.help) == [nil, nil, "rename the file"])
    }

    /// The search ends at the limit, without files and without reports about the other patterns.
    @Test func patternThatCoversTooMuch_endsTheSearch() throws {
        var disk = FakeDisk("/jobs/in/a.wav", "/jobs/full/a.wav")
        disk.crowded = ["/jobs/full": 250_000]
        let (paths, _, messages) = try expand(
            "{ paths: [ \"none/*.wav\", \"in/*.wav\", \"full/*.wav\", \"gone/*.wav\" ] }", on: disk)
        #expect(paths == [])
        #expect(
            messages == [
                "fan-out at \"full/*.wav\": the pattern `full/*.wav` covers too many files and folders"
            ])
    }

    /// The folder is that of the job file, however the pattern is written.
    @Test(arguments: [
        ("in/*.mov", "/jobs/"), ("./in/*.mov", "/jobs/"), ("../in//*.mov", "/jobs/"), ("/in/*.mov", "/"),
    ]) func patternWithoutMatch_statesItsFolder(_ pattern: String, _ folder: String) throws {
        let (paths, found, _) = try expand("\"\(pattern)\"", on: FakeDisk("/jobs/in/a.wav"))
        #expect(paths == [])
        #expect(found.map { $0.notes.map(\.message) } == [["the pattern is relative to \(folder)"]])
    }

    /// `.` and repeated slashes are removed from paths; `..` isn't resolved, because a link may precede it.
    @Test func matches_areNormalizedByTheirText() throws {
        let disk = FakeDisk("/jobs/in/a.wav", "/other/b.wav")
        let (paths, _, messages) = try expand(
            "{ paths: [ \"./in//*.wav\", \"../other/*\", \"in/../i?/*\" ] }", on: disk)
        #expect(messages == [])
        #expect(paths == ["in/a.wav", "../other/b.wav", "in/../in/a.wav"])
    }

    /// A file whose name contains `[` isn't matched by the same text.
    @Test func brackets_areExplained() throws {
        let disk = FakeDisk("/jobs/in/a[1].wav")
        let bare = try expand("\"in/a[1].wav\"", on: disk)
        #expect(bare.paths == [] && bare.found.map(\.help) == ["write `[[]` to match a literal `[`"])
        let escaped = try expand("\"in/a[[]1].wav\"", on: disk)
        #expect(escaped.paths == ["in/a[1].wav"] && escaped.messages == [])
        #expect(try expand("\"in/*.mov\"", on: disk).found.map(\.help) == [nil])
    }

    /// Equal patterns are searched and reported once. Paths that differ only in Unicode normalization are different.
    @Test func jobs_shareTheSearchForEqualPatterns() throws {
        let disk = FakeDisk("/jobs/in/a.wav", "/jobs/\u{e9}/b.wav")
        #expect(try expand("\"in/*.mov\"", "\"in/*.mov\"", on: disk).messages.count == 1)
        #expect(try expand("\"in/*.mov\"", "\"in/*.mp4\"", on: disk).messages.count == 2)
        let both = try expand("\"in/*\"", "\"in/*\"", on: disk)
        #expect(both.paths == ["in/a.wav", "in/a.wav"] && both.messages == [])
        // Strings are compared by canonical equivalence, and arrays of scalars aren't.
        func scalars(_ paths: [String]) -> [[UInt32]] { paths.map { $0.unicodeScalars.map(\.value) } }
        let (composed, decomposed) = ("\"\u{e9}/*\"", "\"e\u{301}/*\"")
        let alone = scalars(try expand(composed, on: disk).paths + expand(decomposed, on: disk).paths)
        let together = scalars(try expand(composed, decomposed, on: disk).paths)
        #expect(alone.first != alone.last)
        #expect(together == alone)
    }

    /// Only exceptions that omit a file are named, and a file that two patterns match is one file.
    @Test func exceptionsThatOmitEverything_areNamed() throws {
        let disk = FakeDisk("/jobs/in/a.wav", "/jobs/in/b.flac")
        let some = try expand(
            "{ paths: [ \"in/*.wav\", \"in/*.mov\" ], except: [ \"none/*\", \"in/a*\" ] }", on: disk)
        #expect(some.paths == [])
        #expect(
            some.found.map(\.message) == [
                "`except` omits the only file", "the pattern `in/*.mov` matches no file",
            ])
        #expect(some.found.first?.notes.map(\.message) == ["`in/a*` is here"])
        let twice = try expand("{ paths: [ \"in/*.wav\", \"in/a*\" ], except: [ \"in/*\" ] }", on: disk)
        #expect(twice.found.map(\.message) == ["`except` omits the only file"])
    }
}
