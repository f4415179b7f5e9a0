import Foundation
import TestSupport
import Testing

/// Tests properties of a composition's clips other than timing: cropping, filters, rotation, chapters, and unused
/// tracks.
@Suite struct CompositionClipTests: Composing {
    /// Frames are cropped and filtered before scaling to the canvas, as in ffmpeg.
    @Test func clipsAndLayersAreCroppedAndFiltered() throws {
        let scratch = try folder()
        _ = try rendered(
            """
            { size: 128x96, sequence: [ { asset: ./a.mkv, filters: "hflip,negate" }, { asset: ./b.mkv, crop: { x: 32, y: 16, width: 64, height: 48 } } ], layers: [ { asset: ./c.mkv, at: 3s, crop: { width: 32, height: 24 }, filters: vflip, place: { left: 0, top: 0 } } ] }
            """, in: scratch)
        try ffmpeg(
            "-i", scratch.file("a.mkv"), "-i", scratch.file("b.mkv"), "-i", scratch.file("c.mkv"),
            "-filter_complex",
            "[0:v]hflip,negate[x];[1:v]crop=64:48:32:16,scale=128:96:flags=bicubic[y];[x][y]concat=n=2:v=1[z];[2:v]trim=duration=1,setpts=PTS-STARTPTS+3/TB,crop=32:24:0:0,vflip[l];[z][l]overlay=0:0:eof_action=pass",
            "-an", "-c:v", "ffv1", scratch.file("r.mkv"))
        let psnr = try FFmpegFile(scratch.file("o.mkv")).lowestPSNR(
            against: FFmpegFile(scratch.file("r.mkv")), first: 0, count: 100, own: 0)
        #expect(psnr > 40, "\(psnr)")
        try FileManager.default.removeItem(atPath: scratch.file("o.mkv"))
        let plain = try error("[ { asset: ./a.mkv, crop: { width: 999, height: 10 } } ]", in: scratch)
        #expect(plain.contains("the crop rectangle exceeds the frame, which is 128x96"), "\(plain)")
        let odd = try error("[ { asset: ./a.mkv, filters: \"movie=x\" } ]", in: scratch, "validate")
        #expect(odd.contains("jobs.yaml:4:"), "\(odd)")
    }

