import Diagnostics
import JobSpec
import LibAV
import TestSupport
import Testing

@testable import JobPlan
@testable import JobRun
@testable import PlanWork
@testable import Media

/// Locations of failures: an error of a track points at the rule that selects or creates the track.
@Suite struct WorkFailuresTests {
    private static let failure = AVError(code: -5, operation: "test")
    private static let yaml = """
        version: 1
        jobs:
          one:
            asset: ./a.mkv
            outputs:
              web:
                tracks:
                  - { video: first, encode: { codec: h264, preset: ultrafast } }
                  - { video: first, encode: { codec: h264, bitrate: 100k, passes: 2 } }
                  - { audio: all, mix: true, encode: { codec: aac } }
                destination: out/web.mkv
              poster:
                images: { at: [ 0s ] }
                destination: out/p.png
        """
    private let plan: JobPlan

    init() throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=d=1:r=25:s=64x48", "-f", "lavfi", "-i", "sine=d=1", "-map", "0",
            "-map",
            "1", "-map", "1", "-c:v", "mpeg4", scratch.file("a.mkv"))
        let (file, sink) = decode(Self.yaml, directory: scratch.path)
        try #require(!sink.hasErrors, "\(rendered(sink, Self.yaml))")
        let result = BatchPlanner.plan([try #require(file)])
        plan = try #require(result.plan.jobs.first, "\(result.diagnostics.diagnostics)")
    }

    /// Returns the text of the line in the job file that an error points at, without indentation.
    private func line(of error: MediaError, in task: WorkTask?) -> String {
        let line = WorkFailures(plan: plan, task: task).failure(of: error).location.line
        return String(Self.yaml.split(separator: "\n")[line - 1].drop { $0 == " " }.prefix(40))
    }

    /// A first pass has only one of the tracks, as the first input of its writer.
    @Test func failedFirstPass_pointsAtTheRuleWithTwoPasses() {
        let track = TrackReference.output(index: 0, .video, id: 1)
        #expect(
            line(of: .encoding(track: track, Self.failure), in: .firstPass(input: 0))
                == "- { video: first, encode: { codec: h264, bitrate: 1".prefix(40))
    }

    @Test func secondTrackOfAMix_pointsAtTheMix() {
        let track = TrackReference.source(index: 2, .media(.audio))
        #expect(line(of: .damaged(track: track, at: nil), in: .encode(input: 0)).hasPrefix("- { audio: all"))
    }

    @Test func errorsOfCopies_pointAtTheirRules() {
        let track = TrackReference.output(index: 2, .audio, id: 2)
        for error: MediaError in [
            .gap(track: track, container: "wav", from: .zero, to: .zero),
            .startsBetweenKeyFrames(track: track, container: "mkv", keyFrame: .zero, start: .zero),
            .endsInsideGroup(track: track, container: "mkv", end: .zero),
            .incompatiblePacket(track: track, at: .zero, container: "mkv", Self.failure),
        ] {
            #expect(line(of: error, in: .encode(input: 0)).hasPrefix("- { audio: all"), "\(error)")
        }
    }

    /// The library's errors don't name keys of job files; the failures of jobs do.
    @Test func errorsOfCopies_haveARemedyInTermsOfTheJobFile() {
        let track = TrackReference.output(index: 2, .audio, id: 2)
        let second = MediaTime(value: 1, timescale: 1)
        for (error, message) in [
            (
                .noTimes(track: track),
                "a.mkv, audio 2: its packets have no presentation times, so they can't be copied (use `encode`, which determines the times by decoding)"
            ),
            (
                .hiddenBetween(track: track, at: second),
                "audio 2, 1 s: the source hides frames (edits or overlapping fragments), which a copy would present (use `encode`)"
            ),
            (
                .gap(track: track, container: "wav", from: .zero, to: second),
                "audio 2: there is a gap from 0 s to 1 s, which wav can't represent (use `encode`, which fills the gap with silence)"
            ),
            (
                .endsInsideGroup(track: track, container: "mkv", end: second),
                "audio 2: frames before 1 s refer to later ones, which mkv can't hide (end the range at a keyframe, use mp4 or mov without `fragment`, or `encode`)"
            ),
        ] as [(MediaError, String)] {
            #expect(!"\(error)".contains("`"), "\(error)")
            let failure = WorkFailures(plan: plan, task: .encode(input: 0)).failure(of: error)
            #expect(failure.message == message)
        }
    }

    @Test func errorOfAnImage_pointsAtTheImages() {
        #expect(
            line(of: .encoding(track: .part(.image), Self.failure), in: .produce(output: 1))
                == "images: { at: [ 0s ] }")
        #expect(line(of: .writing(Self.failure), in: .produce(output: 1)) == "destination: out/p.png")
    }

    @Test func errorOutsideTheTasks_pointsAtTheJob() {
        #expect(line(of: .misuse("test"), in: nil) == "one:")
        #expect(line(of: .writing(Self.failure), in: .encode(input: 0)) == "destination: out/web.mkv")
        let unknown = TrackReference.output(index: 7, .video, id: 70)
        #expect(line(of: .encoding(track: unknown, Self.failure), in: .encode(input: 0)) == "one:")
    }
}
