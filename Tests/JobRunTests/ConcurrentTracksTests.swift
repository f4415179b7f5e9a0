import Foundation
import JobRun
import TestSupport
import Testing

/// Runs whose tracks and checks use several queues at once. They also run under ThreadSanitizer.
@Suite struct ConcurrentTracksTests {
    /// Two jobs cut and join ranges of open GOPs, with exact edges or at keyframes, beside encoded audio and
    /// subtitles. Each output is decoded again for its verification.
    @Test(arguments: ["libx264", "libx265"])
    func rangesOfOpenGOPsAreJoinedBesideAudioAndSubtitles(_ encoder: String) async throws {
        let scratch = try Scratch()
        let captions = try scratch.write(
            "1\n00:00:00,500 --> 00:00:01,500\nfirst\n\n2\n00:00:04,200 --> 00:00:04,800\nsecond\n",
            to: "captions.srt")
        let source = scratch.file("source.mkv")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=6", "-f", "lavfi", "-i",
            "sine=duration=6", "-i", captions, "-map", "0", "-map", "1", "-map", "2", "-c:v", encoder,
            "-preset", "ultrafast", "-\(encoder.dropFirst(3))-params",
            "keyint=25:min-keyint=25:open-gop=1:bframes=3:scenecut=0",
            "-c:a", "aac", "-c:s", "srt", source)
        let yaml = """
            version: 1
            assets: { source: \(source) }
            defaults:
              range: [ { start: 4.1, end: 4.6 }, { start: 1.1, end: 2.6 } ]
              tracks: [ { video: first, copy: true }, { audio: first, encode: { codec: flac } }, { subtitle: first, encode: { codec: ass } } ]
            jobs:
              smart: { asset: source, cut: smart, destination: \(scratch.file("smart.mkv")) }
              keyframe: { asset: source, cut: keyframe, destination: \(scratch.file("keyframe.mkv")) }
            """
        let records = try await run(yaml, in: scratch.path)
        for id in ["smart", "keyframe"] {
            _ = try success(records, id)
            #expect(try FFmpegFile(scratch.file("\(id).mkv")).decodeErrors() == "", "\(id)")
        }
        // Each range begins with the frame that is presented at its start. The source's frames are 23 ms late, because of
        // the priming of its audio.
        #expect(try FFmpegFile(scratch.file("smart.mkv")).decodedFrames().count == 14 + 39)
    }
}