    /// Frames, images and text of layers rotate around the layer's center. Quarter turns are exact, as in ffmpeg's
    /// `transpose`.
    @Test func layersAreRotated() throws {
        let scratch = try folder()
        for (angle, filter, box) in [
            ("-90", "transpose=cclock", (24, 40)), ("180", "hflip,vflip", (40, 24)),
        ] {
            _ = try rendered(
                "{ sequence: [ ./a.mkv ], layers: [ { asset: ./b.mkv, place: { left: 44, top: 36, width: 40, height: 24, rotate: \(angle) } } ] }",
                in: scratch)
            let place = "x=\(64 - box.0 / 2):y=\(48 - box.1 / 2)"
            try ffmpeg(
                "-i", scratch.file("a.mkv"), "-i", scratch.file("b.mkv"), "-filter_complex",
                "[1:v]scale=40:24:flags=bicubic,format=yuva420p,\(filter)[l];[0:v][l]overlay=\(place)", "-an",
                "-c:v", "ffv1", "-pix_fmt", "yuv420p", scratch.file("r.mkv"))
            let psnr = try FFmpegFile(scratch.file("o.mkv")).lowestPSNR(
                against: FFmpegFile(scratch.file("r.mkv")), first: 0, count: 50, own: 0)
            #expect(psnr > 40, "\(angle): \(psnr)")
        }
        // At other angles edges are antialiased: the reference is rotated at eight times the size and scaled down.
        for angle in [1, 30, 45, -100] {
            _ = try rendered(
                "{ sequence: [ ./a.mkv ], layers: [ { asset: ./b.mkv, place: { left: 44, top: 36, width: 40, height: 24, rotate: \(angle) } } ] }",
                in: scratch)
            let turn = "\(angle)*PI/180"
            try ffmpeg(
                "-i", scratch.file("a.mkv"), "-i", scratch.file("b.mkv"), "-filter_complex",
                "[1:v]scale=40:24:flags=bicubic,scale=320:192:flags=bilinear,format=yuva420p,rotate=\(turn):ow=2*ceil(rotw(\(turn))/2):oh=2*ceil(roth(\(turn))/2):c=black@0[l];[0:v]scale=1024:768:flags=neighbor[b];[b][l]overlay=(W-w)/2:(H-h)/2,scale=128:96:flags=area",
                "-an", "-c:v", "ffv1", "-pix_fmt", "yuv420p", scratch.file("r.mkv"))
            let psnr = try FFmpegFile(scratch.file("o.mkv")).lowestPSNR(
                against: FFmpegFile(scratch.file("r.mkv")), first: 0, count: 50, own: 0)
            print("measured: rotated by \(angle) degrees, PSNR \(psnr) dB vs. eight times as large")
            #expect(psnr > 38, "\(angle): \(psnr)")
        }
        // Text rotated by 90 degrees swaps its width and height.
        try scratch.write(
            job(
                "{ sequence: [ ./a.mkv ], layers: [ { text: iiii, color: white, size: 20, place: { rotate: 90 } } ] }"
            ), to: "jobs.yaml")
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(plan.text.contains("text `iiii`, rotated by 90 degrees"), "\(plan.text)")
        func marked(_ rotate: Int) throws -> (across: Int, along: Int) {
            _ = try rendered(
                "{ size: 128x96, sequence: [ { asset: ./a.mkv, video: none } ], layers: [ { text: MMMM, color: white, size: 20, place: { rotate: \(rotate) } } ] }",
                in: scratch)
            try ffmpeg(
                "-i", scratch.file("o.mkv"), "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "gray",
                scratch.file("o.gray"))
            let bytes = try Data(contentsOf: URL(filePath: scratch.file("o.gray")))
            let seen = bytes.indices.filter { bytes[$0] > 128 }
            let (columns, rows) = (seen.map { $0 % 128 }, seen.map { $0 / 128 })
            return ((columns.max() ?? 0) - (columns.min() ?? 0), (rows.max() ?? 0) - (rows.min() ?? 0))
        }
        let (plain, side) = (try marked(0), try marked(90))
        #expect(plain.across > 40 && plain.along < 20, "\(plain)")
        #expect(abs(side.along - plain.across) <= 2 && abs(side.across - plain.along) <= 2, "\(side)")
        try FileManager.default.removeItem(atPath: scratch.file("o.mkv"))
        let wrong = try error(
            "{ sequence: [ ./a.mkv ], layers: [ { text: x, place: { rotate: 400 } } ] }", in: scratch,
            "validate")
        #expect(wrong.contains("`rotate`"), "\(wrong)")
    }

