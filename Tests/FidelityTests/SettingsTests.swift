import Foundation
import JobRun
import LibAV
import Media
import TestSupport
import Testing
import Publishing

/// Settings other than codecs have the requested effect, as measured by ffmpeg and ffprobe.
@Suite struct SettingsTests {
    /// Creates a source whose corners are red, green, blue and white.
    private func frame(_ name: String, _ more: String..., in scratch: Scratch) throws {
        let corners =
            "color=black:s=160x120:r=25:d=1,drawbox=0:0:40:40:red:fill,drawbox=120:0:40:40:lime:fill,"
            + "drawbox=0:80:40:40:blue:fill,drawbox=120:80:40:40:white:fill"
        try ffmpeg(
            ["-f", "lavfi", "-i", corners, "-c:v", "libx264", "-crf", "5", "-pix_fmt", "yuv420p"]
                + more + [scratch.file(name)])
    }

    private func job(
        _ encode: String, source: String = "a.mp4", destination: String = "o.mp4", more: String = ""
    )
        -> String
    {
        "version: 1\njobs:\n  one: { asset: ./\(source), tracks: [ { video: first, encode: { codec: h264, crf: 5, preset: ultrafast, \(encode) } } ]\(more), destination: { path: \(destination), if_exists: replace } }\n"
    }

    /// Returns the lowest PSNR of all frames, compared with the source filtered by ffmpeg.
    private func similarity(_ output: String, _ source: String, chain: String, in scratch: Scratch) throws
        -> Double
    {
        let result = try program(
            "ffmpeg",
            [
                "-hide_banner", "-nostdin", "-i", scratch.file(output), "-i", scratch.file(source), "-lavfi",
                "[1:v]\(chain)[b];[0:v][b]psnr", "-f", "null", "-",
            ])
        let lowest = try #require(result.errors.components(separatedBy: "min:").last?.prefix { $0 != " " })
        return lowest == "inf" ? 100 : Double(lowest) ?? 0
    }

    @Test(arguments: [
        ("crop: { x: 20, y: 10, width: 100, height: 60 }", "crop=100:60:20:10", 100, 60),
        ("orientation: 90", "transpose=clock", 120, 160),
        ("orientation: 180", "hflip,vflip", 160, 120),
        ("size: 200x200, fit: contain", "scale=200:150,pad=200:200:0:25", 200, 200),
        ("size: 100x100, fit: cover", "scale=134:100,crop=100:100", 100, 100),
        ("size: 100x100, fit: inside", "scale=100:75,crop=100:74:0:0,scale=100:76", 100, 76),
        ("size: 200x100", "scale=134:100", 134, 100), ("size: 160x120", "null", 160, 120),
        ("size: 200x100, fit: stretch", "scale=200:100", 200, 100),
        ("filters: \"hue=s=0\"", "hue=s=0", 160, 120),
        (
            "crop: { width: 80, height: 120 }, orientation: 270, size: 60x",
            "crop=80:120:0:0,transpose=cclock,scale=60:40", 60, 40
        ),
    ])
    func framesAreTransformedAsRequested(_ encode: String, _ chain: String, _ width: Int, _ height: Int)
        async throws
    {
        let scratch = try Scratch()
        try frame("a.mp4", in: scratch)
        _ = try success(try await run(job(encode), in: scratch.path))
        let stream = try FFmpegFile(scratch.file("o.mp4")).stream("v:0", "width,height,sample_aspect_ratio")
        #expect(stream["width"] as? Int == width && stream["height"] as? Int == height)
        #expect(stream["sample_aspect_ratio"] as? String ?? "1:1" == "1:1")
        #expect(try FFmpegFile(scratch.file("o.mp4")).frames().times.count == 25)
        let psnr = try similarity("o.mp4", "a.mp4", chain: chain, in: scratch)
        #expect(psnr > (encode.contains("inside") ? 24 : 34), "\(psnr)")
    }

