import Foundation
import TestSupport
import Testing

/// Files whose names are canonically equivalent: `é` as one scalar, and as two. Swift equates the names, file systems don't.
@Suite struct ExactNameTests {
    private static let (composed, decomposed) = ("\u{e9}", "e\u{301}")

    /// Creates a red clip of one second and a blue one of two seconds, whose names differ only in the form of `é`.
    private func folder() throws -> Scratch {
        let scratch = try Scratch()
        for (name, color, frequency, duration) in [
            (Self.composed, "red", 440, 1), (Self.decomposed, "blue", 880, 2),
        ] {
            try ffmpeg(
                "-f", "lavfi", "-i", "color=\(color):size=64x48:rate=25:duration=\(duration)",
                "-f", "lavfi", "-i", "sine=\(frequency):sample_rate=48000:duration=\(duration)",
                "-c:v", "libx264", "-g", "1", "-c:a", "pcm_s16le", scratch.file("\(name).mkv"))
        }
        return scratch
    }

    /// Returns the color of a frame, red or blue.
    private func color(ofFrame number: Int, in path: String) throws -> String {
        let image = try program(
            "ffmpeg",
            [
                "-v", "error", "-i", path, "-vf", "select=eq(n\\,\(number)),scale=1:1", "-frames:v", "1",
                "-pix_fmt", "rgb24", "-f", "rawvideo", "-",
            ])
        let bytes = [UInt8](image.output)
        guard bytes.count == 3 else { throw ProgramError(message: "no frame \(number): \(image.errors)") }
        return bytes[0] > bytes[2] ? "red" : "blue"
    }

    @Test(arguments: ["encode: { codec: h264 }", "copy: true"])
    func clipsOfEquivalentNamesAreDifferentSources(_ action: String) throws {
        let scratch = try folder()
        try scratch.write(
            """
            version: 1
            jobs:
              both:
                composition: [ \(Self.composed).mkv, \(Self.decomposed).mkv ]
                tracks: [ { video: first, \(action) }, { audio: first, encode: { codec: pcm_s16le } } ]
                destination: out/both.mkv
            """, to: "jobs.yaml")
        let result = try program(TestPaths.tandem, ["run", "jobs.yaml"], directory: scratch.path)
        #expect(result.status == 0, "\(result.errors)")
        let output = scratch.file("out/both.mkv")
        #expect(try FFmpegFile(output).frames().times.count == 75)
        for (frame, expected) in [(5, "red"), (30, "blue"), (70, "blue")] {
            #expect(try color(ofFrame: frame, in: output) == expected, "frame \(frame)")
        }
    }

    /// Instances of a pattern, `--only` and shards distinguish the names.
    @Test func instancesOfEquivalentNamesAreDifferentJobs() throws {
        let scratch = try folder()
        try scratch.write(
            """
            version: 1
            jobs:
              each:
                asset: "./*.mkv"
                tracks: [ { video: first, copy: true } ]
                destination: "out/${asset.stem}.mp4"
            """, to: "jobs.yaml")
        func tandem(_ arguments: String...) throws -> ProgramResult {
            try program(TestPaths.tandem, arguments, directory: scratch.path)
        }
        let one = try tandem("run", "--only", "each[\(Self.decomposed).mkv]", "jobs.yaml")
        #expect(one.status == 0, "\(one.errors)")
        let names = {
            try FileManager.default.contentsOfDirectory(atPath: scratch.file("out")).map { Array($0.utf8) }
        }
        #expect(try names() == [Array("\(Self.decomposed).mp4".utf8)])
        let both = try tandem("run", "jobs.yaml")
        #expect(both.status == 0, "\(both.errors)")
        #expect(both.errors.hasSuffix("2 of 2 jobs done, 1 of them up to date\n"), "\(both.errors)")
        #expect(try names().count == 2)
        for (name, expected) in [(Self.composed, "red"), (Self.decomposed, "blue")] {
            #expect(try color(ofFrame: 3, in: scratch.file("out/\(name).mp4")) == expected)
        }
        let planned = try tandem("plan", "--shards", "2", "--out", "plan", "jobs.yaml")
        #expect(planned.status == 0, "\(planned.errors)")
    }
}
