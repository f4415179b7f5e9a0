import Foundation
import TestSupport
import Testing

/// Image outputs contain the exact frames. Their files are published together, and are up to date or rerun together.
@Suite struct ImageOutputTests {
    /// Creates four seconds of lossless RGB video, so that frames can be compared exactly with image files.
    private func source() throws -> Scratch {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=128x96:rate=25:duration=4,format=gbrp", "-f", "lavfi", "-i",
            "sine=duration=4", "-c:v", "ffv1", "-g", "25", "-c:a", "flac", scratch.file("a.mkv"))
        return scratch
    }

    private func files(_ scratch: Scratch, in folder: String = "out") -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: scratch.file(folder))) ?? []).sorted()
    }

    private func write(_ jobs: String, in scratch: Scratch) throws {
        try scratch.write("version: 1\ndefaults: { asset: ./a.mkv }\njobs:\n\(jobs)\n", to: "jobs.yaml")
    }

    @Test func imagesAreTheRequestedFrames() throws {
        let scratch = try source()
        try write(
            """
              at: { images: { at: [0s, 37f, 50%, 3.0399s, end], format: png }, destination: "out/at-${image.number}.png" }
              part: { range: [ { start: 1s, end: 2s }, { start: 3s, end: 3.5s } ], images: { every: 400ms }, destination: "out/part-${image.time}.png" }
              count: { images: { count: 4 }, destination: "out/count-${image.number}.png" }
              keys: { images: { keyframes: true }, destination: "out/key-${image.number}.png" }
              one: { images: { at: 1.5s }, destination: out/one.png }
            """, in: scratch)
        let expected: [String: Int] = [
            "at-0001": 0, "at-0002": 37, "at-0003": 50, "at-0004": 75, "at-0005": 99,
            "part-00-00-00.000": 25, "part-00-00-00.400": 35, "part-00-00-00.800": 45,
            "part-00-00-01.200": 80,
            "count-0001": 12, "count-0002": 37, "count-0003": 62, "count-0004": 87,
            "key-0001": 0, "key-0002": 25, "key-0003": 50, "key-0004": 75, "one": 37,
        ]
        for isolation in ["worker", "none"] {
            let result = try tandem("run", "--force", "--isolation", isolation, "jobs.yaml", in: scratch)
            #expect(result.status == 0, "\(result.errors)")
            #expect(files(scratch) == expected.keys.map { $0 + ".png" }.sorted())
            for (name, frame) in expected {
                #expect(
                    try rgbHashes(scratch.file("out/\(name).png"))
                        == rgbHashes(scratch.file("a.mkv"), frame: frame),
                    "\(name) is not frame \(frame)")
            }
        }
    }

    /// A sheet contains its images in columns and rows; its index states their positions.
    @Test func sheetsContainTheirImagesAndIndex() throws {
        let scratch = try source()
        try write(
            """
              sheet: { images: { every: 1s, sheet: { columns: 3, index: vtt } }, destination: "out/a sheet.png" }
              each: { images: { every: 1s }, destination: "out/${image.number}.png" }
            """, in: scratch)
        let result = try tandem("run", "jobs.yaml", in: scratch)
        #expect(result.status == 0, "\(result.errors)")
        let index = try String(contentsOfFile: scratch.file("out/a sheet.vtt"), encoding: .utf8)
        let cells = index.split(separator: "\n").filter { $0.contains("#xywh=") }
        #expect(
            cells.map { $0.split(separator: "=").last.map(String.init) } == [
                "0,0,128,96", "128,0,128,96", "256,0,128,96", "0,96,128,96",
            ])
        #expect(cells.allSatisfy { $0.hasPrefix("a%20sheet.png#") })
        #expect(index.hasPrefix("WEBVTT\n") && index.contains("00:00:03.000 --> 00:00:04.0"))
        for (number, cell) in cells.enumerated() {
            let numbers = try #require(cell.split(separator: "=").last).split(separator: ",")
            let (x, y) = (numbers[0], numbers[1])
            let cut = scratch.file("cut.png")
            try ffmpeg("-y", "-i", scratch.file("out/a sheet.png"), "-vf", "crop=128:96:\(x):\(y)", cut)
            #expect(try rgbHashes(cut) == rgbHashes(scratch.file("out/000\(number + 1).png")))
        }
    }

    /// The image files of an output are one unit: if one is missing, all are created again; if one was changed by
    /// another program, none is replaced.
    @Test func imageFilesAreOneOutput() throws {
        let scratch = try source()
        try write(
            "  all: { images: { every: 1s }, destination: \"out/${image.number}.png\" }", in: scratch)
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        #expect(files(scratch).count == 4)
        let rerun = try tandem("run", "jobs.yaml", in: scratch)
        #expect(rerun.errors.contains("1 of them up to date"), "\(rerun.errors)")
        // The renamed job adopts the files.
        try write(
            "  posters: { images: { every: 1s }, destination: \"out/${image.number}.png\" }", in: scratch)
        #expect(try tandem("clean", "--yes", "jobs.yaml", in: scratch).text.isEmpty)
        #expect(files(scratch).count == 4)
        try write(
            "  all: { images: { every: 1s }, destination: \"out/${image.number}.png\" }", in: scratch)
        // One file is missing.
        try FileManager.default.removeItem(atPath: scratch.file("out/0003.png"))
        let explained = try tandem("explain", "jobs.yaml", "all", in: scratch)
        #expect(explained.text.contains("0003.png"), "\(explained.text)")
        let repaired = try tandem("run", "jobs.yaml", in: scratch)
        #expect(repaired.status == 0 && !repaired.errors.contains("up to date"), "\(repaired.errors)")
        #expect(files(scratch).count == 4)
        // One file was changed by another program.
        try "mine".write(toFile: scratch.file("out/0002.png"), atomically: true, encoding: .utf8)
        let before = try rgbHashes(scratch.file("out/0001.png"))
        try write(
            "  all: { images: { every: 1s, size: 64x }, destination: \"out/${image.number}.png\" }",
            in: scratch)
        for command in ["plan", "run"] {
            let refused = try tandem(command, "jobs.yaml", in: scratch)
            #expect(refused.status == (command == "plan" ? 3 : 1), "\(refused.errors)")
            #expect(refused.errors.contains("0002.png"), "\(refused.errors)")
        }
        #expect(
            try rgbHashes(scratch.file("out/0001.png")) == before,
            "an image of the refused output was replaced")
        #expect(try String(contentsOfFile: scratch.file("out/0002.png"), encoding: .utf8) == "mine")
        // `clean` lists files that are no longer declared, and removes them with `--yes`.
        try FileManager.default.removeItem(atPath: scratch.file("out/0002.png"))
        try write(
            "  all: { images: { every: 2s }, destination: \"out/${image.number}.png\" }", in: scratch)
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        #expect(try tandem("clean", "jobs.yaml", in: scratch).text.contains("0004.png"))
        #expect(try tandem("clean", "--yes", "jobs.yaml", in: scratch).status == 0)
        #expect(files(scratch) == ["0001.png", "0002.png"])
    }

    /// Instances of a pattern with several outputs, and a job that reads one of them, keep their files separate.
    @Test func instancesKeepTheirFilesSeparate() throws {
        let scratch = try source()
        try FileManager.default.createDirectory(atPath: scratch.file("in"), withIntermediateDirectories: true)
        for name in ["a", "b#2"] {
            try FileManager.default.copyItem(
                atPath: scratch.file("a.mkv"), toPath: scratch.file("in/\(name).mkv"))
        }
        let jobs = { (step: String) in
            """
            version: 1
            assets: { clips: { path: "in/*.mkv" } }
            jobs:
              web:
                asset: clips
                outputs:
                  movie: { tracks: [ { video: first, copy: true } ], destination: "out/${asset.stem}.mkv" }
                  stills: { images: { every: \(step), size: 64x }, destination: "out/${asset.stem}-${image.number}.jpg" }
              again:
                asset: { job: web, output: movie }
                images: { every: \(step), size: 32x }
                destination: "out/again-${asset.stem}-${image.number}.png"
            """
        }
        try scratch.write(jobs("1s"), to: "jobs.yaml")
        let result = try tandem("run", "jobs.yaml", in: scratch)
        #expect(result.status == 0, "\(result.errors)")
        #expect(files(scratch).count == 2 + 2 * 4 + 2 * 4, "\(files(scratch))")
        let rerun = try tandem("run", "jobs.yaml", in: scratch)
        #expect(rerun.errors.contains("4 of them up to date"), "\(rerun.errors)")
        #expect(try tandem("clean", "jobs.yaml", in: scratch).text.isEmpty)
        try scratch.write(jobs("2s"), to: "jobs.yaml")
        let fewer = try tandem("run", "jobs.yaml", in: scratch)
        #expect(fewer.status == 0, "\(fewer.errors)")
        #expect(try tandem("clean", "--yes", "jobs.yaml", in: scratch).status == 0)
        #expect(files(scratch).count == 2 + 2 * 2 + 2 * 2, "\(files(scratch))")
        let last = try tandem("run", "jobs.yaml", in: scratch)
        #expect(last.errors.contains("4 of them up to date"), "\(last.errors)")
    }

    /// Every planned image can be created, for all sizes, formats and colors of the sources.
    @Test(.enabled(if: TestPaths.media != nil)) func realFilesYieldImages() throws {
        let scratch = try Scratch()
        let media = try #require(TestPaths.media)
        var text = "version: 1\njobs:\n"
        for (number, name) in try FileManager.default.contentsOfDirectory(atPath: media).sorted().enumerated()
        where !name.hasSuffix(".tsv") && !name.hasSuffix(".png") {
            text += """
                  f\(number):
                    asset: { path: "\(media)/\(name)" }
                    on_damage: skip
                    outputs:
                      odd: { images: { at: [0s, end], size: 99x }, destination: "out/\(number)-${image.number}.jpg" }
                      whole: { images: { at: 50% }, destination: "out/\(number).jpg" }
                      gif: { images: { count: 3, size: 50x, animation: gif }, destination: "out/\(number).gif" }
                      webp: { images: { count: 3, size: 51x, animation: webp }, destination: "out/\(number)-a.webp" }
                      flat: { images: { at: 50%, size: 101x77 }, destination: "out/\(number).png" }
                      sheet: { images: { count: 4, size: 51x, tolerance: keyframe, sheet: { columns: 3 } }, destination: "out/\(number).webp" }

                """
        }
        try scratch.write(text, to: "jobs.yaml")
        let result = try tandem("run", "jobs.yaml", in: scratch)
        let wrong = result.errors.split(separator: "\n").filter {
            $0.contains("error[job-failed]") || $0.contains("it ends at")
        }
        #expect(wrong.isEmpty, "\(wrong)")
        #expect(files(scratch).count >= 40 * 5, "\(files(scratch).count)")
    }

    /// Extracted frames match reference images that another program created, so that frame numbers aren't off by one.
    @Test(.enabled(if: TestPaths.media != nil)) func framesMatchReferenceImages() throws {
        let scratch = try Scratch()
        let media = try #require(TestPaths.media)
        try scratch.write(
            """
            version: 1
            jobs:
              one:
                asset: { path: "\(media)/testvid_1022ms.mp4" }
                images: { at: [0f, 14f, 15f, 16f, 29f] }
                destination: "out/${image.number}.png"
            """, to: "jobs.yaml")
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        for (number, frame) in ["000", "014", "015", "016", "029"].enumerated() {
            let compared = try program(
                "ffmpeg",
                [
                    "-hide_banner", "-nostdin", "-i", scratch.file("out/000\(number + 1).png"), "-i",
                    "\(media)/testvid_1022ms_\(frame).png", "-lavfi",
                    "[0]format=rgb24[a];[1]format=rgb24[b];[a][b]psnr", "-f", "null", "-",
                ])
            let average = compared.errors.components(separatedBy: "average:").last?.split(separator: " ")
                .first
            let psnr = try #require(average.flatMap { Double($0) }, "\(compared.errors)")
            #expect(psnr >= 40, "frame \(frame): \(psnr) dB")
        }
    }

    @Test(
        arguments: [
            "duration: 6s }, images: { every: 1ms }, destination: \"out/${image.number}.png\"",
            "duration: 6s }, images: { every: 20ms, size: 1280x, animation: gif }, destination: out/a.gif",
            "duration: 4000s }, waveform: { samples_per_pixel: 10 }, destination: out/w.json",
        ], ["worker", "none"])
    func timeoutsLeaveNoFiles(_ output: String, _ isolation: String) throws {
        let scratch = try Scratch()
        let asset = "{ pattern: testsrc, size: 1280x720, frame_rate: 100, tone: 440Hz"
        try write("  one: { timeout: 300ms, asset: \(asset), \(output) }", in: scratch)
        let result = try tandem("run", "--isolation", isolation, "jobs.yaml", in: scratch)
        #expect(result.status == 1 && result.errors.contains("exceeded its timeout of "), "\(result.errors)")
        #expect(files(scratch).isEmpty, "\(files(scratch))")
    }

    /// Events and reports contain the requested time, the actual time and the path of each image.
    @Test func eventsAndReportsContainImageTimes() throws {
        let scratch = try source()
        try write(
            "  all: { range: { start: 1s }, images: { at: [0s, 510ms], size: 64x }, destination: \"out/${image.number}.png\" }",
            in: scratch)
        let result = try tandem(
            "run", "--events", "events", "--report", "r.json", "--report", "r.html", "jobs.yaml", in: scratch)
        #expect(result.status == 0, "\(result.errors)")
        let check = """
            import json, jsonschema, sys
            schema = json.load(open(sys.argv[1]))
            lines = [json.loads(line) for line in open("events")]
            for line in lines: jsonschema.validate(line, schema)
            stills = [l for l in lines if l["event"] == "job_finished"][0]["images"]
            # Both are relative to the source's time zero.
            assert [s["requested"] for s in stills] == [1, 1.51], stills
            assert [s["actual"] for s in stills] == [1, 1.48], stills
            assert [s["file"].split("/")[-1] for s in stills] == ["0001.png", "0002.png"], stills
            assert json.load(open("r.json"))["jobs"][0]["images"] == stills
            assert "1.48 s" in open("r.html").read()
            """
        let checked = try program(
            "python3", ["-c", check, TestPaths.repository + "/schemas/tandem-events-v1.schema.json"],
            directory: scratch.path)
        #expect(checked.status == 0, "\(checked.errors)")
    }

    /// Files of a set that are also destinations of other outputs are collisions.
    @Test func filesOfASetAreDestinations() throws {
        let scratch = try source()
        try write(
            """
              twice: { images: { every: 1s }, destination: "out/${image.number}.png" }
              other: { images: { at: 0s }, destination: "out/0002.png" }
            """, in: scratch)
        let result = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(
            result.status == 3 && result.errors.contains("two outputs have the destination"),
            "\(result.errors)")
        #expect(files(scratch).isEmpty)
    }

    /// Rotation, non-square pixels and cropping are applied by default; `orientation: ignore` and `aperture: encoded` keep the coded frame.
    @Test func framesAreUprightAndSquare() throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=1,setsar=2", "-c:v", "libx264",
            scratch.file("flat.mp4"))
        try copyMovie(scratch.file("flat.mp4"), rotatedBy: 90, to: scratch.file("a.mkv.mp4"))
        try scratch.write(
            """
            version: 1
            defaults: { asset: ./a.mkv.mp4 }
            jobs:
              seen: { images: { at: 0s }, destination: out/seen.png }
              coded: { images: { at: 0s, orientation: ignore, aperture: encoded }, destination: out/coded.png }
              box: { images: { at: 0s, size: 100x100 }, destination: out/box.jpg }
              high: { images: { at: 0s, size: x64 }, destination: out/high.webp }
            """, to: "jobs.yaml")
        let result = try tandem("run", "jobs.yaml", in: scratch)
        #expect(result.status == 0, "\(result.errors)")
        for (name, size) in [
            ("seen.png", "48,128"), ("coded.png", "64,48"), ("box.jpg", "38,100"), ("high.webp", "24,64"),
        ] {
            let probed = try program(
                "ffprobe",
                [
                    "-v", "error", "-show_entries", "stream=width,height", "-of", "csv=p=0",
                    scratch.file("out/\(name)"),
                ])
            #expect(probed.text.trimmingCharacters(in: .whitespacesAndNewlines) == size, "\(name)")
        }
    }

    /// Damage in the middle of a source fails the job by default; with `on_damage: skip`, the intact frames are
    /// written.
    @Test func damageFailsOrIsSkipped() throws {
        let scratch = try source()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: scratch.file("a.mkv")))
        let middle = bytes.count / 2
        for index in middle..<(middle + 2000) { bytes[index] ^= 0x5a }
        try bytes.write(to: URL(fileURLWithPath: scratch.file("a.mkv")))
        try write(
            """
              fails: { images: { every: 40ms }, destination: "out/f-${image.number}.png" }
              skips: { on_damage: skip, images: { every: 40ms }, destination: "out/s-${image.number}.png" }
            """, in: scratch)
        let result = try tandem("run", "jobs.yaml", in: scratch)
        #expect(result.status == 1, "\(result.errors)")
        let names = files(scratch)
        #expect(names.count >= 90 && names.allSatisfy { $0.hasPrefix("s-") }, "\(names)")
    }
}
