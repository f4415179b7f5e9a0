import Foundation
import JobRun
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

/// A container, the settings of its tracks, and the codecs that ffprobe must find in it.
struct Rendition: Sendable, CustomTestStringConvertible {
    let container: String
    var video: String?
    var audio: String?
    var videoCodec: String?
    var audioCodec: String?
    var sampleRate = 48_000
    /// Additional samples that a decoder returns if the container can't mark them as padding.
    var slack = 0
    var testDescription: String {
        "\(container): \([videoCodec, audioCodec].compactMap { $0 }.joined(separator: " + "))"
    }

    static let all = [
        Rendition(
            container: "mp4", video: "codec: h264, preset: fast", audio: "codec: aac", videoCodec: "h264",
            audioCodec: "aac"),
        Rendition(
            container: "mp4", video: "codec: hevc, preset: ultrafast", audio: "codec: ac3",
            videoCodec: "hevc", audioCodec: "ac3"),
        Rendition(
            container: "mp4", video: "codec: av1, preset: 12", audio: "codec: opus", videoCodec: "av1",
            audioCodec: "opus"),
        Rendition(
            container: "mp4", video: "codec: vp9, preset: realtime", audio: "codec: flac", videoCodec: "vp9",
            audioCodec: "flac"),
        Rendition(
            container: "mov", video: "codec: prores, profile: lt", audio: "codec: pcm_s16le",
            videoCodec: "prores", audioCodec: "pcm_s16le"),
        Rendition(
            container: "mov", video: "codec: mjpeg, qp: 4", audio: "codec: pcm_s24le", videoCodec: "mjpeg",
            audioCodec: "pcm_s24le"),
        Rendition(
            container: "mkv", video: "codec: ffv1", audio: "codec: flac", videoCodec: "ffv1",
            audioCodec: "flac"),
        Rendition(
            container: "mkv", video: "codec: h264, preset: fast", audio: "codec: aac", videoCodec: "h264",
            audioCodec: "aac", slack: 0),
        Rendition(
            container: "webm", video: "codec: vp9, preset: realtime", audio: "codec: opus", videoCodec: "vp9",
            audioCodec: "opus", slack: 0),
        Rendition(
            container: "webm", video: "codec: av1, preset: 12", audio: "codec: vorbis", videoCodec: "av1",
            audioCodec: "vorbis", slack: 0),
        Rendition(
            container: "m4a", audio: "codec: aac, sample_rate: 44.1kHz", audioCodec: "aac", sampleRate: 44_100
        ),
        Rendition(container: "wav", audio: "codec: pcm_s16le", audioCodec: "pcm_s16le"),
        Rendition(container: "aiff", audio: "codec: pcm_s16le", audioCodec: "pcm_s16le"),
        Rendition(
            container: "wav", audio: "codec: pcm_s24le, sample_rate: 96kHz", audioCodec: "pcm_s24le",
            sampleRate: 96_000),
        Rendition(container: "flac", audio: "codec: flac", audioCodec: "flac"),
        Rendition(container: "m4a", audio: "codec: alac", audioCodec: "alac"),
        Rendition(container: "ogg", audio: "codec: opus", audioCodec: "opus", slack: 0),
        Rendition(container: "ogg", audio: "codec: vorbis", audioCodec: "vorbis", slack: 0),
        Rendition(container: "mp3", audio: "codec: mp3", audioCodec: "mp3", slack: 0),
        Rendition(container: "adts", audio: "codec: aac", audioCodec: "aac", slack: 2048),
    ]
}

