import Diagnostics
import FileSystem
import Foundation
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

@testable import JobPlan

@Suite struct CheckPlanTests {
    private static let signal = "{ pattern: testsrc, size: 64x48, frame_rate: 25, duration: 2s, tone: 440Hz }"

    private func plan(_ keys: String, asset: String = signal, in directory: String = "/") throws -> JobPlan {
        let text = "version: 1\njobs:\n  c: { asset: \(asset), check: true\(keys) }"
        let (file, sink) = decode(text, directory: directory)
        try #require(!sink.hasErrors, "\(rendered(sink, text))")
        let result = BatchPlanner.plan([try #require(file)])
        return try #require(result.plan.jobs.first, "\(result.diagnostics.diagnostics)")
    }

    private func digest(_ keys: String) throws -> PlanDigest {
        try PlanDigest(#require(plan(keys).tasks.first))
    }

    @Test func check_hasTracksAndNoDestination() throws {
        let plan = try plan("")
        let output = try #require(plan.outputs.first)
        #expect(plan.isValid && output.isCheck && !output.isMedia)
        #expect(output.destination == nil && output.files.isEmpty && plan.tasks[0].files.isEmpty)
        #expect(output.tracks.map(\.action) == [.read(decodes: true), .read(decodes: true)])
        #expect(output.tracks[0].expected.frames == 50 && output.tracks[1].expected.samples == 96_000)
        #expect(output.expectedDuration == MediaTime(value: 2, timescale: 1) && output.expectedSize == nil)
        #expect(plan.workGraph().nodes.map(\.task) == [.produce(output: 0)])
    }

    @Test func range_limitsDecoding() throws {
        let plan = try plan(", range: { start: 0.5s, end: 1s }")
        #expect(plan.inputs[0].range?.duration == MediaTime(value: 1, timescale: 2))
        #expect(plan.outputs[0].expectedDuration == MediaTime(value: 1, timescale: 2))
    }

    @Test func text_namesTheCheckAndCountsIt() throws {
        let (file, _) = decode(
            """
            version: 1
            jobs:
              c: { asset: \(Self.signal), check: true, expect: { frames: 50 } }
              w: { asset: \(Self.signal), needs: c, tracks: [ { audio: first, encode: { codec: flac } } ], destination: o.flac }
            """, directory: "/")
        let plan = BatchPlanner.plan([try #require(file)]).plan
        let text = PlanText.render(plan) { _ in RunReasons(lines: ["new"]) }
        #expect(text.hasPrefix("c\n  will run   new\n"), "\(text)")
        for line in [
            "  check      decodes video and audio, writes nothing\n",
            "  track 0    video rawvideo 64x48, decoded; 50 frames, 2 s\n", "  expects    frames 50\n",
            "  expected   0:02 of the source\n", "\n1 output, 1 check, 0:04 of media",
        ] { #expect(text.contains(line), "\(line) in \(text)") }
        #expect(text.components(separatedBy: "ledger").count == 2, "only the output has one: \(text)")
    }

    /// The digest depends only on source, range and expectations.
    @Test func digest_dependsOnSourceRangeAndExpectations() throws {
        let plain = try digest("")
        for keys in [", priority: 3", ", timeout: 10s", ", on_damage: skip", ", threads: 1"] {
            #expect(try digest(keys).relation(to: plain.value) == .current, "\(keys)")
        }
        #expect(try digest(", range: { end: 1s }").relation(to: plain.value) == .other)
        let expecting = try digest(", expect: { frames: 50 }")
        #expect(expecting.relation(to: plain.value) == .unevaluated)
        #expect(expecting.changes(since: plain) == ["added expectation: frames 50"])
        // A pass with skipped damage isn't valid for a check that fails on damage.
        let damaged = try digest(", on_damage: skip").afterDamage.value
        #expect(try digest(", on_damage: skip").relation(to: damaged) == .current)
        #expect(plain.relation(to: damaged) == .other)
    }

    /// A plan that combines a check with outputs is rejected.
    @Test func invalidChecks_areRejected() throws {
        let sound = try plan("")
        func isValid(_ change: (inout JobPlan) -> Void) -> Bool {
            var plan = sound
            change(&plan)
            return plan.isValid
        }
        #expect(isValid { _ in })
        #expect(!isValid { $0.outputs[0].destination = "/tmp/x" })
        #expect(!isValid { $0.outputs[0].tracks = [] })
        #expect(!isValid { $0.outputs[0].tracks[0].action = .copy })
        #expect(!isValid { $0.outputs[0].kind = .media(MediaPlan()) })
        #expect(
            !isValid {
                $0.outputs.append($0.outputs[0])
                $0.outputs[1].id = "other"
            })
    }

    /// Video and audio are decoded. For a whole file, packets of other tracks are read too. `decode: false` reads only
    /// packets.
    @Test func file_isReadWithAllItsTracks() throws {
        let scratch = try Scratch()
        try scratch.write("1\n00:00:00,000 --> 00:00:01,000\nA\n", to: "s.srt")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x48:duration=1", "-i", scratch.file("s.srt"), "-map", "0",
            "-map", "1", "-c:v", "mpeg4", "-attach", scratch.file("s.srt"), "-metadata:s:t",
            "mimetype=text/plain", scratch.file("a.mkv"))
        let whole = try plan("", asset: "./a.mkv", in: scratch.path).outputs[0]
        #expect(whole.tracks.map(\.action) == [.read(decodes: true), .read(decodes: false)])
        #expect(whole.notes.count == 1 && whole.notes[0].contains("(track 2) is not read"), "\(whole.notes)")
        let part = try plan(", range: { end: 0.5s }", asset: "./a.mkv", in: scratch.path).outputs[0]
        #expect(part.tracks.map(\.source.mediaType) == [.video])
        let text = "version: 1\njobs:\n  c: { asset: ./a.mkv, check: { decode: false } }"
        let file = try #require(decode(text, directory: scratch.path).file)
        let packets = try #require(BatchPlanner.plan([file]).plan.jobs.first)
        #expect(packets.outputs[0].tracks.map(\.action) == [.read(decodes: false), .read(decodes: false)])
    }

    /// Checks have no destinations, so they can't conflict.
    @Test func checks_haveNoCollisions() throws {
        let text = """
            version: 1
            jobs:
              c: { asset: \(Self.signal), check: true }
              d: { asset: \(Self.signal), check: true }
            """
        let result = BatchPlanner.plan([try #require(decode(text).file)])
        #expect(!result.conflicts.hasErrors && result.plan.jobs.count == 2)
        let paths = JobPaths([try #require(decode(text).file)], beneath: .anywhere)
        #expect(paths.destinations.isEmpty)
    }
}
