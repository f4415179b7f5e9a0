import Diagnostics
import Engine
import FileSystem
import Foundation
import JobPlan
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

/// Tests the pipeline from job files to a run, without worker processes.
@Suite struct PipelineTests {
    private static let source = "asset: ./s.wav, tracks: [ { audio: first, encode: { codec: flac } } ]"

    private func load(_ jobs: String, in scratch: Scratch) throws -> JobFileSet {
        let path = try scratch.write("version: 1\njobs:\n\(jobs)\n", to: "jobs.yaml")
        return JobFileSet(
            files: [path], variables: [:],
            access: SourceAccess(sources: SourceEnvironment(), isUntrusted: false))
    }

    private func scratchWithSource() throws -> Scratch {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=duration=0.2", scratch.file("s.wav"))
        return scratch
    }

    @Test func errorsInTheFileEndThePipelineBeforeEncodersOpen() throws {
        let set = try load(
            "  a: { \(Self.source), destination: a.flac, colour: red }", in: try Scratch())
        #expect(set.diagnostics.hasErrors)
        let rejection = #expect(throws: Pipeline.Rejection.self) { _ = try set.loaded.checked() }
        #expect(rejection?.status == .invalidSpec)
        #expect(rejection?.diagnostics.diagnostics.first?.rule == .unknownKey)
    }

    @Test func warningsEndThePipelineIfTheyAreErrors() throws {
        var sink = DiagnosticSink()
        sink.warning(.jobWarning, "something", at: .argument("test"))
        let loaded = Pipeline.Loaded(files: [], diagnostics: sink)
        _ = try loaded.checked()
        let rejection = #expect(throws: Pipeline.Rejection.self) {
            _ = try loaded.checked(Pipeline.Strictness(warningsAreErrors: true))
        }
        #expect(rejection?.status == .invalidSpec)
    }

    @Test func settingsThatTheDryOpenRejectsEndThePipelineBeforeSourcesAreRead() throws {
        // The source doesn't exist, so only the dry open can cause the error.
        let set = try load(
            """
              a:
                asset: ./s.mp4
                tracks: [ { video: first, encode: { codec: h264, filters: "eq=brightness=none" } } ]
                destination: a.mp4
            """, in: try Scratch())
        let checked = try set.loaded.checked()
        let rejection = #expect(throws: Pipeline.Rejection.self) { _ = try checked.opened(by: LocalProber()) }
        #expect(rejection?.diagnostics.diagnostics.first?.range.line == 5)
        // `validate` reports the same diagnostics without the pipeline.
        #expect(set.loaded.allDiagnostics(LocalProber()).errorCount == rejection?.diagnostics.errorCount)
    }

    @Test func collidingOutputsArePlannedButNotRunnable() throws {
        let scratch = try scratchWithSource()
        let set = try load(
            """
              a: { \(Self.source), destination: out/x.flac }
              b: { \(Self.source), destination: ./out/../out/x.flac }
            """, in: scratch)
        let planned = try set.loaded.checked().opened(by: LocalProber()).planned()
        #expect(planned.conflicts.hasErrors)
        let rejection = #expect(throws: Pipeline.Rejection.self) { _ = try planned.runnable() }
        #expect(rejection?.status == .invalidSpec)
    }

    @Test func jobsThatCannotBePlannedLeaveTheOthersRunnable() throws {
        let scratch = try scratchWithSource()
        let set = try load(
            """
              a: { \(Self.source), destination: out/a.flac }
              b: { asset: ./none.wav, tracks: [ { audio: first, encode: { codec: flac } } ], destination: out/b.flac }
            """, in: scratch)
        let runnable = try set.loaded.checked().opened(by: LocalProber()).planned().runnable()
        #expect(runnable.planned.plan.jobs.map(\.id) == ["a"])
        #expect(runnable.planned.plan.refusals.map(\.id) == ["b"])
    }

    @Test func untrustedFilesAreConfinedToTheirFolder() throws {
        let scratch = try Scratch()
        try scratch.write("version: 1\n", to: "in/a.yaml")
        let access = try SourceAccess.granted(
            root: nil, isUntrusted: true, allowsNetwork: false, for: [scratch.file("in/a.yaml")])
        #expect(access.root.contains(access.root.path! + "/x") && !access.root.contains("/etc/passwd"))
        try FileManager.default.createSymbolicLink(
            atPath: scratch.file("link"), withDestinationPath: scratch.file("in"))
        let linked = #expect(throws: EngineError.self) {
            _ = try SourceAccess.granted(
                root: nil, isUntrusted: true, allowsNetwork: false, for: [scratch.file("link/a.yaml")])
        }
        #expect(linked?.status == .usage)
        let missing = #expect(throws: EngineError.self) {
            _ = try SourceAccess.granted(
                root: scratch.file("none"), isUntrusted: false, allowsNetwork: false, for: [])
        }
        #expect(missing?.status == .environment)
    }
}
