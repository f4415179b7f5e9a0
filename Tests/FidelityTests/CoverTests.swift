import Foundation
import JobRun
import TestSupport
import Testing

@Suite struct CoverTests {
    /// Returns the bytes of a file's cover; nil if it has none.
    private func cover(of path: String) throws -> Data? {
        let result = try program(
            "ffmpeg",
            ["-v", "error", "-nostdin", "-i", path, "-map", "0:v:0", "-c", "copy", "-f", "image2pipe", "-"])
        return result.status == 0 && !result.output.isEmpty ? result.output : nil
    }

    /// Covers are copied unchanged into containers that can store them, and aren't selected as video tracks.
    @Test(arguments: [
        ("flac", "copy: true", true), ("m4a", "encode: { codec: aac }", true),
        ("mp4", "encode: { codec: aac }", true),
        ("mp3", "encode: { codec: mp3 }", true), ("mkv", "copy: true", true), ("ogg", "copy: true", false),
        ("wav", "encode: { codec: pcm_s16le }", false),
    ])
    func coversAreCopied(_ container: String, _ action: String, _ isKept: Bool) async throws {
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
                let stream = try FFmpegFile(output).stream(
                    "v:0", "codec_name:stream_disposition=attached_pic")
                #expect((stream["disposition"] as? [String: Int])?["attached_pic"] == 1)
            }
        }
        // The cover isn't selected as a video track.
        let outcomes = try await run(
            """
            version: 1
            jobs:
              it: { asset: \(source), tracks: [{ video: first, copy: true }], destination: no.mkv }
            """, in: scratch.path)
        #expect(throws: ProgramError.self) { try success(outcomes) }
    }
}

