import Diagnostics
import JobPlan
import JobSpec
import TestSupport
import Testing

/// Frame numbers beyond the last frame of the source or the range are errors.
@Suite struct FrameNumberPlanTests {
    /// The error message contains the frame number and the valid range.
    @Test(arguments: [
        ("range: { start: 75f }", "frame 75 doesn't exist: the video track has 75 frames, 0f to 74f"),
        (
            "range: { start: 1s, end: 76f }",
            "frame 76 doesn't exist: the video track has 75 frames, 0f to 74f"
        ),
        ("range: { start: 70f, duration: 6f }", "the range has 6 frames, but only 5 remain after 2.8 s"),
        (
            "range: { start: 70f }, chapters: [ { start: 5f, title: x } ]",
            "frame 5 doesn't exist: the range has 5 frames, 0f to 4f"
        ),
    ])
    func frameNumbersBeyondTheEndAreErrors(_ keys: String, _ message: String) throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=3", "-c:v", "libx264",
            scratch.file("bare.h264"))
        let yaml =
            "version: 1\njobs:\n  one: { asset: ./bare.h264, \(keys), tracks: [ { video: first, encode: { codec: h264 } } ], destination: o.mp4 }\n"
        let (file, sink) = decode(yaml, directory: scratch.path)
        let result = BatchPlanner.plan([try #require(file)])
        #expect(!sink.hasErrors)
        #expect(result.diagnostics.diagnostics.map(\.message) == [message])
    }
}
