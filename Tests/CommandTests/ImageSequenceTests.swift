import Foundation
import Media
import TestSupport
import Testing

/// Tests image sequences and still images as video sources.
@Suite struct ImageSequenceTests {
    /// Creates an image sequence with more files than a worker may have open at once.
    private func source(_ seconds: Int = 30) throws -> Scratch {
        let scratch = try Scratch()
        try FileManager.default.createDirectory(
            atPath: scratch.file("r"), withIntermediateDirectories: true)
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=24:duration=\(seconds)", "-start_number", "7",
            scratch.file("r/f-%04d.png"))
        return scratch
    }

    private func run(_ jobs: String, in scratch: Scratch, _ arguments: String...) throws -> ProgramResult {
        try scratch.write(
            """
            version: 1
            assets:
              frames: { images: "r/f-%04d.png", frame_rate: 24 }
              card: { image: r/f-0100.png, duration: 2.5s, frame_rate: 10 }
            jobs:
            \(jobs)

            """, to: "jobs.yaml")
        return try program(TestPaths.tandem, ["run", "jobs.yaml"] + arguments, directory: scratch.path)
    }

    private let lossless = "tracks: [ { video: first, encode: { codec: ffv1, pixel_format: bgr0 } } ]"

    @Test(arguments: ["worker", "none"]) func eachImageIsAFrame(_ isolation: String) throws {
        let scratch = try source()
        let result = try run(
            """
              all: { asset: frames, \(lossless), destination: out/all.mkv }
              part: { asset: frames, range: { start: 240f, duration: 2s }, \(lossless), destination: out/part.mkv }
              joined: { asset: frames, range: [ { start: 20s, end: 21s }, { start: 1s, end: 2s } ], \(lossless), destination: out/joined.mkv }
              card: { asset: card, \(lossless), destination: out/card.mkv }
              stills: { asset: frames, images: { at: [0s, 100f, end] }, destination: "out/s-${image.number}.png" }
              two:
                asset: frames
                outputs:
                  a: { \(lossless), destination: out/a.mkv }
                  b: { \(lossless), destination: out/b.mkv }
            """, in: scratch, "--isolation", isolation)
        #expect(result.status == 0, "\(result.errors)")
        let source = try rgbHashes(
            scratch.file("r/f-%04d.png"), reading: ["-start_number", "7", "-framerate", "24"])
        #expect(source.count == 720)
        #expect(try rgbHashes(scratch.file("out/all.mkv")) == source)
        #expect(try rgbHashes(scratch.file("out/part.mkv")) == Array(source[240..<288]))
        #expect(try rgbHashes(scratch.file("out/joined.mkv")) == Array(source[480..<504] + source[24..<48]))
        #expect(try rgbHashes(scratch.file("out/card.mkv")) == [String](repeating: source[93], count: 25))
        for name in ["a", "b"] { #expect(try rgbHashes(scratch.file("out/\(name).mkv")) == source) }
        for (number, frame) in [(1, 0), (2, 100), (3, 719)] {
            #expect(try rgbHashes(scratch.file("out/s-000\(number).png")) == [source[frame]])
        }
        let times = try FFmpegFile(scratch.file("out/all.mkv")).frames().times
        #expect(zip(times, 0...).allSatisfy { abs($0 - Double($1) / 24) < 0.001 })
    }

    @Test func invalidImageSourcesAreErrors() throws {
        let scratch = try source(1)
        try FileManager.default.removeItem(atPath: scratch.file("r/f-0012.png"))
        try scratch.write("no image", to: "r/t-1.png")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=24:duration=1", "-pix_fmt", "yuv420p",
            scratch.file("r/v-1.png.mkv"))
        try FileManager.default.moveItem(
            atPath: scratch.file("r/v-1.png.mkv"), toPath: scratch.file("r/v-1.png"))
        let result = try run(
            """
              gap: { asset: frames, \(lossless), destination: out/a.mkv }
              none: { asset: { images: "r/g-%d.png", frame_rate: 24 }, \(lossless), destination: out/b.mkv }
              nowhere: { asset: { images: "nowhere/%d.png", frame_rate: 24 }, \(lossless), destination: out/c.mkv }
              text: { asset: { images: "r/t-%d.png", frame_rate: 24 }, \(lossless), destination: out/d.mkv }
              movie: { asset: { image: r/v-1.png, duration: 1s }, \(lossless), destination: out/e.mkv }
              missing: { asset: { image: r/x.png, duration: 1s }, \(lossless), destination: out/f.mkv }
              copied: { asset: card2, tracks: [ { video: first, copy: true } ], destination: out/g.mov }
              heard: { asset: card2, tracks: [ { audio: first, encode: { codec: aac } } ], destination: out/h.m4a }
            """.replacingOccurrences(of: "card2", with: "{ image: r/f-0010.png, duration: 1s }"), in: scratch)
        #expect(result.status == 1)
        for words in [
            "but 12 is missing", "no file matches", "no such file",
            "its content is not a media format", "not a file with a single image",
            "image files can't be stream-copied",
            "audio",
        ] {
            #expect(result.errors.contains(words), "\(words): \(result.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.file("out")))
    }

    /// An image that can't be decoded fails the job, or is skipped and reported. An image of another size is scaled to
    /// the size of the first.
    @Test func damagedImagesFailAndOtherSizesAreScaled() throws {
        let scratch = try source(1)
        try Data([UInt8](repeating: 7, count: 500)).write(
            to: URL(fileURLWithPath: scratch.file("r/f-0015.png")))
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=48x32:rate=1:duration=1", "-update", "1", "-y",
            scratch.file("r/f-0020.png"))
        let failed = try run("  all: { asset: frames, \(lossless), destination: out/a.mkv }", in: scratch)
        #expect(failed.status == 1 && failed.errors.contains("on_damage: skip"), "\(failed.errors)")
        let result = try run(
            "  all: { asset: frames, on_damage: skip, \(lossless), destination: out/a.mkv }", in: scratch)
        #expect(result.status == 0 && result.errors.contains("damaged"), "\(result.errors)")
        let ffmpegFile = FFmpegFile(scratch.file("out/a.mkv"))
        #expect(try ffmpegFile.frames().times.count == 23)
        #expect(try ffmpegFile.decodeErrors().isEmpty)
    }

    /// Only a changed or missing image causes a rerun. Images of the source are never overwritten.
    @Test func changedImagesCauseARerun() throws {
        let scratch = try source(1)
        let job = "  all: { asset: frames, \(lossless), destination: out/a.mkv }"
        for fingerprint in ["stat", "content"] {
            #expect(try run(job, in: scratch, "--fingerprint", fingerprint).status == 0)
            let rerun = try run(job, in: scratch, "--fingerprint", fingerprint)
            #expect(rerun.errors.contains("1 of them up to date"), "\(rerun.errors)")
            try FileManager.default.removeItem(atPath: scratch.file("r/f-0030.png"))
            try FileManager.default.copyItem(
                atPath: scratch.file("r/f-0010.png"), toPath: scratch.file("r/f-0030.png"))
            try ffmpeg(
                "-i", scratch.file("r/f-0011.png"), "-vf", "negate", "-y", scratch.file("r/f-0012.png"))
            let changed = try run(job, in: scratch, "--fingerprint", fingerprint)
            #expect(changed.status == 0 && !changed.errors.contains("up to date"), "\(changed.errors)")
            try ffmpeg(
                "-i", scratch.file("r/f-0013.png"), "-vf", "negate", "-y", scratch.file("r/f-0012.png"))
        }
        let over = try run(
            "  all: { asset: frames, images: { at: 0s }, destination: { path: r/f-0012.png, if_exists: replace } }",
            in: scratch)
        #expect(
            over.status == 3 && over.errors.contains("also a source, which is never overwritten"),
            "\(over.errors)")
    }

    @Test func numberedNamesAreParsedAndFormatted() throws {
        let padded = try #require(NumberedName(path: "/a/b/f-%04d%%.png"))
        #expect(padded.path(7) == "/a/b/f-0007%.png" && padded.path(12345) == "/a/b/f-12345%.png")
        #expect(padded.number(of: "f-0007%.png") == 7 && padded.number(of: "f-12345%.png") == 12345)
        for other in ["f-007%.png", "f-00007%.png", "f-%.png", "f-0007.png", "g-0007%.png", "f-00x7%.png"] {
            #expect(padded.number(of: other) == nil, "\(other)")
        }
        let plain = try #require(NumberedName(path: "%d.png"))
        #expect(
            plain.number(of: "0.png") == 0 && plain.number(of: "10.png") == 10
                && plain.number(of: "01.png") == nil)
        let pattern = try NSRegularExpression(pattern: NumberedName.pattern)
        for (path, isOne) in [
            ("a.png", false), ("%d.png", true), ("%%d.png", false), ("%d%d.png", false), ("a%d/b.png", false),
            ("a/%05d", true), ("%5d", false), ("%00d", false), ("%018d", true), ("%019d", false),
            ("%s", false),
            ("%%%d%%", true), ("%", false), ("a/%", false), ("%d/%d", false), ("100%/%d", false),
        ] {
            #expect((NumberedName(path: path) != nil) == isOne, "\(path)")
            let range = NSRange(path.startIndex..., in: path)
            #expect((pattern.firstMatch(in: path, range: range) != nil) == isOne, "\(path)")
        }
    }

    /// Exif orientation of photos is applied: still images and slides are upright, and videos have the rotation as
    /// metadata or in their pixels.
    @Test func exifOrientationIsRespected() throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "testsrc2=s=64x48", "-frames:v", "1", scratch.file("flat.jpg"))
        let flat = try Data(contentsOf: URL(filePath: scratch.file("flat.jpg")))
        // A single 16-bit tag in IFD0; the value 6 means a rotation by 90 degrees clockwise.
        let tag: [UInt8] = [0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0]
        let exif =
            Array("Exif".utf8) + [0, 0] + Array("II*".utf8) + [0, 8, 0, 0, 0, 1, 0] + tag + [0, 0, 0, 0]
        let length = exif.count + 2
        var turned = flat.prefix(2) + Data([0xff, 0xe1, UInt8(length >> 8), UInt8(length & 0xff)] + exif)
        turned += flat.dropFirst(2)
        try turned.write(to: URL(filePath: scratch.file("photo.jpg")))
        try scratch.write(
            """
            version: 1
            jobs:
              still: { asset: ./photo.jpg, images: { at: 0s }, destination: still.png }
              coded: { asset: ./photo.jpg, images: { at: 0s, orientation: ignore }, destination: coded.png }
              slide: { composition: [ { asset: ./photo.jpg, duration: 1s } ], tracks: [ { video: first, encode: { codec: ffv1 } } ], destination: slide.mkv }
              kept: { asset: { image: photo.jpg, duration: 1s, frame_rate: 25 }, tracks: [ { video: first, encode: { codec: h264 } } ], destination: kept.mp4 }
              baked: { asset: { image: photo.jpg, duration: 1s, frame_rate: 25 }, tracks: [ { video: first, encode: { codec: h264, orientation: bake } } ], destination: baked.mp4 }
            """, to: "jobs.yaml")
        for isolation in ["worker", "none"] {
            let result = try program(
                TestPaths.tandem, ["run", "--force", "--isolation", isolation, "jobs.yaml"],
                directory: scratch.path)
            try #require(result.status == 0, "\(result.errors)")
            for (name, size) in [
                ("still.png", "48x64"), ("coded.png", "64x48"), ("slide.mkv", "48x64"), ("kept.mp4", "64x48"),
                ("baked.mp4", "48x64"),
            ] {
                let stream = try FFmpegFile(scratch.file(name)).stream("v:0", "width,height")
                #expect(
                    "\(stream["width"] ?? "")x\(stream["height"] ?? "")" == size, "\(name): \(stream)")
                let rotation = (stream["side_data_list"] as? [[String: Any]])?.first?["rotation"] as? Int
                #expect(rotation == (name == "kept.mp4" ? -90 : nil), "\(name): \(stream)")
            }
        }
        // The pixels match ffmpeg's `transpose`.
        try ffmpeg("-i", scratch.file("flat.jpg"), "-vf", "transpose=clock", scratch.file("r.png"))
        let psnr = try FFmpegFile(scratch.file("still.png")).lowestPSNR(
            against: FFmpegFile(scratch.file("r.png")), first: 0, count: 1, own: 0)
        #expect(psnr > 30, "\(psnr)")
    }
}