@Suite struct CodecTests {
    /// Encoded frames are at their times, and the audio isn't shifted.
    @Test(arguments: Rendition.all) func encodedTracksKeepFramesAndTimes(_ rendition: Rendition) async throws
    {
        let scratch = try Scratch()
        let source = scratch.file("source.mkv")
        // Noise, in which a shift can be measured.
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=2", "-f", "lavfi", "-i",
            "anoisesrc=d=2:r=48000:a=0.5:seed=7:c=pink", "-c:v", "ffv1",
            "-c:a", "pcm_s16le", "-ac", "2", source)
        var tracks = ""
        if let video = rendition.video { tracks += "      - { video: first, encode: { \(video) } }\n" }
        if let audio = rendition.audio { tracks += "      - { audio: first, encode: { \(audio) } }\n" }
        let output = scratch.file(
            "out." + (try #require(ContainerType.named(rendition.container)).extensions[0]))
        let result = try success(
            try await run(
                "version: 1\njobs:\n  one:\n    asset: \(source)\n    tracks:\n\(tracks)    container: \(rendition.container)\n    destination: \(output)\n",
                in: scratch.path))
        let ffmpegFile = FFmpegFile(output)
        #expect(try ffmpegFile.decodeErrors() == "")
        if let codec = rendition.videoCodec {
            #expect(try ffmpegFile.stream("v:0", "codec_name")["codec_name"] as? String == codec)
            let times = try ffmpegFile.frames().times
            #expect(times.count == 50)
            let error = zip(times, 0..<50).map { abs($0 - Double($1) / 25) }.max() ?? 1
            #expect(error <= 0.5 / (try ffmpegFile.timescale("v:0")) + 1e-6, "off by \(error) s")
        }
        guard let codec = rendition.audioCodec else { return }
        #expect(try ffmpegFile.stream("a:0", "codec_name")["codec_name"] as? String == codec)
        #expect(result.outputs[0].tracks.last?.appendedSamples == 2 * rendition.sampleRate)
        let audio = try ffmpegFile.audio(rate: rendition.sampleRate)
        let reference = try FFmpegFile(source).audio(rate: rendition.sampleRate)
        let found = lag(reference, audio, reach: 2400)
        // Containers without timestamps can't hide the encoder's delay.
        let allowed = rendition.container == "adts" ? 2048 : rendition.sampleRate / 1000
        #expect(abs(found.lag) <= allowed, "lag of \(found.lag) samples")
        #expect(found.correlation > 0.85, "correlation \(found.correlation)")
        let edits = try ffmpegFile.editDurations().compactMap { $0 }
        if let edit = edits.last {
            #expect(Int((edit.media * Double(rendition.sampleRate)).rounded()) == 2 * rendition.sampleRate)
        } else {
            #expect(abs(audio.count - 2 * rendition.sampleRate) <= rendition.slack, "\(audio.count) samples")
        }
    }

    /// Size, pixel aspect ratio, frame rate, pixel format, channels and sample rate are as set by the job.
    @Test func requestedConversionsAreInTheOutput() async throws {
        let scratch = try Scratch()
        let yaml = """
            version: 1
            jobs:
              one:
                asset: { pattern: testsrc, size: 320x180, frame_rate: 25, duration: 2s, tone: 440Hz }
                tracks:
                  - video: first
                    encode: { codec: h264, preset: fast, size: 160x180, pixel_aspect_ratio: 2:1, frame_rate: 30000/1001, pixel_format: yuv444p, keyframe_interval: 500ms }
                  - audio: first
                    encode: { codec: aac, sample_rate: 22050, channels: 5.1 }
                metadata: { set: { title: "A title" } }
                destination: out.mov
            """
        _ = try success(try await run(yaml, in: scratch.path))
        let ffmpegFile = FFmpegFile(scratch.file("out.mov"))
        let video = try ffmpegFile.stream("v:0", "width,height,pix_fmt,sample_aspect_ratio,r_frame_rate")
        #expect(video["width"] as? Int == 160 && video["height"] as? Int == 180)
        #expect(video["sample_aspect_ratio"] as? String == "2:1")
        #expect(video["pix_fmt"] as? String == "yuv444p")
        #expect(video["r_frame_rate"] as? String == "30000/1001")
        let times = try ffmpegFile.frames().times
        #expect(times.count == 60)
        #expect(zip(times, 0..<60).allSatisfy { abs($0 - Double($1) * 1001 / 30_000) < 1e-4 })
        let keys =
            try ffmpegFile.probe(["-select_streams", "v:0", "-show_entries", "packet=flags"])["packets"]
            as? [[String: Any]] ?? []
        #expect(keys.filter { ($0["flags"] as? String)?.hasPrefix("K") == true }.count == 4)
        let audio = try ffmpegFile.stream("a:0", "sample_rate,channels")
        #expect(audio["sample_rate"] as? String == "22050" && audio["channels"] as? Int == 6)
        let tags =
            (try ffmpegFile.probe(["-show_entries", "format_tags=title"])["format"] as? [String: Any])?[
                "tags"]
            as? [String: Any]
        #expect(tags?["title"] as? String == "A title")
    }

    /// Copied frames and samples equal the source's, for the whole source and for ranges at keyframes.
    ///
    /// The audio is a rising tone, because AAC's noise substitution decodes differently at every position.
    @Test func copiesEqualTheSource() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=4", "-f", "lavfi", "-i",
            "aevalsrc='0.4*sin(2*PI*(200+300*t)*t)':d=4:s=48000", "-c:v", "libx264", "-g",
            "25", "-sc_threshold", "0", "-x264-params", "open-gop=0", "-c:a", "aac", "-ac", "2",
            scratch.file("a.mp4"))
        let yaml = """
            version: 1
            jobs:
              whole:
                asset: ./a.mp4
                tracks: [ { video: all, copy: true }, { audio: all, copy: true } ]
                destination: whole.mp4
              range:
                asset: ./a.mp4
                range: { start: 1s, end: 3s }
                tracks: [ { video: all, copy: true }, { audio: all, copy: true } ]
                destination: range.mp4
            """
        let outcomes = try await run(yaml, in: scratch.path)
        _ = try success(outcomes, "whole")
        _ = try success(outcomes, "range")
        let (source, whole, range) = (
            FFmpegFile(scratch.file("a.mp4")), FFmpegFile(scratch.file("whole.mp4")),
            FFmpegFile(scratch.file("range.mp4"))
        )
        #expect(try whole.frames().times == source.frames().times)
        #expect(try whole.lowestPSNR(against: source, first: 0, count: 100, own: 0) == 100)
        #expect(try whole.editDurations().map { $0?.media } == source.editDurations().map { $0?.media })
        #expect(try whole.audio(rate: 48_000) == source.audio(rate: 48_000))
        #expect(try range.frames().times.count == 50)
        #expect(try range.lowestPSNR(against: source, first: 25, count: 50, own: 0) == 100)
        #expect(try range.editDurations().compactMap { $0?.media } == [2, 2])
        let found = lag(
            Array(try source.audio(rate: 48_000)[48_000..<144_000]), try range.audio(rate: 48_000), reach: 480
        )
        #expect(found.lag == 0 && found.correlation > 0.99, "\(found)")
    }

    /// Encodes each codec into each container that declares support for it.
    @Test func everyDeclaredPairOfCodecAndContainerIsWritten() async throws {
        let scratch = try Scratch()
        var yaml = """
            version: 1
            assets: { bars: { pattern: smpte, size: 128x96, duration: 0.4s, tone: 1kHz } }
            jobs:

            """
        var pairs: [String: String] = [:]
        for container in ContainerType.all {
            for type in [MediaType.video, .audio] where container.mediaTypes.contains(type) {
                for name in CodecCatalog.names(of: type) {
                    guard let codec = CodecCatalog.codec(name, of: type), codec.availableEncoder != nil,
                        container.canHold(codec: codec.libavName)
                    else { continue }
                    let id = "\(container.name)-\(name)"
                    pairs[id] = codec.libavName
                    let quick = ["hevc": "preset: ultrafast", "av1": "preset: 12", "vp9": "preset: realtime"]
                    let more = quick[name].map { ", \($0)" } ?? ""
                    yaml += """
                          \(id):
                            asset: bars
                            tracks: [ { \(type.rawValue): first, encode: { codec: \(name)\(more) } } ]
                            container: \(container.name)
                            destination: \(id).bin

                        """
                }
            }
        }
        let outcomes = try await run(yaml, in: scratch.path)
        #expect(outcomes.count == pairs.count && pairs.count > 50)
        for record in outcomes {
            let id = record.id
            guard case .succeeded(let result) = record.outcome else {
                Issue.record("\(id): \(record.outcome)")
                continue
            }
            let stream = try FFmpegFile(#require(result.outputs[0].destination)).stream("0", "codec_name")
            #expect(stream["codec_name"] as? String == pairs[id], "\(id)")
        }
    }

    /// If a container can't represent that the audio starts after the video, it begins with silence, which isn't
    /// reported as damage.
    @Test func lateAudioBeginsWithSilence() async throws {
        let scratch = try Scratch()
        let encoded = try program(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=4", "-f", "lavfi",
                "-itsoffset", "1", "-i", "sine=d=3:r=48000", "-c:v", "libx264", "-c:a", "aac",
                scratch.file("s.mp4"),
            ])
        #expect(encoded.status == 0, "\(encoded.errors)")
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  j: { asset: ./s.mp4, tracks: [ { audio: first, encode: { codec: pcm_s16le } } ], destination: o.wav }
                """, in: scratch.path))
        let samples = try FFmpegFile(scratch.file("o.wav")).samples(channels: 1, rate: 48_000)
        #expect(samples.count == 192_000)
        // ffmpeg presents the encoder's delay of a track that starts after time zero.
        #expect(samples[..<46_900].allSatisfy { $0 == 0 })
        #expect(samples[48_100...].contains { abs($0) > 0.05 })
    }

    /// Audio that starts after the video keeps its end: libavformat doesn't report the duration of such a track's last
    /// packet, which may contain hundreds of samples.
    @Test(arguments: ["mp4", "mov", "mkv"]) func lateAudioEndsAtTheSameTime(_ container: String) async throws
    {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=3", "-f", "lavfi", "-itsoffset", "1", "-i",
            "sine=d=2:r=48000", "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "flac",
            scratch.file("s.mkv"))
        for codec in ["opus", "aac"] where codec == "aac" || container != "mov" {
            _ = try success(
                try await run(
                    """
                    version: 1
                    jobs:
                      j:
                        asset: ./s.mkv
                        tracks: [ { video: first, copy: true }, { audio: first, encode: { codec: \(codec) } } ]
                        destination: \(codec).\(container)
                    """, in: scratch.path))
            let output = FFmpegFile(scratch.file("\(codec).\(container)"))
            #expect(try output.decodeErrors() == "")
            guard container != "mkv" else { continue }
            #expect(try output.editDurations().last??.media == 2)
        }
    }

    /// Matroska has no edit lists; AAC samples that aren't presented are marked at their blocks. This applies to copies
    /// and encodes, and to tracks that start at or after zero. Copies from Matroska keep the end.
    @Test func matroskaMarksSamplesThatAreNotPresented() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=3", "-f", "lavfi", "-itsoffset", "1", "-i",
            "aevalsrc='0.5*sin(2*PI*t*(200+150*t))':d=2:s=48000", "-f", "lavfi", "-i",
            "aevalsrc='0.5*sin(2*PI*t*(900-150*t))':d=2:s=48000", "-map", "0", "-map", "1", "-map", "2",
            "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "pcm_s16le", scratch.file("s.mov"))
        try ffmpeg("-f", "lavfi", "-i", "sine=d=2:r=48000", "-c:a", "libopus", scratch.file("o.webm"))
        func job(_ id: String, _ asset: String, _ audio: String, _ output: String) -> String {
            "  \(id): { asset: \(asset), tracks: [ { video: all, optional: true, copy: true }, { audio: all, \(audio) } ], destination: \(output) }\n"
        }
        _ = try success(
            try await run(
                "version: 1\njobs:\n" + job("a", "./s.mov", "encode: { codec: aac }", "a.mp4")
                    + job("b", "{ job: a }", "copy: true", "b.mkv")
                    + job("c", "{ job: b }", "copy: true", "c.mkv")
                    + job("d", "{ job: c }", "copy: true", "d.mp4")
                    + job("e", "./s.mov", "encode: { codec: aac }", "e.mkv")
                    + job("f", "./o.webm", "copy: true", "f.mp4"), in: scratch.path))
        func samples(_ name: String, track: Int) throws -> [Float] {
            try FFmpegFile(scratch.file(name)).samples(track: track, channels: 1, rate: 48_000)
        }
        for track in 0..<2 {
            let audio = try samples("b.mkv", track: track)
            #expect(audio.count == 96_000)
            // libavformat ignores the end of an edit.
            #expect(try Array(samples("a.mp4", track: track).prefix(96_000)) == audio)
            #expect(try samples("c.mkv", track: track).count == 96_000)
            // When encoding to Matroska, silence fills the time before the track's start.
            #expect(try samples("e.mkv", track: track).count == (track == 0 ? 144_000 : 96_000))
            let edit = try #require(try MovieBoxes(scratch.file("d.mp4")).editDurations[1 + track])
            #expect(abs(edit.empty - (track == 0 ? 1 : 0)) < 0.002 && abs(edit.media - 2) < 0.002, "\(edit)")
        }
        let edit = try #require(try MovieBoxes(scratch.file("f.mp4")).editDurations[0])
        #expect(abs(edit.media - 2) < 0.002, "\(edit)")
    }

    /// A copy of audio that starts after the video hides the encoder's delay like its source, with and without
    /// fragments, and keeps the end.
    @Test func copiedLateAudioHidesItsDelay() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=4", "-f", "lavfi", "-itsoffset", "1", "-i",
            "aevalsrc='0.5*sin(2*PI*t*(200+150*t))':d=3:s=48000", "-c:v", "libx264", "-preset", "ultrafast",
            "-c:a",
            "pcm_s16le", scratch.file("s.mov"))
        let jobs = [
            ("./s.mov", "encode: { codec: aac }", "a.mp4", ""), ("./a.mp4", "copy: true", "b.mp4", ""),
            ("./b.mp4", "copy: true", "parts.mp4", "fragment: 500ms, "),
            ("./parts.mp4", "copy: true", "back.mov", ""),
            ("./a.mp4", "copy: true", "cut.mp4", "range: { start: 0.4s }, "),
        ]
        for (source, audio, output, more) in jobs {
            _ = try success(
                try await run(
                    """
                    version: 1
                    jobs:
                      j: { asset: \(source), \(more)tracks: [ { video: first, \(output == "cut.mp4" ? "encode: { codec: h264 }" : "copy: true") }, { audio: first, \(audio) } ], destination: \(output) }
                    """, in: scratch.path))
            let edit = try #require(try MovieBoxes(scratch.file(output)).editDurations[1])
            #expect(
                abs(edit.empty - (output == "cut.mp4" ? 0.6 : 1)) < 1e-9 && edit.media == 3,
                "\(output): \(edit)")
        }
        let audio = try FFmpegFile(scratch.file("a.mp4")).samples(channels: 1, rate: 48_000)
        // libavformat ignores edit lists of fragmented mp4.
        for copy in ["b.mp4", "back.mov", "cut.mp4"] {
            #expect(try FFmpegFile(scratch.file(copy)).samples(channels: 1, rate: 48_000) == audio, "\(copy)")
        }
    }
}