    /// Antialiased edges of text have the text's color: white text on white is invisible, with and without rotation.
    @Test(arguments: ["white", "#ffffff"]) func edgesOfTextHaveNoFringes(_ color: String) throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "color=white:s=160x96:r=5:d=1,format=yuv420p", "-c:v", "ffv1",
            scratch.file("w.mkv"))
        for rotate in [0, 17] {
            try scratch.write(
                job(
                    "{ sequence: [ ./w.mkv ], layers: [ { text: Hamburg, color: \"\(color)\", size: 30, place: { rotate: \(rotate) } } ] }",
                    tracks: "[ { video: first, encode: { codec: ffv1 } } ]"), to: "jobs.yaml")
            let run = try tandem("run", "--force", "jobs.yaml", in: scratch)
            try #require(run.status == 0, "\(run.errors)")
            try ffmpeg(
                "-i", scratch.file("o.mkv"), "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "gray",
                scratch.file("o.gray"))
            let darkest = try Data(contentsOf: URL(filePath: scratch.file("o.gray"))).min() ?? 0
            #expect(darkest >= 252, "\(rotate): \(darkest)")
        }
    }

    /// Transparent pixels of an image don't contribute their color: a white disc on white is invisible when scaled,
    /// rotated, or both.
    @Test(arguments: [
        "left: 10", "left: 10, width: 33", "left: 10, rotate: 17", "left: 10, width: 33, rotate: -40",
    ])
    func edgesOfImagesHaveNoFringes(_ place: String) throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "color=white:s=160x96:r=5:d=1,format=yuv420p", "-c:v", "ffv1",
            scratch.file("w.mkv"))
        let inside = "if(lt(hypot(X-40,Y-40),30),255,0)"
        try ffmpeg(
            "-f", "lavfi", "-i",
            "nullsrc=s=80x80,format=rgba,geq=r='\(inside)':g='\(inside)':b='\(inside)':a='\(inside)'",
            "-frames:v", "1", scratch.file("disc.png"))
        try scratch.write(
            job(
                "{ sequence: [ ./w.mkv ], layers: [ { asset: ./disc.png, place: { \(place) } } ] }",
                tracks: "[ { video: first, encode: { codec: ffv1 } } ]"), to: "jobs.yaml")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        try #require(run.status == 0, "\(run.errors)")
        try ffmpeg(
            "-i", scratch.file("o.mkv"), "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "gray",
            scratch.file("o.gray"))
        let darkest = try Data(contentsOf: URL(filePath: scratch.file("o.gray"))).min() ?? 0
        print("measured: a white disc on white, \(place): \(darkest)")
        #expect(darkest >= 250)
    }

    /// `chapters: clips` creates a chapter for each clip; it is an error for other sources.
    @Test func chaptersOfClipsHaveTheirNamesAndTimes() throws {
        let scratch = try folder()
        let text = job(
            "[ ./a.mkv, { id: middle, asset: ./b.mkv, range: { end: 1s } }, { gap: 0.5s }, ./c.mkv ]")
        try scratch.write(text + "\n    chapters: clips\n", to: "jobs.yaml")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        try #require(run.status == 0, "\(run.errors)")
        let chapters =
            try FFmpegFile(scratch.file("o.mkv")).probe(["-show_chapters"])["chapters"] as? [[String: Any]]
        let titles = (chapters ?? []).map {
            "\(($0["tags"] as? [String: Any])?["title"] as? String ?? "") \(Double($0["start_time"] as? String ?? "") ?? -1)"
        }
        #expect(titles == ["a 0.0", "middle 2.0", "c 3.5"], "\(titles)")
        try scratch.write(
            """
            version: 1
            jobs:
              j: { asset: ./a.mkv, chapters: clips, tracks: [ { video: first, copy: true } ], destination: p.mkv }
            """, to: "jobs.yaml")
        let plan = try tandem("validate", "jobs.yaml", in: scratch)
        #expect(
            plan.status == 3 && plan.errors.contains("jobs.yaml:3:34: error[conflicting-keys]"),
            "\(plan.errors)")
    }

    /// Every track of every source is listed in the ledger; `leftover` applies to tracks that no key mentions.
    @Test func tracksOfClipsAreAccountedFor() throws {
        let scratch = try folder()
        try ffmpeg(
            "-i", scratch.file("a.mkv"), "-i", scratch.file("b.mkv"), "-map", "0:v", "-map", "0:a", "-map",
            "1:a", "-c", "copy",
            scratch.file("two.mkv"))
        let text = job(
            "{ sequence: [ ./two.mkv, { asset: ./b.mkv, audio: none } ], layers: [ { asset: ./c.mkv, at: 1s } ] }"
        )
        try scratch.write(text, to: "jobs.yaml")
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        for line in [
            "dropped  clip 0, two.mkv: track 2 (audio flac 48000 Hz mono): no key selects it",
            "dropped  clip 1, b.mkv: track 1 (audio flac 48000 Hz mono): `audio: none`",
            "dropped  layer 0, c.mkv: track 1 (audio flac 48000 Hz mono): a layer uses one video track",
        ] { #expect(plan.status == 0 && plan.text.contains(line), "\(line): \(plan.text)") }
        try scratch.write(text + "\n    leftover: error\n", to: "jobs.yaml")
        let strict = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(
            strict.status == 3
                && strict.errors.contains("clip 0, two.mkv: track 2 (audio flac 48000 Hz mono) is not used"),
            "\(strict.errors)")
        #expect(!strict.errors.contains("clip 1"), "\(strict.errors)")
    }

    /// The HTML report draws the timeline with its clips, layers and audio items.
    @Test func reportDrawsTheTimeline() throws {
        let scratch = try folder()
        try scratch.write(
            job(
                "{ sequence: [ ./a.mkv, { join: dissolve, overlap: 1s }, ./b.mkv ], layers: [ { text: \"<b>\", at: 1s } ] }"
            ),
            to: "jobs.yaml")
        let run = try tandem("run", "--report", "r.html", "jobs.yaml", in: scratch)
        try #require(run.status == 0, "\(run.errors)")
        let page = try String(contentsOfFile: scratch.file("r.html"), encoding: .utf8)
        for words in [
            "Composition of 3 s: 2 clips", "clip 0: a.mkv, 0 s to 2 s", "clip 1: b.mkv, 1 s to 3 s",
            "layer 0: “&lt;b&gt;”, 1 s to 3 s", "audio 1: b.mkv, 1 s to 3 s",
        ] { #expect(page.contains(words), "\(words)") }
    }
}
