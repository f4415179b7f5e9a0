import Foundation
import TestSupport
import Testing

/// Compositions of several assets equal ffmpeg's decoding of the sources.
@Suite struct CompositionTests: Composing {
    /// Every frame and sample of each clip is at its planned position.
    @Test(arguments: ["worker", "none"]) func framesAndSamplesOfClipsAreExact(_ isolation: String) throws {
        let scratch = try folder()
        let output = try rendered(
            "[ ./a.mkv, { asset: ./b.mkv, range: { start: 0.4s, end: 1.2s } }, { gap: 0.2s }, ./c.mkv ]",
            in: scratch, isolation: isolation)
        let (a, b, c) = (
            try FFmpegFile(scratch.file("a.mkv")).frameHashes(),
            try FFmpegFile(scratch.file("b.mkv")).frameHashes(),
            try FFmpegFile(scratch.file("c.mkv")).frameHashes()
        )
        let frames = try output.frameHashes()
        #expect(frames.count == 125)
        #expect(Array(frames.prefix(50)) == a && Array(frames[50..<70]) == Array(b[10..<30]))
        #expect(Set(frames[70..<75]).count == 1 && Array(frames.suffix(50)) == c)
        func samples(_ name: String) throws -> [Float] {
            try FFmpegFile(scratch.file("\(name).mkv")).samples(channels: 1, rate: 48_000)
        }
        let whole = try output.samples(channels: 1, rate: 48_000)
        #expect(whole.count == 240_000)
        func distance(_ one: ArraySlice<Float>, _ other: ArraySlice<Float>) -> Float {
            one.count == other.count ? zip(one, other).map { abs($0 - $1) }.max() ?? 1 : 1
        }
        #expect(distance(whole[..<96_000], try samples("a")[...]) < 0.0001)
        #expect(distance(whole[96_000..<134_400], try samples("b")[19_200..<57_600]) < 0.0001)
        #expect(whole[134_400..<144_000].allSatisfy { $0 == 0 })
        #expect(distance(whole[144_000...], try samples("c")[...]) < 0.0001)
    }

    /// Rounding errors don't accumulate, here over a hundred clips, which are opened one after the other.
    @Test func hundredClipsDontDrift() throws {
        let scratch = try folder()
        // 333 ms isn't a multiple of the frame duration.
        let clips = (0..<100).map {
            "{ asset: ./\(["a", "b", "c"][$0 % 3]).mkv, range: { start: 0.2s, end: 0.533s } }"
        }
        let output = try rendered("[ \(clips.joined(separator: ", ")) ]", in: scratch)
        #expect(try output.frames().times.count == 833)
        let whole = try output.samples(channels: 1, rate: 48_000)
        #expect(whole.count == 1_598_400)
        let source = try FFmpegFile(scratch.file("a.mkv")).samples(channels: 1, rate: 48_000)
        // The last clip of `a`, which starts at a whole sample.
        let start = 99 * 333 * 48
        let wrong = zip(whole[start..<(start + 10_000)], source[9600...]).map { abs($0 - $1) }.max() ?? 1
        #expect(wrong < 0.0001, "\(wrong)")
    }

    /// Joins match ffmpeg's `xfade`; the duration is shorter by the overlap.
    @Test(arguments: [("dissolve", "fade"), ("wipe-left", "wipeleft"), ("fade-black", "fadeblack")])
    func joinsMatchXfade(_ kind: String, _ filter: String) throws {
        let scratch = try folder()
        _ = try rendered("[ ./a.mkv, { join: \(kind), overlap: 1s }, ./b.mkv ]", in: scratch)
        func reference(_ rate: String) throws {
            try ffmpeg(
                "-i", scratch.file("a.mkv"), "-i", scratch.file("b.mkv"), "-filter_complex",
                "[0:v]settb=1/25,setpts=N\(rate)[x];[1:v]settb=1/25,setpts=N\(rate)[y];[x][y]xfade=transition=\(filter):duration=1:offset=1,format=yuv420p",
                "-an", "-c:v", "ffv1", scratch.file("r.mkv"))
        }
        // FFmpeg 7 requires a declared constant frame rate.
        do { try reference("") } catch { try reference(",fps=25,settb=1/25") }
        let (ours, theirs) = (
            try FFmpegFile(scratch.file("o.mkv")).frameHashes(),
            try FFmpegFile(scratch.file("r.mkv")).frameHashes()
        )
        #expect(ours.count == 75 && Array(ours[25..<50]) == Array(theirs[25..<50]))
        let whole = try FFmpegFile(scratch.file("o.mkv")).samples(channels: 1, rate: 48_000)
        #expect(whole.count == 144_000)
    }

