import Foundation
import TestSupport
import Testing

/// Tests animations of `images`, their frame durations, and still images at scene changes.
@Suite struct AnimationTests {
    /// Creates a source with three scenes of one second, each of one color with a moving test pattern.
    private func source() throws -> Scratch {
        let scratch = try Scratch()
        let scenes = ["red", "blue", "green"].map {
            "color=\($0):size=128x96:rate=25:duration=1[\($0)]"
        }
        try ffmpeg(
            "-filter_complex",
            scenes.joined(separator: ";")
                + ";testsrc2=size=32x24:rate=25:duration=3[t];[red][blue][green]concat=n=3[c];[c][t]overlay=8:8,format=gbrp",
            "-c:v", "ffv1", "-g", "25", scratch.file("a.mkv"))
        return scratch
    }

    private func run(_ jobs: String, in scratch: Scratch, _ arguments: String...) throws -> ProgramResult {
        try scratch.write("version: 1\ndefaults: { asset: ./a.mkv }\njobs:\n\(jobs)\n", to: "jobs.yaml")
        return try program(
            TestPaths.tandem, ["run", "jobs.yaml"] + arguments, directory: scratch.path)
    }

    private func packets(_ path: String) throws -> [(time: Double, length: Double)] {
        let result = try program(
            "ffprobe",
            ["-v", "error", "-show_entries", "packet=pts_time,duration_time", "-of", "csv=p=0", path])
        return result.text.split(separator: "\n").map { line in
            let parts = line.split(separator: ",").compactMap { Double($0) }
            return (parts.first ?? -1, parts.count > 1 ? parts[1] : -1)
        }
    }