/// Tests covers from image files (`metadata: { cover }`).
@Suite struct CoverFileTests {
    /// Creates a folder with two images, and a source with video, audio and a cover.
    private func folder() throws -> Scratch {
        let scratch = try Scratch()
        for (name, codec) in [("art.jpg", "mjpeg"), ("art.png", "png"), ("old.png", "png")] {
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc=size=\(name == "old.png" ? "48x48" : "96x64"):rate=1",
                "-frames:v", "1", "-c:v", codec, scratch.file(name))
        }
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x64:rate=25:duration=1", "-f", "lavfi", "-i", "sine=d=1",
            "-i", scratch.file("old.png"), "-map", "0", "-map", "1", "-map", "2", "-c:v:0", "mpeg4", "-c:a",
            "aac", "-c:v:1", "copy", "-disposition:v:1", "attached_pic", scratch.file("a.mp4"))
        try ffmpeg("-i", scratch.file("a.mp4"), "-map", "0:a", "-c:a", "libmp3lame", scratch.file("a.mp3"))
        try ffmpeg(
            "-i", scratch.file("a.mp4"), "-map", "0:a", "-map", "0:v:1", "-c:v", "copy", "-disposition:v",
            "attached_pic", scratch.file("a.flac"))
        return scratch
    }

    private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    /// Returns the attached pictures of a file, extracted by ffmpeg.
    private func pictures(of path: String) throws -> [Data] {
        let probed = try FFmpegFile(path).probe([
            "-show_entries", "stream=index:stream_disposition=attached_pic",
        ])
        let streams = probed["streams"] as? [[String: Any]] ?? []
        let indices = streams.compactMap { stream -> Int? in
            (stream["disposition"] as? [String: Int])?["attached_pic"] == 1 ? stream["index"] as? Int : nil
        }
        return try indices.map { index in
            let result = try program(
                "ffmpeg",
                [
                    "-v", "error", "-nostdin", "-i", path, "-map", "0:\(index)", "-c", "copy", "-f",
                    "image2pipe", "-",
                ])
            return result.output
        }
    }

    /// The bytes of the image file are the output's only cover, in every container that supports covers, for copies and
    /// encodes.
    @Test(
        arguments: [
            ("a.mp4", "o.mp4", "{ video: first, copy: true }, { audio: first, copy: true }"),
            ("a.mp4", "o.mp4", "{ video: first, encode: { codec: h264, preset: ultrafast } }"),
            ("a.mp4", "o.m4a", "{ audio: first, copy: true }"),
            ("a.mp4", "o.m4a", "{ audio: first, encode: { codec: alac } }"),
            ("a.mp3", "o.mp3", "{ audio: first, copy: true }"),
            ("a.mp4", "o.mp3", "{ audio: first, encode: { codec: mp3 } }"),
            ("a.flac", "o.flac", "{ audio: first, copy: true }"),
            ("a.mp4", "o.flac", "{ audio: first, encode: { codec: flac } }"),
            ("a.mp4", "o.mkv", "{ video: first, copy: true }, { audio: first, copy: true }"),
            ("a.mp4", "o.mka", "{ audio: first, encode: { codec: opus } }"),
        ], ["art.jpg", "art.png"])
    func outputHasTheBytesOfTheImageFile(
        _ output: (source: String, name: String, rules: String), _ art: String
    )
        async throws
    {
        let scratch = try folder()
        for optimize in output.name.hasSuffix("mp4") ? [false, true] : [false] {
            let result = try success(
                try await run(
                    """
                    version: 1
                    jobs:
                      it:
                        asset: ./\(output.source)
                        metadata: { cover: ./\(art) }
                        \(optimize ? "optimize_for_network: true" : "")
                        tracks: [ \(output.rules) ]
                        destination: { path: \(output.name), if_exists: replace }
                    """, in: scratch.path))
            #expect(result.warnings == [])
            let path = scratch.file(output.name)
            #expect(try pictures(of: path) == [try bytes(scratch.file(art))])
            #expect(try FFmpegFile(path).decodeErrors() == "")
        }
        // ID3 and FLAC store the type of a picture, and players show the front cover.
        if output.name.hasSuffix("mp3") || output.name.hasSuffix("flac") {
            let stream = try FFmpegFile(scratch.file(output.name)).stream(
                "v:0", "codec_name:stream_tags=comment")
            #expect((stream["tags"] as? [String: String])?["comment"] == "Cover (front)")
        }
    }

    /// Each output of a job, a composition and an export by preset can have its own cover.
    @Test func everyKindOfJobCanHaveACover() async throws {
        let scratch = try folder()
        let records = try await run(
            """
            version: 1
            jobs:
              several:
                asset: ./a.mp4
                outputs:
                  jpg: { tracks: [ { video: first, copy: true } ], metadata: { cover: "art.${output}" }, destination: jpg.mkv }
                  png: { tracks: [ { audio: first, encode: { codec: aac } } ], metadata: { cover: "art.${output}" }, destination: png.m4a }
                  own: { tracks: [ { audio: first, copy: true } ], destination: own.m4a }
                  no: { tracks: [ { audio: first, encode: { codec: flac } } ], metadata: { keep: none }, destination: no.flac }
              joined:
                composition: [ ./a.mp4, { asset: ./a.mp4, range: { end: 0.5s } } ]
                metadata: { cover: art.jpg }
                tracks: [ { video: first, encode: { codec: h264, preset: ultrafast } }, { audio: first, encode: { codec: aac } } ]
                destination: joined.mp4
              small:
                asset: ./a.mp4
                metadata: { cover: art.png }
                export: 640x480
                destination: small.mp4
              sized:
                asset: ./a.mp4
                metadata: { cover: art.png }
                limit: { size: 20kB }
                tracks: [ { audio: first, encode: { codec: aac, bitrate: 256k } } ]
                destination: sized.m4a
            """, in: scratch.path)
        for id in ["several", "joined", "small", "sized"] { _ = try success(records, id) }
        let (jpg, png) = (try bytes(scratch.file("art.jpg")), try bytes(scratch.file("art.png")))
        let old = try bytes(scratch.file("old.png"))
        for (name, expected) in [
            ("jpg.mkv", [jpg]), ("png.m4a", [png]), ("own.m4a", [old]), ("no.flac", []),
            ("joined.mp4", [jpg]),
            ("small.mp4", [png]), ("sized.m4a", [png]),
        ] {
            #expect(try pictures(of: scratch.file(name)) == expected, "\(name)")
        }
        #expect(try bytes(scratch.file("sized.m4a")).count <= 20_000)
    }
}
