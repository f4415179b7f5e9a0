import Diagnostics
import JobSpec
import TestSupport
import Testing

@testable import JobPlan

/// The check of patterns, with matches that are given instead of searched.
@Suite struct PatternCheckTests {
    /// Returns the file with its patterns replaced by the given matches.
    private func expanded(_ snippet: JobFileSnippet, _ matches: [String]) -> JobFile {
        var sink = DiagnosticSink()
        return snippet.file.expanded(into: &sink) { _, _ in
            matches.map { FilePatterns.File(path: $0, entry: 0) }
        }
    }

    private func warnings(_ snippet: JobFileSnippet, _ matches: [String]) -> (
        messages: [String], notes: [String]
    ) {
        var sink = DiagnosticSink()
        PatternCheck.warn([snippet.file], expanded: [expanded(snippet, matches)], into: &sink)
        let notes = sink.diagnostics.flatMap(\.notes).compactMap(\.range).map(snippet.text)
        return (snippet.messages(sink), notes)
    }

    // MARK: Outputs that match

    @Test(arguments: [
        ("in/*.mp4", "in/${asset.stem}-2.mp4", true), ("in/*.mp4", "out/${asset.stem}.mp4", false),
        ("in/*.mp4", "in/${asset.stem}.mkv", false), ("in/*.mp4", "in/new/${asset.stem}.mp4", false),
        ("./in/./*.mp4", "in//${asset.stem}-2.mp4", true), ("in/*.mp4", "/jobs/in/${asset.stem}-2.mp4", true),
        ("/jobs/in/*.mp4", "in/${asset.stem}-2.mp4", true), ("**/*.mp4", "out/${asset.stem}-2.mp4", true),
        ("in/?.mp4", "in/${asset.stem}-2.mp4", false), ("in/*.{mov,mp4}", "in/${asset.stem}-2.mp4", true),
        ("in/*.{mov,mkv}", "in/${asset.stem}-2.mp4", false),
    ])
    func pattern_thatMatchesItsOutputs_causesAWarning(
        _ pattern: String, _ destination: String, _ isExpected: Bool
    ) throws {
        let snippet = try JobFileSnippet("one: { asset: \"\(pattern)\", destination: \"\(destination)\" }")
        let found = warnings(snippet, ["in/a.mp4", "in/b.mp4"])
        let output = try snippet.file.absolutePath(
            Located(destination.replacing("${asset.stem}", with: "a"), at: snippet.job("one").id.range))
        let message =
            "warning pattern-takes-outputs at \"\(pattern)\": the pattern `\(pattern)` also matches outputs of this job: the next run would read \(output) as a source"
        #expect(found.messages == (isExpected ? [message] : []))
        #expect(found.notes == (isExpected ? ["\"\(destination)\""] : []))
    }

    /// The pattern that matches an output is reported, unless an exception omits the output. A path of the list is no
    /// pattern.
    @Test(arguments: [
        ("[ \"a/*.mp4\", \"in/*.mp4\" ]", "in/*.mp4"), ("[ in/a-2.mp4, \"in/*.mkv\" ]", nil),
        ("[ \"in/*.mp4\" ], except: [ \"in/*-2.mp4\" ]", nil),
        ("[ \"in/*.mp4\" ], except: [ \"in/*-3.mp4\", \"*-2.mp4\" ]", "in/*.mp4"),
    ])
    func listOfPatterns_thatMatchesItsOutputs_causesAWarning(_ paths: String, _ expected: String?) throws {
        let snippet = try JobFileSnippet(
            "one: { asset: { paths: \(paths) }, destination: \"in/${asset.stem}-2.mp4\" }")
        let found = warnings(snippet, ["in/a.mp4", "in/b.mp4"])
        let messages = [expected].compactMap(\.self).map {
            "warning pattern-takes-outputs at \"\($0)\": the pattern `\($0)` also matches outputs of this job: the next run would read /jobs/in/a-2.mp4 as a source"
        }
        #expect(found.messages == messages)
    }

