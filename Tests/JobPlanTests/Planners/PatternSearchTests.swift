import Diagnostics
import FileSystem
import Foundation
import JobSpec
import TestSupport
import Testing

@testable import JobPlan

/// The search for the files of patterns, in a folder of empty files.
@Suite struct PatternSearchTests {
    private static let names = [
        "in/b.wav", "in/a.wav", "in/c.flac", "in/b.aiff", "in/draft-a.wav", "in/draft-d.flac",
        "in/.hidden.wav",
        "in/sub/a.wav", "other/a.wav", "in/{x}.wav",
    ]

    /// Expands a job that reads an asset. Returns the names and the sources of its instances, and the diagnostics with the
    /// text at their locations.
    private func expand(_ asset: String, without missing: [String] = []) throws -> (
        labels: [String], paths: [String], findings: [String]
    ) {
        let scratch = try Scratch()
        for name in Self.names where !missing.contains(name) { try scratch.write("", to: name) }
        let yaml = """
            version: 1
            jobs:
              j: { asset: \(asset), tracks: [ { audio: first, copy: true } ], destination: "out/${asset.stem}-${index}.mkv" }

            """
        let (decoded, sink) = decode(yaml, directory: scratch.path)
        let file = try #require(decoded, "\(rendered(sink, yaml))")
        #expect(!sink.hasErrors, "\(rendered(sink, yaml))")
        var found = DiagnosticSink()
        let jobs = file.expanded(into: &found, beneath: .anywhere).jobs
        let paths = jobs.map { job in if case .file(let path) = job.asset.source { path.value } else { "" } }
        return (
            jobs.map { String($0.id.value.dropFirst(2).dropLast()) },
            paths.map { $0.replacing(scratch.path, with: "/root") }, Text(yaml: yaml).messages(found)
        )
    }

    private struct Text: LocatedText {
        let yaml: String
    }

    /// Files are in the order of the list, those of a pattern in the order of their names; each is listed once.
    @Test(arguments: [
        ("\"in/*.{wav,flac}\"", ["a.wav", "b.wav", "c.flac", "draft-a.wav", "draft-d.flac", "{x}.wav"]),
        (
            "{ paths: [\"in/*.wav\", \"in/*.{flac,aiff}\"], except: [\"in/draft-*\"] }",
            ["a.wav", "b.wav", "{x}.wav", "b.aiff", "c.flac"]
        ),
        ("{ paths: [ in/c.flac, \"in/[ac]*\", ./in/a.wav ] }", ["c.flac", "a.wav"]),
        (
            "{ paths: [ in/draft-a.wav, \"in/*.wav\" ], except: [ \"**/{draft-*,b.wav,{x}.wav}\" ] }",
            ["draft-a.wav", "a.wav"]
        ),
        ("{ paths: [ \"*/a.wav\", \"in/sub/*\" ] }", ["in/a.wav", "other/a.wav", "in/sub/a.wav"]),
        ("{ paths: [ \"{other,in/sub}/a*\" ] }", ["other/a.wav", "in/sub/a.wav"]),
        ("{ paths: [ \"in/{b,a}*.{aiff,wav}\" ] }", ["a.wav", "b.aiff", "b.wav"]),
        ("\"{in,other}/{a,c}.?[al]*\"", ["in/a.wav", "in/c.flac", "other/a.wav"]),
        ("{ paths: [ \"in/{sub/,}a.w*\" ] }", ["sub/a.wav", "a.wav"]),
    ])
    func filesAreInTheOrderOfTheList(_ asset: String, _ expected: [String]) throws {
        let (labels, _, findings) = try expand(asset)
        #expect(findings == [])
        #expect(labels == expected)
    }

    /// A path is listed whether the file exists or not, as with `path`. No file is searched for it.
    @Test func listedPathsAreNotSearched() throws {
        let (labels, paths, findings) = try expand(
            "{ paths: [ \"./in/{a,z}.wav\", in//a.wav, other/a.wav ] }")
        #expect(labels == ["in/a.wav", "in/z.wav", "other/a.wav"] && paths == labels && findings == [])
    }

    @Test func absoluteAndRelativePaths_areComparedByFile() throws {
        let scratch = try Scratch()
        try scratch.write("", to: "in/a.wav")
        let yaml = """
            version: 1
            jobs:
              j: { asset: { paths: [ "\(scratch.path)/in/*", in/a.wav ] }, tracks: [ { audio: first, copy: true } ], destination: "o.mkv" }
            """
        let (decoded, _) = decode(yaml, directory: scratch.path)
        var found = DiagnosticSink()
        let jobs = try #require(decoded).expanded(into: &found, beneath: .anywhere).jobs
        #expect(jobs.map(\.id.value) == ["j[\(scratch.path)/in/a.wav]"] && !found.hasErrors)
    }

    /// A pattern without a match is an error if the asset has no file, and a warning otherwise.
    @Test func patternsWithoutMatch_areReported() throws {
        func message(_ pattern: String) -> String {
            "no-match at \"\(pattern)\": the pattern `\(pattern)` matches no file"
        }
        #expect(try expand("\"in/*.{mov,mkv}\"").findings == [message("in/*.{mov,mkv}")])
        let none = try expand("{ paths: [\"in/*.mov\", \"on/*\"], except: [in/b.wav] }")
        #expect(none.findings == [message("in/*.mov"), message("on/*")] && none.labels == [])
        let some = try expand("{ paths: [\"in/*.mov\", \"in/*.aiff\"] }")
        #expect(some.findings == ["warning " + message("in/*.mov")] && some.labels == ["b.aiff"])
        let listed = try expand("{ paths: [\"in/*.mov\", in/a.wav] }")
        #expect(listed.findings == ["warning " + message("in/*.mov")] && listed.labels == ["a.wav"])
    }

    @Test func exceptions_areReportedIfTheyOmitNothingOrEverything() throws {
        let unused = try expand("{ paths: [\"in/*.aiff\"], except: [\"in/draft-*\", \"*.aiff\"] }")
        #expect(
            unused.findings == [
                "warning no-match at \"in/draft-*\": the exception `in/draft-*` omits no file",
                "warning no-match at \"*.aiff\": the exception `*.aiff` omits no file",
            ])
        #expect(unused.labels == ["b.aiff"])
        let all = try expand("{ paths: [\"in/*.aiff\", \"in/c*\"], except: [\"in/*\"] }")
        #expect(
            all.findings == [
                "no-match at [\"in/*.aiff\", \"in/c*\"]: `except` omits all 2 files"
            ])
        let only = try expand("{ paths: [\"in/*.aiff\"], except: [in/b.aiff] }")
        #expect(only.findings == ["no-match at [\"in/*.aiff\"]: `except` omits the only file"])
        #expect(only.labels == [])
    }
}
