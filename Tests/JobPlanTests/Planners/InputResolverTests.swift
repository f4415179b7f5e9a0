import Diagnostics
import FileSystem
import JobSpec
import LibAV
import TestSupport
import Testing

@testable import JobPlan
@testable import Media

/// The resolution of assets to inputs, with responses of a prober by value.
@Suite struct InputResolverTests {
    /// Resolves the asset of a job. Returns the input, the errors, and the precision of each probe.
    private func resolve(
        _ asset: String, outputs: ReadOutputs = ReadOutputs(), in files: FakeDisk = FakeDisk("/jobs/a.mp4"),
        prober: FakeProber = FakeProber(.description(.file(.video(), .audio())))
    ) throws -> (input: ResolvedInput?, errors: [String], probes: [String]) {
        let snippet = try JobFileSnippet(
            "one: { asset: \(asset), tracks: [ { video: first, encode: { codec: h264 } } ], destination: o.mkv }",
            "first: { asset: a.mp4, destination: first.mp4 }")
        let catalog = SourceCatalog([snippet.file], prober: prober, disk: files)
        let resolver = InputResolver(
            catalog: catalog, file: snippet.file, outputs: outputs, keepsFullChroma: false)
        var sink = DiagnosticSink()
        let input = resolver.input(of: try snippet.job("one"), into: &sink)
        return (input, snippet.messages(sink), prober.requests.compactMap(\.path))
    }

    @Test func file_hasItsIdentity() throws {
        let found = try resolve("a.mp4")
        guard case .file("/jobs/a.mp4", let identity)? = found.input?.source else {
            return #expect(Bool(false), "\(found)")
        }
        #expect(identity == FakeDisk("/jobs/a.mp4").identity(of: "/jobs/a.mp4"))
        #expect(found.errors == [] && found.probes == ["/jobs/a.mp4"])
        #expect(found.input?.description.tracks.count == 2)
    }

    /// The language of an asset is that of the audio for which the file states none.
    @Test func language_appliesToTracksWithoutOne() throws {
        let found = try resolve("{ path: a.mp4, language: fra }")
        #expect(found.errors == [] && found.input?.description.tracks.map(\.language) == [nil, "fra"])
        let stated = SourceDescription.file(.video(), .audio { $0.language = "deu" })
        let kept = try resolve("{ path: a.mp4, language: fra }", prober: FakeProber(.description(stated)))
        #expect(kept.input?.description.tracks.map(\.language) == [nil, "deu"])
    }

    @Test func unreadableFile_isRefused() throws {
        let found = try resolve("a.mp4", prober: .failing("no media"))
        #expect(found.input == nil && found.errors == ["source-unreadable at a.mp4: a.mp4: no media"])
    }

    /// The size is the identity of a remote file, which only a worker reads.
    @Test func url_hasItsSizeAsIdentity() throws {
        let found = try resolve("{ url: \"https://example.com/a.mp4\" }", in: FakeDisk(folders: ["/jobs"]))
        #expect(
            found.input?.source
                == .file(path: "https://example.com/a.mp4", identity: FileIdentity(remoteSize: 1_000_000)))
    }

    @Test func testSignal_isNotProbed() throws {
        let found = try resolve("{ pattern: smpte, duration: 2s }", prober: FakeProber())
        guard case .pattern(let pattern)? = found.input?.source else {
            return #expect(Bool(false), "\(found)")
        }
        #expect(pattern.name == "smpte" && found.input?.description.duration == s(2) && found.probes == [])
    }

    /// The output of another job is read as it was published, or as it is planned.
    @Test func outputOfAnotherJob_isFoundByItsState() throws {
        let rejected = try resolve("{ job: first }")
        #expect(
            rejected.input == nil
                && rejected.errors == [
                    "source-unreadable at first: the job `first`, whose output is the source, was rejected"
                ])
        var outputs = ReadOutputs()
        outputs["first", nil] = .published(path: "/jobs/a.mp4")
        let published = try resolve("{ job: first }", outputs: outputs)
        guard case .file("/jobs/a.mp4", _)? = published.input?.source else {
            return #expect(Bool(false), "\(published)")
        }
        let snippet = try JobSnippet(rule: "{ video: first, copy: true }")
        let task = OutputTask(
            job: "first", file: "/jobs/jobs.yaml",
            input: InputPlan(job: snippet.job, ResolvedInput(.file, .file(.video())), PlannedExtent()),
            output: .media([.planned(.video())], of: snippet))
        outputs["first", nil] = .planned(task)
        let planned = try resolve("{ job: first }", outputs: outputs, prober: FakeProber())
        #expect(planned.input?.source == .job(id: "first", path: "/o.mp4") && planned.probes == [])
        #expect(planned.input?.description.tracks.map(\.mediaType) == [.video])
    }

    /// A source of a composition that doesn't exist is refused at the composition.
    @Test func composition_withUnreadableSource_isRefused() throws {
        let snippet = try JobFileSnippet(
            "one: { composition: [ a.mp4, b.mp4 ], tracks: [ { video: first, encode: { codec: h264 } } ], destination: o.mkv }"
        )
        let catalog = SourceCatalog([snippet.file], prober: FakeProber.failing(), disk: FakeDisk())
        let resolver = InputResolver(
            catalog: catalog, file: snippet.file, outputs: ReadOutputs(), keepsFullChroma: false)
        var sink = DiagnosticSink()
        let input = resolver.input(of: snippet.file.jobs[0], into: &sink)
        #expect(input?.source == nil)
        #expect(
            snippet.findings(sink) == ["source-unreadable at a.mp4", "source-unreadable at b.mp4"])
    }
}