    /// A layer replaces the pixels below it during its range; the other frames are unchanged.
    @Test func layersCoverTheirPositionAndRange() throws {
        let scratch = try folder()
        try ffmpeg(
            "-f", "lavfi", "-i", "color=lime:s=32x24,format=rgba", "-frames:v", "1", scratch.file("l.png"))
        _ = try rendered(
            """
            { sequence: [ { id: one, asset: ./a.mkv }, ./b.mkv ], layers: [ { asset: ./l.png, at: one.start+1s, until: one.end, place: { left: 8, top: 16 } } ] }
            """, in: scratch)
        let plain = try FFmpegFile(scratch.file("a.mkv")).frameHashes()
        let frames = try FFmpegFile(scratch.file("o.mkv")).frameHashes()
        #expect(Array(frames.prefix(25)) == Array(plain.prefix(25)))
        #expect(zip(frames[25..<50], plain[25...]).allSatisfy { $0 != $1 })
        #expect(Array(frames.suffix(50)) == (try FFmpegFile(scratch.file("b.mkv")).frameHashes()))
        let frame = try program(
            "ffmpeg",
            [
                "-v", "error", "-i", scratch.file("o.mkv"), "-vf", "select=eq(n\\,30),format=rgb24",
                "-frames:v", "1", "-f", "rawvideo", "-",
            ])
        let pixels = [UInt8](frame.output)
        func pixel(_ x: Int, _ y: Int) -> [Int] {
            let offset = (y * 128 + x) * 3
            return pixels[offset..<(offset + 3)].map { Int($0) }
        }
        #expect(pixel(20, 25)[1] > 235 && pixel(20, 25)[0] < 20)
    }

    /// Audio items have the specified volume, fades and ducking.
    @Test func audioItemsHaveTheirVolumeFadesAndDucking() throws {
        let scratch = try folder()
        try ffmpeg(
            "-f", "lavfi", "-i", "aevalsrc=0.5:d=1:s=48000", "-c:a", "flac", scratch.file("one.flac"))
        try ffmpeg(
            "-f", "lavfi", "-i", "aevalsrc=if(between(t\\,1\\,2)\\,0.5*sin(2*PI*400*t)\\,0):d=4:s=48000",
            "-c:a",
            "flac", scratch.file("voice.flac"))
        _ = try rendered(
            """
            { size: 64x48, sequence: [ { gap: 3s }, { asset: ./one.flac, audio: none, video: none }, { asset: ./voice.flac, audio: none } ],
              audio: [ { asset: ./one.flac, loop: true, until: 3s, volume: 0.5, fade_in: 500ms, fade_out: 1s } ] }
            """, in: scratch)
        let samples = try FFmpegFile(scratch.file("o.mkv")).samples(channels: 1, rate: 48_000)
        func near(_ time: Double, _ value: Float) -> Bool { abs(samples[Int(time * 48_000)] - value) < 0.001 }
        #expect(near(0.25, 0.125) && near(1, 0.25) && near(1.5, 0.25) && near(2.5, 0.125) && near(3.5, 0))
        _ = try rendered(
            """
            { sequence: [ { asset: ./a.mkv, audio: none }, { asset: ./b.mkv, audio: none } ],
              audio: [ { id: voice, asset: ./voice.flac }, { asset: ./one.flac, loop: true, duck: { under: voice, by: 20dB } } ] }
            """, in: scratch)
        let ducked = try FFmpegFile(scratch.file("o.mkv")).samples(channels: 1, rate: 48_000)
        // The mean over whole periods of the voice, a sine, is zero.
        func mean(_ time: Double) -> Float {
            let from = Int(time * 48_000)
            return ducked[from..<(from + 4800)].reduce(0, +) / 4800
        }
        #expect(abs(mean(0.5) - 0.5) < 0.01 && abs(mean(1.6) - 0.05) < 0.01 && abs(mean(3.5) - 0.5) < 0.01)
    }

