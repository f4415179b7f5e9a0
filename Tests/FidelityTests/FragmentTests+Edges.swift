import Foundation
import JobRun
import Media
import TestSupport
import Testing

/// Tests of fragment boundaries, and of the last packet of a track.
extension FragmentTests {
    /// The last packet is kept for codecs whose packets don't determine their duration.
    @Test(arguments: ["", "fragment: 1s"]) func lastFrameIsKept(_ more: String) async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=2", "-frames:v", "30", "-c:v", "libx265", "-bf",
            "0", "-x265-params", "log-level=none:bframes=0", "-movflags", "frag_keyframe+empty_moov",
            scratch.file("s.mp4"))
        let result = try success(
            try await run(
                """
                version: 1
                jobs:
                  j:
                    asset: ./s.mp4
                    \(more.isEmpty ? "x-more: none" : more)
                    tracks: [ { video: first, copy: true } ]
                    destination: o.mp4
                """, in: scratch.path))
        #expect(result.outputs[0].duration == MediaTime(value: 6, timescale: 5))
        #expect(try FFmpegFile(scratch.file("o.mp4")).decodedFrames().count == 30)
        #expect(try MovieBoxes(scratch.file("o.mp4")).editDurations[0]?.media == 1.2)
    }

    /// Fragments start only at video keyframes, even with sparse subtitles. A cover is dropped.
    @Test func onlyVideoKeyframesBeginFragments() async throws {
        let scratch = try Scratch()
        try scratch.write(
            "1\n00:00:00,000 --> 00:00:01,000\na\n\n2\n00:00:03,500 --> 00:00:05,000\nb\n", to: "c.srt")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=8", "-f", "lavfi", "-i", "sine=d=8", "-i",
            scratch.file("c.srt"), "-f", "lavfi", "-i", "testsrc2=s=64x64:r=1:d=1", "-map", "0", "-map", "1",
            "-map", "2", "-map", "3", "-c:v:0", "libx264", "-g:v:0", "20", "-c:a", "aac", "-c:s", "mov_text",
            "-c:v:1", "png", "-disposition:v:1", "attached_pic", scratch.file("s.mp4"))
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  j:
                    asset: ./s.mp4
                    fragment: 1s
                    tracks:
                      - { video: first, copy: true }
                      - { audio: first, copy: true }
                      - { subtitle: all, copy: true }
                    destination: o.mp4
                """, in: scratch.path))
        let output = scratch.file("o.mp4")
        let scale = try FFmpegFile(output).timescale("v:0")
        let starts = try MovieBoxes(output).fragmentStarts(trackID: 1).map { Double($0) / scale }
        #expect(starts == [0, 1.6, 3.2, 4.8, 6.4])
        #expect(try FFmpegFile(output).count("v") == 1)
    }
}
