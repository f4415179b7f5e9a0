import Foundation
import JobRun
import TestSupport
import Testing

@Suite struct CoverTests {
    /// A cover's own bytes, wherever the container keeps it.
    private func cover(of path: String) throws -> Data? {
        let result = try program(
            "ffmpeg",
            ["-v", "error", "-nostdin", "-i", path, "-map", "0:v:0", "-c", "copy", "-f", "image2pipe", "-"])
        return result.status == 0 && !result.output.isEmpty ? result.output : nil
    }

    /// Covers are kept as they are where the container has a place for them, and are no video tracks.
    @Test(arguments: [
        ("flac", "copy: true", true), ("m4a", "encode: { codec: aac }", true),
        ("mp4", "encode: { codec: aac }", true),
        ("mp3", "encode: { codec: mp3 }", true), ("mkv", "copy: true", true), ("ogg", "copy: true", false),
        ("wav", "encode: { codec: pcm_s16le }", false),
    ])
    func coversGoAlong(_ container: String, _ action: String, _ isKept: Bool) async throws {
        let scratch = try Scratch()
        let source = scratch.file("source.flac")
        try ffmpeg(
            "-f", "lavfi", "-i", "sine=d=1", "-f", "lavfi", "-i", "testsrc2=size=64x64:rate=1:duration=1",
            "-map",
            "0", "-map", "1", "-c:a", "flac", "-c:v", "png", "-disposition:v", "attached_pic", source)
        let frame = try #require(try cover(of: source))
        for keep in ["all", "[cover]", "none", "[title]"] {
            let output = scratch.file("out-\(keep.filter(\.isLetter)).\(container)")
            _ = try success(
                try await run(
                    """
                    version: 1
                    jobs:
                      it:
                        asset: \(source)
                        metadata: { keep: \(keep) }
                        tracks: [{ audio: first, \(action) }]
                        destination: \(output)
                    """, in: scratch.path))
            let isWanted = isKept && (keep == "all" || keep == "[cover]")
            #expect(try cover(of: output) == (isWanted ? frame : nil), "\(keep)")
            if isWanted {
                let stream = try Judge(output).stream("v:0", "codec_name:stream_disposition=attached_pic")
                #expect((stream["disposition"] as? [String: Int])?["attached_pic"] == 1)
            }
        }
        // It is no video track.
        let outcomes = try await run(
            """
            version: 1
            jobs:
              it: { asset: \(source), tracks: [{ video: first, copy: true }], destination: no.mkv }
            """, in: scratch.path)
        #expect(throws: JudgeError.self) { try success(outcomes) }
    }
}