    /// Audio is ducked under a clip's audio at the clip's position; ducking under a clip without audio is an error.
    @Test func audioIsDuckedUnderClips() throws {
        let scratch = try folder()
        try ffmpeg(
            "-f", "lavfi", "-i", "aevalsrc=0.5:d=1:s=48000", "-c:a", "flac", scratch.file("one.flac"))
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:d=2", "-f", "lavfi", "-i",
            "aevalsrc=0.5*sin(2*PI*400*t):d=2:s=48000", "-c:v", "ffv1", "-c:a", "flac",
            scratch.file("talk.mkv"))
        _ = try rendered(
            """
            { sequence: [ { gap: 1s }, { id: talk, asset: ./talk.mkv }, { gap: 2s } ],
              audio: [ { asset: ./one.flac, loop: true, duck: { under: talk, by: 20dB } } ] }
            """, in: scratch)
        let samples = try FFmpegFile(scratch.file("o.mkv")).samples(channels: 1, rate: 48_000)
        // The mean over whole periods of the clip's audio, a sine, is zero.
        func mean(_ time: Double) -> Float {
            let from = Int(time * 48_000)
            return samples[from..<(from + 4800)].reduce(0, +) / 4800
        }
        let means = [mean(0.5), mean(2), mean(4.5)]
        #expect(
            abs(means[0] - 0.5) < 0.01 && abs(means[1] - 0.05) < 0.01 && abs(means[2] - 0.5) < 0.01,
            "\(means)")
    }

    /// Clips with a changed speed have the planned numbers of frames and samples.
    @Test func speedIsExact() throws {
        let scratch = try folder()
        _ = try rendered("[ { asset: ./a.mkv, speed: 2 }, { asset: ./b.mkv, speed: 0.5 } ]", in: scratch)
        let frames = try FFmpegFile(scratch.file("o.mkv")).frameHashes()
        let (a, b) = (
            try FFmpegFile(scratch.file("a.mkv")).frameHashes(),
            try FFmpegFile(scratch.file("b.mkv")).frameHashes()
        )
        #expect(frames.count == 125)
        #expect(Array(frames.prefix(25)) == stride(from: 0, to: 50, by: 2).map { a[$0] })
        #expect(Array(frames.suffix(100)) == b.flatMap { [$0, $0] })
        #expect(try FFmpegFile(scratch.file("o.mkv")).samples(channels: 1, rate: 48_000).count == 240_000)
    }

    /// Clips of different sizes, rates, codecs and channel layouts are converted to the format of the first.
    @Test func clipsOfDifferentFormatsAreConvertedToOne() throws {
        let scratch = try folder()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=d=1:r=30000/1001:s=96x160", "-f", "lavfi", "-i",
            "sine=d=1:r=44100", "-af", "pan=5.1|FL=c0", "-c:v", "libx264", "-c:a", "aac",
            scratch.file("tall.mp4"))
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=d=1:r=12:s=64x64", "-c:v", "mpeg4", scratch.file("mute.avi"))
        try ffmpeg("-f", "lavfi", "-i", "sine=d=1", "-c:a", "libmp3lame", scratch.file("tone.mp3"))
        let output = try rendered("[ ./a.mkv, ./tall.mp4, ./mute.avi, ./tone.mp3, ./b.mkv ]", in: scratch)
        let stream = try output.stream("v:0", "width,height,r_frame_rate")
        #expect(stream["width"] as? Int == 128 && stream["height"] as? Int == 96)
        let times = try output.frames().times
        #expect(zip(times, 0...).allSatisfy { abs($0 - Double($1) / 25) < 0.001 })
        #expect(
            Array(try output.frameHashes().suffix(50))
                == (try FFmpegFile(scratch.file("b.mkv")).frameHashes()))
    }

    /// `fit` determines how frames fill the canvas; the output has square pixels.
    @Test(arguments: ["contain", "cover", "stretch"]) func fitDeterminesHowFramesFillTheCanvas(_ fit: String)
        throws
    {
        let scratch = try folder()
        // The displayed width is twice the coded width.
        try ffmpeg(
            "-f", "lavfi", "-i", "color=white:s=64x96:d=1:r=25,setsar=2", "-c:v", "ffv1",
            scratch.file("w.mkv"))
        try ffmpeg(
            "-f", "lavfi", "-i", "color=white:s=48x96:d=1:r=25", "-c:v", "ffv1", scratch.file("n.mkv"))
        let output = try rendered(
            "[ ./a.mkv, { asset: ./w.mkv, fit: \(fit) }, { asset: ./n.mkv, fit: \(fit) } ]", in: scratch)
        let stream = try output.stream("v:0", "width,height,sample_aspect_ratio")
        #expect(stream["width"] as? Int == 128 && stream["sample_aspect_ratio"] as? String != "2:1")
        #expect(
            Array(try output.frameHashes().prefix(50))
                == (try FFmpegFile(scratch.file("a.mkv")).frameHashes()))
        func edge(of frame: Int) throws -> UInt8 {
            let rows = try program(
                "ffmpeg",
                [
                    "-v", "error", "-i", scratch.file("o.mkv"), "-vf", "select=eq(n\\,\(frame)),format=gray",
                    "-frames:v", "1", "-f", "rawvideo", "-",
                ])
            return try #require([UInt8](rows.output).dropFirst(48 * 128).first)
        }
        // The wide source fills the canvas at its display size; the narrow one has bars only with `contain`.
        #expect(try edge(of: 60) > 200)
        #expect(try (edge(of: 90) > 200) == (fit != "contain"))
    }

    /// A pattern expands the composition to an instance for each match; only a changed match reruns.
    @Test func patternsExpandACompositionForEachMatch() throws {
        let scratch = try folder()
        #expect(
            try program(
                "/bin/sh", ["-c", "mkdir in && cp b.mkv in/x.mkv && cp c.mkv in/y.mkv"],
                directory: scratch.path
            ).status == 0)
        try scratch.write(
            job("[ ./a.mkv, { asset: { path: \"in/*.mkv\" } }, ./a.mkv ]", to: "\"out/${asset.stem}.mkv\""),
            to: "jobs.yaml")
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        #expect(try FFmpegFile(scratch.file("out/y.mkv")).frames().times.count == 150)
        let rerun = try tandem("run", "-v", "jobs.yaml", in: scratch)
        #expect(rerun.errors.contains("2 of them up to date"), "\(rerun.errors)")
        #expect(
            try program("/bin/sh", ["-c", "cp a.mkv in/x.mkv"], directory: scratch.path).status == 0)
        let third = try tandem("run", "jobs.yaml", in: scratch)
        #expect(third.errors.contains("1 of them up to date"), "\(third.errors)")
        #expect(
            try tandem("plan", "jobs.yaml", in: scratch).text.contains("y.mkv, 0 s to 2 s"))
    }

    /// Errors of compositions are reported at their line, and no output is created.
    @Test func errorsOfCompositionsAreLocated() throws {
        let scratch = try folder()
        let wrong: [(composition: String, message: String)] = [
            ("[ { join: dissolve, overlap: 1s }, ./b.mkv ]", "a join must be between two clips"),
            ("[ ./a.mkv, { join: dissolv, overlap: 1s }, ./b.mkv ]", "did you mean `dissolve`"),
            ("[ { asset: ./nothing.mkv } ]", "nothing.mkv"),
            ("[]", "at least one clip"),
            (
                "{ sequence: [ ./a.mkv ], layers: [ { text: Hello, at: nobody.start } ] }",
                "unknown clip or audio item `nobody`"
            ),
            (
                "{ sequence: [ { id: a, asset: ./a.mkv }, { id: a, asset: ./b.mkv } ] }", "duplicate id `a`"
            ),
        ]
        for (composition, message) in wrong {
            let errors = try error(composition, in: scratch)
            #expect(errors.contains(message) && errors.contains("jobs.yaml:"), "\(composition): \(errors)")
        }
        try scratch.write(
            job("[ ./a.mkv ]", tracks: "[ { video: first, copy: true } ]"), to: "jobs.yaml")
        let copied = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(
            copied.status == 3 && copied.errors.contains("smart cuts support H.264 and HEVC, not ffv1"),
            "\(copied.errors)")
    }

    /// The error names the damaged source, and no output is left.
    @Test func damagedClipsAreNamed() throws {
        let scratch = try folder()
        let damage = """
            import sys
            data = bytearray(open("b.mkv", "rb").read())
            for place in range(len(data) // 2, len(data) // 2 + 4000): data[place] ^= 0x5a
            open("b.mkv", "wb").write(data)
            """
        #expect(
            try program("/usr/bin/python3", ["-c", damage], directory: scratch.path).status == 0)
        try scratch.write(job("[ ./a.mkv, ./b.mkv, ./c.mkv ]"), to: "jobs.yaml")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 1 && run.errors.contains("b.mkv, track"), "\(run.errors)")
        #expect(run.errors.contains("`on_damage: skip`"), "\(run.errors)")
        #expect(!scratch.contents.contains { $0.hasPrefix("o") })
    }

    /// Still images, ranges and several outputs of a composition work as for other assets.
    @Test func compositionsAreReadLikeAssets() throws {
        let scratch = try folder()
        try scratch.write(
            """
            version: 1
            jobs:
              j:
                composition: [ ./a.mkv, ./b.mkv ]
                range: { start: 1s, end: 3s }
                outputs:
                  movie: { tracks: [ { video: first, encode: { codec: ffv1 } } ], destination: m.mkv }
                  poster: { images: { at: 1s }, destination: p.png }
                  peaks: { waveform: { format: json }, destination: w.json }
            """, to: "jobs.yaml")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 0, "\(run.errors)")
        let (a, b) = (
            try FFmpegFile(scratch.file("a.mkv")).frameHashes(),
            try FFmpegFile(scratch.file("b.mkv")).frameHashes()
        )
        #expect(try FFmpegFile(scratch.file("m.mkv")).frameHashes() == Array(a.suffix(25) + b.prefix(25)))
        #expect(try rgbHashes(scratch.file("p.png")) == rgbHashes(scratch.file("b.mkv"), frame: 0))
        #expect(scratch.contents.contains("w.json"))
    }
}