    /// Players rotate a source with a display matrix; an output with baked-in orientation looks the same without one.
    @Test(arguments: [90, 180, 270]) func orientationIsBaked(_ degrees: Int) async throws {
        let scratch = try Scratch()
        try frame("flat.mp4", in: scratch)
        try copyMovie(scratch.file("flat.mp4"), rotatedBy: degrees, to: scratch.file("a.mp4"))
        _ = try success(try await run(job("orientation: bake"), in: scratch.path))
        // ffmpeg rotates its input by default.
        #expect(try similarity("o.mp4", "a.mp4", chain: "null", in: scratch) > 34)
        let rotation = try FFmpegFile(scratch.file("o.mp4")).probe([
            "-select_streams", "v:0", "-show_entries", "stream_side_data=rotation",
        ])
        #expect("\(rotation)".contains("rotation\": ") == false)
    }

    @Test func interlacedVideoIsDeinterlaced() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=50:d=1", "-vf", "interlace", "-c:v", "libx264",
            "-flags",
            "+ildct+ilme", "-crf", "5", scratch.file("a.mp4"))
        _ = try success(try await run(job("deinterlace: auto"), in: scratch.path))
        #expect(try similarity("o.mp4", "a.mp4", chain: "bwdif=mode=send_frame", in: scratch) > 34)
        let out = FFmpegFile(scratch.file("o.mp4"))
        #expect(try out.stream("v:0", "field_order")["field_order"] as? String == "progressive")
        #expect(try out.frames().times.count == 25)
    }

    @Test func colorIsConvertedAndTagged() async throws {
        let scratch = try Scratch()
        try frame(
            "a.mp4", "-colorspace", "smpte170m", "-color_primaries", "smpte170m", "-color_trc", "smpte170m",
            "-color_range", "tv", in: scratch)
        _ = try success(
            try await run(
                job("color: { primaries: bt709, transfer: bt709, matrix: bt709, range: pc }"),
                in: scratch.path))
        let stream = try FFmpegFile(scratch.file("o.mp4")).stream(
            "v:0", "color_space,color_range,color_primaries")
        #expect(stream["color_space"] as? String == "bt709" && stream["color_range"] as? String == "pc")
        let chain =
            "zscale=primaries=709:transfer=709:matrix=709,scale=in_range=tv:out_range=pc,format=yuv420p"
        #expect(try similarity("o.mp4", "a.mp4", chain: chain, in: scratch) > 34)
    }

    /// HDR frames aren't just tagged as SDR: they are tone-mapped as by ffmpeg's filters, and HDR metadata is dropped.
    @Test(
        arguments: ["smpte2084", "arib-std-b67"],
        ["color: { primaries: bt709, transfer: bt709, matrix: bt709 }, pixel_format: yuv420p", "color: sdr"])
    func hdrIsToneMapped(_ transfer: String, _ color: String) async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=1", "-vf",
            "zscale=transferin=709:primariesin=709:matrixin=709:transfer=\(transfer):primaries=2020:matrix=2020_ncl:npl=400,format=yuv420p10le",
            "-c:v", "libx265", "-x265-params",
            "log-level=none:crf=8:master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1):max-cll=1000,400",
            "-color_primaries", "bt2020", "-color_trc", transfer, "-colorspace", "bt2020nc", "-color_range",
            "tv",
            "-tag:v", "hvc1", scratch.file("a.mp4"))
        _ = try success(try await run(job(color), in: scratch.path))
        let stream = try FFmpegFile(scratch.file("o.mp4")).stream(
            "v:0", "pix_fmt,color_space,color_transfer,color_primaries")
        for key in ["color_space", "color_transfer", "color_primaries"] {
            #expect(stream[key] as? String == "bt709", "\(key)")
        }
        #expect(stream["pix_fmt"] as? String == "yuv420p")
        #expect((stream["side_data_list"] as? [[String: Any]] ?? []).isEmpty)
        let chain =
            "zscale=transfer=linear:npl=100,format=gbrpf32le,zscale=primaries=709,tonemap=hable:desat=0,zscale=transfer=709:matrix=709:range=limited,format=yuv420p"
        #expect(try similarity("o.mp4", "a.mp4", chain: chain, in: scratch) > 34)
    }

    /// `color: sdr` changes only HDR sources.
    @Test func sdrKeepsOtherColors() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=1", "-c:v", "libx264", "-color_primaries",
            "smpte170m", "-color_trc", "smpte170m", "-colorspace", "smpte170m", scratch.file("a.mp4"))
        _ = try success(try await run(job("color: sdr"), in: scratch.path))
        let stream = try FFmpegFile(scratch.file("o.mp4")).stream(
            "v:0", "color_space,color_transfer,color_primaries")
        for key in ["color_space", "color_transfer", "color_primaries"] {
            #expect(stream[key] as? String == "smpte170m", "\(key)")
        }
        #expect(try similarity("o.mp4", "a.mp4", chain: "null", in: scratch) > 34)
        // A source with a partial color description isn't tone-mapped either.
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=1", "-c:v", "libx264", "-color_trc", "smpte2084",
            scratch.file("a.mp4"))
        _ = try success(
            try await run(
                job("color: sdr").replacingOccurrences(of: "o.mp4", with: "p.mp4"), in: scratch.path))
        #expect(
            try FFmpegFile(scratch.file("p.mp4")).stream("v:0", "color_transfer")["color_transfer"] as? String
                == "smpte2084")
    }

    @Test(arguments: [
        "codec: h264, preset: medium", "codec: hevc, preset: ultrafast", "codec: vp9, frame_rate: 25",
    ])
    func twoPassesReachTheBitRate(_ codec: String) async throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=4", "-c:v", "ffv1", scratch.file("a.mkv"))
        let yaml =
            "version: 1\njobs:\n  one: { asset: ./a.mkv, tracks: [ { video: first, encode: { \(codec), bitrate: 400k, passes: 2 } } ], destination: o.mkv }\n"
        let result = try success(try await run(yaml, in: scratch.path))
        let rate = Double(result.outputs[0].size) * 8 / 4
        #expect((300_000...520_000).contains(rate), "\(rate) bits a second")
        #expect(try FFmpegFile(scratch.file("o.mkv")).frames().times.count == 100)
        #expect(scratch.contents.sorted() == ["a.mkv", "o.mkv"])
    }

    /// The target loudness is reached, as measured by ffmpeg, and the number of samples doesn't change.
    @Test(arguments: [("-14", "-1"), ("-23", "-2"), ("-12", "-1")])
    func loudnessIsReached(_ integrated: String, _ peak: String) async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i",
            "anoisesrc=a=0.3:c=pink:d=6:r=44100:s=7,volume='0.2+0.8*mod(t,1)':eval=frame",
            "-c:a", "pcm_s24le", scratch.file("a.wav"))
        let yaml =
            "version: 1\njobs:\n  one: { asset: ./a.wav, tracks: [ { audio: first, encode: { codec: pcm_s24le, normalize: { integrated: \(integrated), true_peak: \(peak) } } } ], destination: o.wav }\n"
        let result = try success(try await run(yaml, in: scratch.path))
        let (loudness, truePeak) = try FFmpegFile(scratch.file("o.wav")).loudness()
        let (wanted, limit) = (try #require(Double(integrated)), try #require(Double(peak)))
        #expect(abs(loudness - wanted) <= 0.3, "\(loudness) LUFS")
        #expect(truePeak <= limit + 0.05, "\(truePeak) dBTP")
        #expect(result.outputs[0].loudness.count == 1)
        let samples = try FFmpegFile(scratch.file("o.wav")).audio(rate: 44_100).count
        #expect(samples == 6 * 44_100)
        print("measured: loudness \(integrated): \(loudness) LUFS, peak \(truePeak) dBTP, \(samples) samples")
    }

    /// Loudness is measured on the encoded output: LAME scales its input, and lossy codecs overshoot peaks.
    @Test(arguments: [
        ("codec: mp3, bitrate: 64k", "mp3"), ("codec: mp3, bitrate: 128k", "mp3"),
        ("codec: mp3, bitrate: 192k", "mp3"), ("codec: aac, bitrate: 64k", "m4a"),
        ("codec: opus, bitrate: 48k", "ogg"), ("codec: vorbis, bitrate: 96k", "ogg"),
        ("codec: ac3, bitrate: 96k", "mkv"),
    ])
    func loudnessIsMeasuredOnTheOutput(_ encode: String, _ type: String) async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i",
            "anoisesrc=a=0.3:c=pink:d=8:r=48000:s=7,volume='0.2+0.8*mod(t,1)':eval=frame",
            "-c:a", "pcm_s24le", scratch.file("a.wav"))
        let yaml =
            "version: 1\njobs:\n  one: { asset: ./a.wav, tracks: [ { audio: first, encode: { \(encode), channels: stereo, normalize: { integrated: -14, true_peak: -1 } } } ], destination: o.\(type) }\n"
        let result = try success(try await run(yaml, in: scratch.path))
        let (loudness, truePeak) = try FFmpegFile(scratch.file("o.\(type)")).loudness()
        let reported = try #require(result.outputs[0].loudness.first?.after)
        print("measured: \(encode): \(loudness) LUFS, peak \(truePeak) dBTP; reported: \(reported)")
        #expect(abs(loudness - -14) <= 0.15, "\(loudness) LUFS")
        #expect(truePeak <= -0.9 || !result.warnings.isEmpty, "\(truePeak) dBTP")
        #expect(
            abs(reported.integrated - loudness) <= 0.1 && abs(reported.truePeak - truePeak) <= 0.3,
            "\(reported)")
    }

    /// A target loudness that can't be reached within the true-peak limit is an error.
    @Test func loudnessOutOfReachIsAnError() async throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=440:d=3:r=44100", "-c:a", "pcm_s16le", scratch.file("a.wav"))
        let yaml =
            "version: 1\njobs:\n  one: { asset: ./a.wav, tracks: [ { audio: first, encode: { codec: flac, normalize: { integrated: -5, true_peak: -9 } } } ], destination: o.flac }\n"
        let outcomes = try await run(yaml, in: scratch.path)
        guard case .failed(let failure)? = outcomes.first?.outcome else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(failure.message.contains("can't be reached"), "\(failure.message)")
        #expect(scratch.contents == ["a.wav"])
    }

    @Test func gainIsExact() async throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=440:d=1:r=48000", "-c:a", "pcm_s16le", scratch.file("a.wav"))
        let yaml =
            "version: 1\njobs:\n  one: { asset: ./a.wav, tracks: [ { audio: first, encode: { codec: pcm_f32le, gain: -6.02dB, filters: \"aphaser=decay=0,lowpass=f=20000\" } } ], destination: o.wav }\n  two: { asset: ./a.wav, tracks: [ { audio: first, encode: { codec: pcm_f32le, gain: -6.02dB } } ], destination: p.wav }\n"
        _ = try success(try await run(yaml, in: scratch.path), "two")
        let before = try FFmpegFile(scratch.file("a.wav")).audio(rate: 48_000)
        let after = try FFmpegFile(scratch.file("p.wav")).audio(rate: 48_000)
        #expect(before.count == after.count)
        let worst = zip(before, after).map { abs($0 * 0.5 - $1) }.max() ?? 1
        #expect(worst < 0.0002, "\(worst)")
        #expect(try FFmpegFile(scratch.file("o.wav")).audio(rate: 48_000).count == before.count)
    }

    /// The source's chapters are shifted with the range, or replaced by the job's own.
    @Test(arguments: ["mp4", "mkv", "mov", "m4a"]) func chaptersMoveWithTheRange(_ container: String)
        async throws
    {
        let scratch = try Scratch()
        try scratch.write(
            ";FFMETADATA1\n"
                + [(0, 1000, "A"), (1000, 2000, "B"), (2000, 4000, "C")].map {
                    "[CHAPTER]\nTIMEBASE=1/1000\nSTART=\($0.0)\nEND=\($0.1)\ntitle=\($0.2)\n"
                }.joined(), to: "chapters.txt")
        try ffmpeg(
            "-f", "lavfi", "-i", "sine=d=4", "-i", scratch.file("chapters.txt"), "-map_metadata", "1", "-c:a",
            "aac",
            scratch.file("a.mkv"))
        func chapters(_ more: String) async throws -> [String] {
            let yaml =
                "version: 1\njobs:\n  one: { asset: ./a.mkv, range: { start: 1.5s, end: 3.5s }, tracks: [ { audio: first, encode: { codec: aac } } ]\(more), destination: { path: o.\(container), if_exists: replace } }\n"
            _ = try success(try await run(yaml, in: scratch.path))
            let found = try FFmpegFile(scratch.file("o.\(container)")).probe(["-show_chapters"])
            return (found["chapters"] as? [[String: Any]] ?? []).map { chapter in
                let title = (chapter["tags"] as? [String: Any])?["title"] as? String ?? ""
                let (start, end) = (
                    chapter["start_time"] as? String ?? "", chapter["end_time"] as? String ?? ""
                )
                return "\(title) \(Double(start) ?? -1) \(Double(end) ?? -1)"
            }
        }
        #expect(try await chapters("") == ["B 0.0 0.5", "C 0.5 2.0"])
        #expect(try await chapters(", chapters: drop") == [])
        #expect(
            try await chapters(", chapters: [ { start: 0, title: X }, { start: 50%, title: Y } ]") == [
                "X 0.0 1.0", "Y 1.0 2.0",
            ])
    }

    @Test func outputStopsAtItsLimit() async throws {
        let scratch = try Scratch()
        try frame("a.mp4", in: scratch)
        let result = try success(
            try await run(
                job("fit: stretch, size: 160x120", more: ", limit: { duration: 0.4s }"), in: scratch.path))
        #expect(result.outputs[0].duration == MediaTime(value: 2, timescale: 5))
        #expect(try FFmpegFile(scratch.file("o.mp4")).frames().times.count == 10)
    }

    /// A session that hangs in a filter ends with an error that names the tracks.
    @Test func hangingSessionEndsWithAnError() async throws {
        let scratch = try Scratch()
        let asset = Asset(
            .pattern(
                TestPattern(
                    name: "testsrc", width: 64, height: 48, frameRate: .init(25, 1),
                    duration: MediaTime(value: 60, timescale: 1), toneFrequency: 440)))
        let contents = try asset.loadSynchronously()
        let output = try TemporaryFile(destination: scratch.file("o.mp4"))
        let session = ReencodeSession(
            reader: try AssetReader(asset: asset),
            writer: AssetWriter(output: output, container: try #require(ContainerType.named("mp4"))))
        session.stallTimeout = .seconds(2)
        for track in contents.tracks {
            let isVideo = track.mediaType == .video
            var video = VideoOutputSettings(pixelFormat: .yuv420p)
            // The filter sleeps forty seconds for each frame of 1/25 s.
            video.filters = FilterChain([
                FilterStep("realtime", ["speed": "0.001", "limit": "1000000"])
            ])
            var encoder = EncoderConfiguration(
                encoder: isVideo ? "libx264" : "aac", mediaType: track.mediaType,
                timeBase: isVideo ? track.timeBase : .init(1, track.format.sampleRate))
            (encoder.width, encoder.height, encoder.pixelFormat) = (64, 48, .yuv420p)
            encoder.sampleRate = track.format.sampleRate
            encoder.sampleFormat = try #require(SampleFormat(named: "fltp"))
            encoder.channelLayout = .mono
            try session.addTrack(
                output: AssetReaderTrackOutput(
                    track: track,
                    settings: isVideo
                        ? .video(video)
                        : .audio(AudioOutputSettings(sampleFormat: encoder.sampleFormat, layout: .mono))),
                input: AssetWriterInput(mediaType: track.mediaType, settings: .encode(encoder)))
        }
        guard case .failed(let error) = await session.run() else {
            Issue.record("the session didn't fail")
            return
        }
        #expect("\(error)".contains("audio 1 waits for video 0"), "\(error)")
        #expect(scratch.contents.isEmpty)
    }
}