    /// Each job is compared with its own pattern only, and causes at most one warning.
    @Test func pattern_isComparedWithItsOwnJob() throws {
        let snippet = try JobFileSnippet(
            "one: { asset: \"in/*.mp4\", destination: \"out/${asset.stem}.mp4\" }",
            "two: { asset: \"out/*.mp4\", destination: \"in/${asset.stem}.mp4\" }",
            "three: { asset: \"x/*.mp4\", outputs: { a: { destination: \"y/${asset.stem}.mp4\" }, b: { destination: \"x/${asset.stem}-b.mp4\" } } }",
            "plain: { asset: in/a.mp4, destination: in/c.mp4 }")
        var sink = DiagnosticSink()
        PatternCheck.warn(
            [snippet.file], expanded: [expanded(snippet, ["x/a.mp4", "x/b.mp4"])], into: &sink)
        #expect(
            snippet.messages(sink) == [
                "warning pattern-takes-outputs at \"x/*.mp4\": the pattern `x/*.mp4` also matches outputs of this job: the next run would read /jobs/x/a-b.mp4 as a source"
            ])
    }

    /// At most 64 instances of a pattern are compared, so that the check takes constant time.
    @Test(arguments: [("???", true), ("????", false)])
    func pattern_withManyMatches_isComparedWithTheFirst(_ name: String, _ isExpected: Bool) throws {
        // The names of the outputs are a0 to a119.
        let found = warnings(
            try JobFileSnippet("one: { asset: \"in/\(name).mp4\", destination: \"in/a${index}.mp4\" }"),
            (0..<120).map { "in/\($0)x.mp4" })
        #expect(found.messages.isEmpty != isExpected)
    }

    // MARK: Refusals

    private func refusals(
        _ snippet: JobFileSnippet, only names: [String] = [], _ locations: SourceRange...,
        severity: Severity = .error
    ) -> [String] {
        var sink = DiagnosticSink()
        for location in locations {
            if severity == .error {
                sink.error(.noMatch, "no file", at: location)
            } else {
                sink.warning(.noMatch, "no file", at: location)
            }
        }
        return PatternCheck.refusals(sink, of: [snippet.file], only: names).map {
            "\($0.file) \($0.id) \($0.diagnostics.count)"
        }
    }

    /// Every job that reads a pattern of `assets` is refused.
    @Test func pattern_withoutMatch_refusesItsReaders() throws {
        let to = "destination: \"out/${job}-${asset.stem}.mp4\""
        let snippet = try JobFileSnippet(
            "one: { asset: clips, \(to) }", "two: { asset: clips, \(to) }", "three: { asset: b.mp4, \(to) }",
            head: "assets: { clips: \"in/*.mp4\" }")
        let location = try #require(snippet.file.jobs[0].asset.patterns?.range)
        #expect(snippet.text(at: location) == "\"in/*.mp4\"")
        #expect(refusals(snippet, location) == ["/jobs/jobs.yaml one 1", "/jobs/jobs.yaml two 1"])
        #expect(refusals(snippet, only: ["two"], location) == ["/jobs/jobs.yaml two 1"])
        #expect(refusals(snippet, only: ["two[a]"], location) == ["/jobs/jobs.yaml two 1"])
        #expect(refusals(snippet, only: ["three", "tw"], location) == [])
        #expect(refusals(snippet, location, severity: .warning) == [])
    }

    /// Every job that reads a list of `assets` is refused for an error of one of its patterns or exceptions.
    @Test func patternOfAList_refusesItsReaders() throws {
        let to = "destination: \"out/${job}-${asset.stem}.mp4\""
        let snippet = try JobFileSnippet(
            "one: { asset: clips, \(to) }",
            "two: { composition: [ clips ], tracks: [ { video: first, encode: { codec: h264 } } ], \(to) }",
            head: "assets: { clips: { paths: [ \"in/*.mp4\", \"in/*.mov\" ], except: [ in/a.mp4 ] } }")
        let patterns = try #require(snippet.file.jobs[0].asset.patterns)
        let readers = ["/jobs/jobs.yaml one 1", "/jobs/jobs.yaml two 1"]
        #expect(refusals(snippet, patterns.entries[1].written.range) == readers)
        #expect(refusals(snippet, patterns.exceptions[0].written.range) == readers)
        #expect(refusals(snippet, patterns.range) == readers)
    }

    /// Errors of expanding a job are located inside of it.
    @Test func errorInAJob_refusesTheJob() throws {
        let snippet = try JobFileSnippet(
            "one: { asset: a.mp4, destination: 1.mp4 }",
            "two: { asset: \"in/*.mp4\", destination: \"${asset.stem}.mp4\" }",
            "three: { asset: b.mp4, destination: 3.mp4 }")
        let two = snippet.file.jobs[1]
        let pattern = try #require(two.asset.patterns?.range)
        let destination = try #require(two.outputs[0].destination?.path.range)
        #expect(refusals(snippet, destination) == ["/jobs/jobs.yaml two 1"])
        #expect(refusals(snippet, pattern, two.id.range) == ["/jobs/jobs.yaml two 2"])
        let three = snippet.file.jobs[2].id.range
        #expect(
            refusals(snippet, three, destination) == ["/jobs/jobs.yaml two 1", "/jobs/jobs.yaml three 1"])
    }

    /// An error outside of all jobs is refused under its location, so that it isn't lost.
    @Test func errorOutsideOfJobs_isRefusedByItsLocation() throws {
        let snippet = try JobFileSnippet("one: { asset: a.mp4, destination: 1.mp4 }")
        #expect(
            refusals(snippet, .startOfFile("/jobs/other.yaml")) == ["/jobs/other.yaml pattern[1:1] 1"])
        #expect(refusals(snippet, only: ["one"], .startOfFile("/jobs/other.yaml")) == [])
    }
}
