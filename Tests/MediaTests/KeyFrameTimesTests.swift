import LibAV
@testable import Media
import TestSupport
import Testing

/// Times of keyframes, which are found without the frames' data where libavformat doesn't parse it.
@Suite struct KeyFrameTimesTests {
    /// libavformat takes the flags of H.264 in mp4 from its parser. A long message before the first slice must not hide it.
    @Test(
        arguments: [
            [
                "-c:v", "libx264", "-bsf:v",
                "h264_metadata=sei_user_data=086f3693b7b34f2c965321492feee5b8+" + long,
            ],
            [
                "-c:v", "libx265", "-x265-params",
                "log-level=none:keyint=25:min-keyint=25:scenecut=0:bframes=0",
            ],
        ], [[], ["-movflags", "frag_keyframe+empty_moov"]])
    func allAreFound(_ encoding: [String], _ container: [String]) throws {
        let scratch = try Scratch()
        let path = scratch.file("a.mp4")
        try ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=s=640x360:r=25:d=5", "-pix_fmt", "yuv420p"] + encoding
                + ["-preset", "ultrafast", "-g", "25", "-crf", "8"] + container + [path])
        let contents = try Asset(.file(path)).loadSynchronously()
        let track = try #require(contents.tracks.first)
        let seconds = (0..<5).map { MediaTime(value: $0, timescale: 1) }
        let found = try contents.keyFrameTimes(
            of: track, path: path, environment: SourceEnvironment(), limit: .max)
        #expect(found == seconds)
        let half = MediaTime(value: 1, timescale: 2)
        let before = try contents.keyFrameTimes(
            before: seconds.map { $0 + half }, of: track, path: path, environment: SourceEnvironment())
        #expect(before == seconds)
    }

    private static let long = String(repeating: "x", count: 5000)
}