    /// Returns the duration of each frame of an animated WebP in milliseconds, and the mean absolute difference (0 to
    /// 255) between its pixels, as composed by Pillow, and the source frame at that time.
    private func webp(_ path: String, of source: String, from start: Double = 0) throws -> [(
        length: Int, distance: Double
    )] {
        let script = """
            import subprocess, sys
            from PIL import Image
            import numpy
            image, at = Image.open(sys.argv[1]), float(sys.argv[3])
            for number in range(image.n_frames):
                image.seek(number)
                image.load()
                length = image.info["duration"]
                own = numpy.asarray(image.convert("RGB"), dtype=float)
                raw = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-ss", f"{max(0, at - 0.02)}", "-i", sys.argv[2],
                    "-frames:v", "1", "-pix_fmt", "rgb24", "-f", "rawvideo", "-"], capture_output=True).stdout
                theirs = numpy.frombuffer(raw, dtype=numpy.uint8).reshape(own.shape).astype(float)
                print(length, abs(own - theirs).mean())
                at += length / 1000
            """
        // Pillow and NumPy are installed for Debian's Python.
        let result = try program("/usr/bin/python3", ["-c", script, path, source, "\(start)"])
        #expect(result.status == 0, "\(result.errors)")
        return result.text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 2, let length = Int(words[0]), let distance = Double(words[1]) else {
                return nil
            }
            return (length, distance)
        }
    }

    @Test(arguments: ["worker", "none"]) func animationFramesHaveTheDurationsBetweenTheirTimes(
        _ isolation: String
    ) throws {
        let scratch = try source()
        let result = try run(
            """
              gif: { images: { every: 120ms, animation: gif }, destination: out/a.gif }
              webp: { images: { every: 120ms, animation: webp, quality: 100 }, destination: out/a.webp }
              uneven: { range: { start: 500ms, end: 2.5s }, images: { at: [0s, 100ms, 700ms, 1.9s], animation: gif }, destination: out/u.gif }
              later: { range: { start: 500ms, end: 2.5s }, images: { at: [400ms, 700ms, 1.9s], animation: webp }, destination: out/u.webp }
              rest: { range: { duration: 2.001s }, images: { every: 1s, animation: gif }, destination: out/r.gif }
              last: { images: { at: [0s, 1s, end], animation: gif }, destination: out/e.gif }
            """, in: scratch, "--isolation", isolation)
        #expect(result.status == 0, "\(result.errors)")
        let gif = try packets(scratch.file("out/a.gif"))
        #expect(gif.map { Int(($0.time * 1000).rounded()) } == (0..<25).map { $0 * 120 })
        #expect(gif.allSatisfy { abs($0.length - 0.12) < 0.001 })
        let uneven = try packets(scratch.file("out/u.gif")).map { Int(($0.length * 1000).rounded()) }
        #expect(uneven == [100, 600, 1200, 100])
        // The remaining duration of the last frame is 1 ms; GIF players require at least 20 ms.
        let rest = try packets(scratch.file("out/r.gif")).map { Int(($0.length * 1000).rounded()) }
        #expect(rest == [1000, 1000, 20])
        // Identical consecutive frames of a WebP are merged.
        let webp = try webp(scratch.file("out/a.webp"), of: scratch.file("a.mkv"))
        #expect(webp.reduce(0) { $0 + $1.length } == 3000)
        #expect(webp.count > 12 && webp.allSatisfy { $0.length.isMultiple(of: 120) })
        #expect(webp.allSatisfy { $0.distance < 6 }, "\(webp)")
        let late = try self.webp(scratch.file("out/u.webp"), of: scratch.file("a.mkv"), from: 0.9)
        #expect(late.map(\.length) == [700, 1200, 100])
        #expect(
            try packets(scratch.file("out/e.gif")).map { Int(($0.length * 1000).rounded()) } == [
                1000, 2000, 2000,
            ])
        // With few colors, GIF's palette is nearly lossless: each frame matches the source frame at its time.
        let compared = try program(
            "ffmpeg",
            [
                "-hide_banner", "-nostdin", "-i", scratch.file("out/a.gif"), "-i", scratch.file("a.mkv"),
                "-filter_complex",
                "[0:v]format=rgb24,settb=1/1000,setpts=N[a];[1:v]select=not(mod(n\\,3)),format=rgb24,settb=1/1000,setpts=N[b];[a][b]psnr",
                "-f", "null", "-",
            ])
        let average = compared.errors.split(separator: " ").first { $0.hasPrefix("average:") }
        let value = average.flatMap { Double($0.dropFirst(8)) } ?? 0
        #expect(value > 35 || average == "average:inf", "\(compared.errors.suffix(300))")
    }

    @Test func intervalsBelowTheMinimumAndDuplicateTimesAreErrors() throws {
        let scratch = try source()
        let result = try run(
            """
              fast: { images: { every: 10ms, animation: gif }, destination: out/a.gif }
              same: { images: { at: [1s, 1000ms], animation: webp }, destination: out/b.webp }
            """, in: scratch)
        #expect(result.status == 1)
        #expect(result.errors.contains("at least 0.02 s"), "\(result.errors)")
        #expect(result.errors.contains("duplicate time"), "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: scratch.file("out")))
    }

    /// Compares scene detection with ffmpeg's `scene` expression: the first frame of the range, and the first frame of
    /// each further scene.
    @Test func sceneChangesMatchFFmpeg() throws {
        let scratch = try source()
        let result = try run(
            """
              all: { images: { scenes: 0.2 }, destination: "out/all-${image.time}.png" }
              part: { range: { start: 1.5s }, images: { scenes: 0.2 }, destination: "out/part-${image.time}.png" }
              moving: { images: { scenes: 0.2, animation: gif }, destination: out/m.gif }
              none: { images: { scenes: 1 }, destination: "out/none-${image.number}.png" }
            """, in: scratch)
        #expect(result.status == 0, "\(result.errors)")
        let files = try FileManager.default.contentsOfDirectory(atPath: scratch.file("out")).sorted()
        #expect(
            files == [
                "all-00-00-00.000.png", "all-00-00-01.000.png", "all-00-00-02.000.png", "m.gif",
                "none-0001.png",
                "part-00-00-00.000.png", "part-00-00-00.500.png",
            ])
        let reference = try program(
            "ffmpeg",
            [
                "-hide_banner", "-nostdin", "-i", scratch.file("a.mkv"), "-vf",
                "select=gt(scene\\,0.2),showinfo", "-f",
                "null", "-",
            ])
        let times = reference.errors.components(separatedBy: "pts_time:").dropFirst().map { rest in
            String(rest.prefix { $0 != " " })
        }
        #expect(times == ["1", "2"])
        #expect(
            try packets(scratch.file("out/m.gif")).map { Int(($0.length * 1000).rounded()) } == [
                1000, 1000, 1000,
            ])
        // An output with a single file is recognized as up to date without decoding the source.
        let rerun = try run(
            "  moving: { images: { scenes: 0.2, animation: gif }, destination: out/m.gif }", in: scratch)
        #expect(rerun.status == 0 && rerun.errors.contains("up to date"), "\(rerun.errors)")
    }
}
