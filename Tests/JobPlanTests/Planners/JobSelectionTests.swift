import Diagnostics
import JobSpec
import TestSupport
import Testing

@testable import JobPlan

/// The jobs of an invocation that names some of them.
@Suite struct JobSelectionTests {
    private func snippet() throws -> JobFileSnippet {
        try JobFileSnippet(
            "a: { asset: a.mp4, destination: a.mkv }", "b: { asset: { job: a }, destination: b.mkv }",
            "c: { asset: c.mp4, needs: [ b ], destination: c.mkv }",
            "d: { asset: d.mp4, matrix: { crf: [ 1, 2 ] }, destination: \"d-${matrix.crf}.mkv\" }",
            "e: { asset: e.mp4, outputs: { hd: { tracks: [ { video: first, copy: true } ], destination: e.mkv } } }",
            "f: { asset: f.mkv, tracks: [ { audio: all, copy: true } ], destination: \"f${track.index}.mkv\" }"
        )
    }

    private func select(
        _ names: String..., written: Set<String> = []
    ) throws -> (jobs: [String], diagnostics: [Diagnostic]) {
        var files = [try snippet().file]
        var sink = DiagnosticSink()
        JobSelection(names: names, argument: "--only", written: written).apply(to: &files, into: &sink)
        return (files.flatMap(\.jobs).map(\.id.value), sink.diagnostics)
    }

    /// A job is kept with those that it reads or needs, in the order of the file. A name without a label selects all
    /// instances.
    @Test(arguments: [
        ("a", ["a"]), ("b", ["a", "b"]), ("c", ["a", "b", "c"]), ("d", ["d[crf=1]", "d[crf=2]"]),
        ("d[crf=2]", ["d[crf=2]"]),
    ]) func jobsAreKeptWithThoseThatTheyRequire(_ name: String, _ expected: [String]) throws {
        let (jobs, diagnostics) = try select(name)
        #expect(jobs == expected && diagnostics.isEmpty)
    }

    @Test func severalNamesSelectAllOfTheirJobs() throws {
        let (jobs, diagnostics) = try select("e", "a", "d[crf=1]")
        #expect(jobs == ["a", "d[crf=1]", "e"] && diagnostics.isEmpty)
    }

    /// Unknown names are errors at the argument, with help about similar names, instances and outputs.
    @Test(arguments: [
        ("aa", "did you mean `a`?"), ("d[crf=7]", "did you mean `d[crf=1]`?"),
        ("e/hd", "it is an output of the job `e`; outputs of a job can't be selected individually"),
        ("f/audio:1", "it is an output of the job `f`; outputs of a job can't be selected individually"),
        ("d[something]", "2 instances of `d`: `d[crf=1]`, `d[crf=2]`"),
    ]) func unknownNamesAreErrors(_ name: String, _ help: String) throws {
        let found = try #require(try select(name).diagnostics.first)
        #expect(found.rule == .undefinedName && found.message == "unknown job `\(name)`")
        #expect(found.help == help && found.range == .argument("--only"))
    }

    /// A job without instances, such as one whose pattern matches no file, is known.
    @Test func namesOfJobsWithoutInstancesAreKnown() throws {
        let (jobs, diagnostics) = try select("none", written: ["none"])
        #expect(jobs == [] && diagnostics.isEmpty)
    }

    /// With an earlier plan, only its jobs remain.
    @Test func jobsOfAnEarlierPlanAreKept() throws {
        var files = [try snippet().file]
        let plan = try OutputPlanTests.plan(OutputPlanTests.kinds[4])
        var job = plan
        (job.file, job.id) = (files[0].path, "d[crf=2]")
        JobSelection.keep(BatchPlan(jobs: [job], refusals: []), in: &files)
        #expect(files.flatMap(\.jobs).map(\.id.value) == ["d[crf=2]"])
    }
}
