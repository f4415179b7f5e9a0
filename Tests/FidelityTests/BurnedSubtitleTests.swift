import Foundation
import JobRun
import TestSupport
import Testing

/// Subtitles that are drawn into frames, judged by the pixels that ffmpeg decodes.
@Suite struct BurnedSubtitleTests {
    private static let cues = """
        1
        00:00:00,500 --> 00:00:01,000
        HELLO

        2
        00:00:02,200 --> 00:00:03,200
        WORLD

        """

    /// A gray film of 4 s with PGS subtitles: a bright bar of 320x80 at (800, 900) from 0.4 s to 1.4 s, a bar of 321x81 at
    /// (801, 101) from 2 s on.
    private func folder() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write(Self.cues, to: "captions.srt")
        var stream = PresentationGraphics(width: 1920, height: 1080)
        stream.show(x: 800, y: 900, width: 320, height: 80, luma: 200, at: 0.4)
        stream.clear(at: 1.4)
        stream.show(x: 801, y: 101, width: 321, height: 81, luma: 200, at: 2)
        try Data(stream.bytes).write(to: URL(fileURLWithPath: scratch.file("s.sup")))
        try ffmpeg(
            "-f", "lavfi", "-i", "color=gray:s=1920x1080:r=25:d=4", "-copyts", "-i", scratch.file("s.sup"),
            "-map", "0:v", "-map", "1:s", "-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-c:s",
            "copy", scratch.file("film.mkv"))
        return scratch
    }

    private func run(_ encode: String, _ keys: String = "", in scratch: Scratch) async throws {
        let spec = """
            version: 1
            jobs:
              one:
                asset: ./film.mkv
                tracks: [ { video: first, encode: { codec: ffv1, \(encode) } } ]
            \(keys.isEmpty ? "" : "    \(keys)\n")    destination: { path: o.mkv, if_exists: replace }
            """
        _ = try success(try await TestSupport.run(spec, in: scratch.path))
    }

    /// The bounding box of the pixels that differ from the gray background, such as `800,900 320x80`; nil if there are
    /// none.
    private struct Shown: Equatable, CustomStringConvertible {
        var box: String?
        /// Index of the first frame with this box.
        var frame: Int
        var description: String { "\(frame): \(box ?? "nothing")" }
    }

    /// Returns the changes of the visible pixels of an output.
    private func shown(
        _ width: Int, _ height: Int, of name: String = "o.mkv", in scratch: Scratch
    ) throws -> [Shown] {
        let result = try program(
            "ffmpeg",
            ["-v", "error", "-i", scratch.file(name), "-pix_fmt", "gray", "-f", "rawvideo", "-"])
        let (pixels, size) = ([UInt8](result.output), width * height)
        var changes: [Shown] = []
        for (index, start) in stride(from: 0, to: pixels.count, by: size).enumerated() {
            var (left, top, right, bottom) = (width, height, -1, -1)
            pixels.withUnsafeBufferPointer { pixels in
                for at in 0..<size where abs(Int(pixels[start + at]) - 128) > 12 {
                    let (x, y) = (at % width, at / width)
                    (left, top, right, bottom) = (min(left, x), min(top, y), max(right, x), max(bottom, y))
                }
            }
            let box = right < 0 ? nil : "\(left),\(top) \(right - left + 1)x\(bottom - top + 1)"
            if changes.last?.box != box || changes.isEmpty { changes.append(Shown(box: box, frame: index)) }
        }
        return changes
    }

    /// Images have the position and the times of the stream, to the pixel and the frame.
    @Test func images_haveTheirPixelsAndTimes() async throws {
        let scratch = try folder()
        try await run("burn: first", in: scratch)
        #expect(
            try shown(1920, 1080, in: scratch) == [
                Shown(box: nil, frame: 0), Shown(box: "800,900 320x80", frame: 10),
                Shown(box: nil, frame: 35), Shown(box: "801,101 321x81", frame: 50),
            ])
    }

    /// Images follow scaling and crop, in each pixel format.
    @Test(arguments: ["yuv420p", "yuv420p10le", "yuv422p", "yuv422p10le", "yuv444p"])
    func images_followScalingAndCrop(_ format: String) async throws {
        let scratch = try folder()
        try await run(
            "pixel_format: \(format), crop: { x: 0, y: 140, width: 1920, height: 800 }, size: 960x400, burn: { subtitle: first }",
            "range: { end: 1.6s }", in: scratch)
        #expect(
            try shown(960, 400, in: scratch) == [
                Shown(box: nil, frame: 0), Shown(box: "400,360 160x40", frame: 10),
                Shown(box: nil, frame: 35),
            ])
    }

    /// Ranges apply to subtitles: one that is shown at the start of a range is shown from its first frame, and none
    /// continues in the next range.
    @Test func ranges_applyToImages() async throws {
        let scratch = try folder()
        try await run(
            "size: 480x270, burn: first",
            "range: [ { start: 1s, end: 1.2s }, { start: 0s, end: 0.2s }, { start: 1.2s, end: 2.2s } ]",
            in: scratch)
        let changes = try shown(480, 270, in: scratch)
        #expect(
            changes == [
                Shown(box: "200,226 80x20", frame: 0), Shown(box: nil, frame: 5),
                Shown(box: "200,226 80x20", frame: 10), Shown(box: nil, frame: 15),
                Shown(box: "200,26 80x20", frame: 30),
            ])
    }

    /// Text of a file appears at its times, with the ranges of the source, in each pixel format.
    @Test(arguments: ["yuv420p", "yuv420p10le", "yuv422p", "yuv422p10le", "yuv444p"])
    func text_hasItsTimes(_ format: String) async throws {
        let scratch = try folder()
        try await run(
            "pixel_format: \(format), size: 480x270, burn: { asset: captions.srt }",
            "range: [ { start: 0.8s, end: 1.2s }, { start: 2s, end: 2.4s } ]", in: scratch)
        let changes = try shown(480, 270, in: scratch)
        #expect(changes.map(\.frame) == [0, 5, 15], "\(changes)")
        #expect(changes.map { $0.box == nil } == [false, true, false])
    }

    /// Text isn't distorted by pixels that aren't square: it is as wide, relative to the frame, as in square pixels.
    @Test func text_hasTheShapeOfTheDisplay() async throws {
        let scratch = try folder()
        func width(_ encode: String, _ width: Int, _ height: Int) async throws -> Double {
            try await run(
                "\(encode), burn: { asset: captions.srt }", "range: { start: 0.5s, end: 0.6s }", in: scratch)
            let box = try #require(try shown(width, height, in: scratch).first?.box)
            let sides = box.split(separator: " ")[1].split(separator: "x").compactMap { Double($0) }
            return sides[0] / Double(width)
        }
        let square = try await width("size: 1024x576", 1024, 576)
        let narrow = try await width("size: 720x576, fit: stretch, pixel_aspect_ratio: 64:45", 720, 576)
        #expect(abs(square - narrow) < 0.01, "\(square) and \(narrow)")
    }

    /// Subtitles are drawn with two passes, in chunks, and in the first frames of a quality search, as without.
    @Test(arguments: [
        "codec: h264, bitrate: 2M, passes: 2", "codec: h264, crf: 10, parallel: 2, keyframe_interval: 1s",
        "codec: h264, quality: { ssim: 0.99 }",
    ])
    func images_areDrawnInEachPass(_ encode: String) async throws {
        let scratch = try folder()
        let spec = """
            version: 1
            jobs:
              one:
                asset: ./film.mkv
                tracks: [ { video: first, encode: { \(encode), size: 480x270, burn: first } } ]
                expect: { similarity: { ssim: { min: 0.9 } } }
                destination: o.mp4
            """
        _ = try success(try await TestSupport.run(spec, in: scratch.path))
        #expect(try shown(480, 270, of: "o.mp4", in: scratch).map(\.frame).contains(10))
    }

    /// A layer of a composition draws images into the frames of their source.
    @Test func layers_drawImages() async throws {
        let scratch = try folder()
        let spec = """
            version: 1
            jobs:
              one:
                composition:
                  sequence: [ film.mkv ]
                  layers: [ { subtitle: film.mkv, at: 1s, until: 2s } ]
                  size: 960x540
                tracks: [ { video: first, encode: { codec: ffv1 } } ]
                destination: o.mkv
            """
        _ = try success(try await TestSupport.run(spec, in: scratch.path))
        #expect(
            try shown(960, 540, in: scratch) == [
                Shown(box: nil, frame: 0), Shown(box: "400,450 160x40", frame: 35),
                Shown(box: nil, frame: 50),
            ])
    }

    /// Animations count from the start of their event, wherever a range begins, also in joined ranges.
    @Test func animations_keepTheirTimes() async throws {
        let scratch = try folder()
        try scratch.write(
            """
            [Script Info]
            PlayResX: 480
            PlayResY: 270

            [V4+ Styles]
            Format: Name, Fontname, Fontsize, PrimaryColour, Bold, Alignment
            Style: Default,DejaVu Sans,20,&H00FFFFFF,0,7

            [Events]
            Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
            Dialogue: 0,0:00:00.00,0:00:04.00,Default,,0,0,0,,{\\move(0,100,400,100)}X

            """, to: "move.ass")
        func left(_ keys: String) async throws -> [Int] {
            try await run("size: 480x270, burn: { asset: move.ass }", keys, in: scratch)
            return try shown(480, 270, in: scratch).compactMap {
                $0.box?.split(separator: ",").first.flatMap { Int($0) }
            }
        }
        let whole = try await left("range: { start: 0s, end: 3s }")
        try #require(whole.count == 75, "\(whole)")
        #expect(try await left("range: { start: 1s, end: 2s }") == Array(whole[25..<50]))
        let joined = try await left("range: [ { start: 2s, end: 2.4s }, { start: 0.4s, end: 0.8s } ]")
        #expect(joined == Array(whole[50..<60]) + Array(whole[10..<20]))
    }

    /// DVB subtitles of a transport stream are drawn, also those on screen when the range begins, until their timeout.
    @Test func dvbSubtitles_areDrawn() async throws {
        let scratch = try Scratch()
        var stream = TransportStream()
        stream.add(pts: 90_000 + 36_000, [0x20, 0] + DVBPage.bar(at: 40, timeout: 2) + [0xff])
        try Data(stream.bytes).write(to: URL(fileURLWithPath: scratch.file("sub.ts")))
        try ffmpeg(
            "-copyts", "-f", "lavfi", "-i", "color=gray:s=720x576:r=25:d=4,setpts=PTS+1/TB", "-i",
            scratch.file("sub.ts"), "-map", "0:v", "-map", "1:s", "-c:v", "libx264", "-g", "5", "-c:s",
            "copy", "-muxdelay", "0", scratch.file("film.ts"))
        for (start, expected) in [(0.0, [0, 10, 60]), (0.8, [0, 40]), (2.6, [0])] {
            let spec = """
                version: 1
                jobs:
                  one:
                    asset: ./film.ts
                    range: { start: \(start), end: 3.6s }
                    tracks: [ { video: first, encode: { codec: ffv1, burn: first } } ]
                    destination: { path: o.mkv, if_exists: replace }
                """
            _ = try success(try await TestSupport.run(spec, in: scratch.path))
            let changes = try shown(720, 576, in: scratch)
            #expect(changes.map(\.frame) == expected, "\(start): \(changes)")
        }
    }

    /// Images have the colors of the frames' matrix and range: a luma of 200 of limited range is 214 of full range.
    @Test(arguments: [
        ("yuv420p", "tv", 200), ("yuv420p", "pc", 214), ("yuv420p10le", "tv", 800),
        ("yuv420p10le", "pc", 859), ("yuv422p10le", "pc", 859),
    ])
    func images_haveTheColorsOfTheFrames(_ format: String, _ range: String, _ expected: Int) async throws {
        let scratch = try folder()
        try await run(
            "pixel_format: \(format), color: { range: \(range) }, burn: first",
            "range: { start: 0.5s, end: 0.6s }", in: scratch)
        let result = try program(
            "ffmpeg",
            [
                "-v", "error", "-i", scratch.file("o.mkv"), "-frames:v", "1", "-pix_fmt", format, "-f",
                "rawvideo", "-",
            ])
        let at = 940 * 1920 + 900
        let bytes = [UInt8](result.output)
        let luma =
            format.hasSuffix("10le") ? Int(bytes[2 * at]) | Int(bytes[2 * at + 1]) << 8 : Int(bytes[at])
        #expect(abs(luma - expected) <= (format.hasSuffix("10le") ? 3 : 1), "\(luma)")
    }

    /// The frames of a phone's video are rotated upright, so that subtitles are upright.
    @Test func rotatedFrames_areUpright() async throws {
        let scratch = try folder()
        try ffmpeg(
            "-f", "lavfi", "-i", "color=gray:s=480x270:r=25:d=2", "-c:v", "libx264", scratch.file("flat.mp4"))
        try copyMovie(scratch.file("flat.mp4"), rotatedBy: 90, to: scratch.file("phone.mp4"))
        let spec = """
            version: 1
            jobs:
              one:
                asset: ./phone.mp4
                tracks: [ { video: first, encode: { codec: ffv1, burn: { asset: captions.srt } } } ]
                destination: o.mkv
            """
        _ = try success(try await TestSupport.run(spec, in: scratch.path))
        let box = try #require(try shown(270, 480, in: scratch).first { $0.box != nil }?.box)
        let numbers = box.split { " ,x".contains($0) }.compactMap { Int($0) }
        // A line of text in the lower part of the frame.
        #expect(numbers[1] > 360 && numbers[2] > 2 * numbers[3], "\(box)")
    }

    /// A damaged image is an error, or is skipped and counted.
    @Test func damagedImages_areErrors() async throws {
        let scratch = try folder()
        var stream = PresentationGraphics(width: 1920, height: 1080)
        stream.show(x: 800, y: 900, width: 320, height: 80, luma: 200, at: 0.4, missingLines: 40)
        try Data(stream.bytes).write(to: URL(fileURLWithPath: scratch.file("s.sup")))
        try ffmpeg(
            "-i", scratch.file("film.mkv"), "-copyts", "-i", scratch.file("s.sup"), "-map", "0:v", "-map",
            "1:s", "-c", "copy", scratch.file("damaged.mkv"))
        let spec = """
            version: 1
            jobs:
              one:
                asset: ./damaged.mkv
                on_damage: fail
                tracks: [ { video: first, encode: { codec: ffv1, burn: first } } ]
                destination: d.mkv
            """
        await #expect(throws: ProgramError.self) {
            try success(try await TestSupport.run(spec, in: scratch.path))
        }
        let skipped = try success(
            try await TestSupport.run(
                spec.replacing("on_damage: fail", with: "on_damage: skip"), in: scratch.path))
        #expect(skipped.warnings.contains { $0.contains("1 damaged packet") }, "\(skipped.warnings)")
    }

    /// A PGS stream is read as a file, whose packets are segments of display sets: what is on screen when a range begins is
    /// drawn, and copied.
    @Test func stream_isReadAsAFile() async throws {
        let scratch = try folder()
        try await run("burn: { asset: s.sup }", "range: { start: 1s, end: 2.4s }", in: scratch)
        #expect(
            try shown(1920, 1080, in: scratch) == [
                Shown(box: "800,900 320x80", frame: 0), Shown(box: nil, frame: 10),
                Shown(box: "801,101 321x81", frame: 25),
            ])
        let spec = """
            version: 1
            jobs:
              one:
                asset: ./film.mkv
                range: { start: 1s, end: 2.4s }
                tracks: [ { video: first, encode: { codec: ffv1 } }, { subtitle: { asset: s.sup }, copy: true } ]
                destination: c.mkv
            """
        _ = try success(try await TestSupport.run(spec, in: scratch.path))
        let packets = try program(
            "ffprobe",
            [
                "-v", "error", "-select_streams", "s", "-show_entries", "packet=pts_time,size", "-of",
                "csv=p=0", scratch.file("c.mkv"),
            ]
        ).text.split(separator: "\n").map { $0.split(separator: ",").prefix(2).compactMap { Double($0) } }
        #expect(packets.map(\.first) == [0, 0.4, 1])
        // Both images are whole display sets.
        #expect(packets.allSatisfy { $0.count == 2 } && packets[0][1] > 100 && packets[2][1] > 100)
    }
}
