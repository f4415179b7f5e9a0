import Diagnostics
import Foundation
import JobPlan
import JobRun
import Media
import TestSupport
import Testing

/// Tests properties of containers and streams other than frames and samples, and sources that declare too few
/// properties.
@Suite struct StreamPropertyTests {
    static func copy(_ asset: String, _ output: String) -> String {
        "  \(output.replacingOccurrences(of: ".", with: "_")): { asset: \(asset), tracks: [ { video: first, copy: true } ], leftover: drop, destination: \(output) }\n"
    }

    private func carry(_ jobs: String, in scratch: Scratch) async throws {
        for record in try await run("version: 1\njobs:\n" + jobs, in: scratch.path) {
            _ = try success([record])
        }
    }

    /// Copies keep a pixel aspect ratio that only the container stores.
    @Test func copiesKeepThePixelAspectRatioOfTheContainer() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=1", "-c:v", "libx264", "-preset", "ultrafast",
            scratch.file("t.mp4"))
        for name in ["s.mp4", "s.mkv"] {
            try ffmpeg("-i", scratch.file("t.mp4"), "-c", "copy", "-aspect", "4:3", scratch.file(name))
        }
        try await carry(
            ["mp4", "mkv"].flatMap { from in
                ["mp4", "mkv", "mov"].map { Self.copy("./s.\(from)", "\(from).\($0)") }
            }.joined(), in: scratch)
        for from in ["mp4", "mkv"] {
            for to in ["mp4", "mkv", "mov"] {
                let probed = try program(
                    "ffprobe",
                    [
                        "-v", "error", "-show_entries", "stream=sample_aspect_ratio", "-of", "csv=p=0",
                        scratch.file("\(from).\(to)"),
                    ])
                #expect(probed.text.hasPrefix("3:4"), "\(from) to \(to): \(probed.text)")
            }
        }
    }

    /// If a movie starts within a GOP, the preceding frames are hidden in a copy too, or copying is an error.
    @Test func hiddenFramesStayHiddenInCopies() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=4", "-c:v", "libx264", "-preset", "ultrafast",
            "-g", "25", "-bf", "0", scratch.file("whole.mp4"))
        try ffmpeg("-ss", "0.5", "-i", scratch.file("whole.mp4"), "-c", "copy", scratch.file("cut.mp4"))
        try await carry(Self.copy("./cut.mp4", "o.mp4") + Self.copy("./cut.mp4", "o.mov"), in: scratch)
        let source = try FFmpegFile(scratch.file("cut.mp4")).decodedFrames().filter { $0.time >= 0 }
        for name in ["o.mp4", "o.mov"] {
            let copied = try FFmpegFile(scratch.file(name)).decodedFrames().filter { $0.time >= 0 }
            #expect(copied.map(\.hash) == source.map(\.hash) && copied.map(\.time) == source.map(\.time))
        }
        let refused = try await run(
            "version: 1\njobs:\n" + Self.copy("./cut.mp4", "o.mkv"), in: scratch.path)
        guard case .failed(let failure)? = refused.first?.outcome else {
            Issue.record("mkv can't hide frames")
            return
        }
        #expect(
            failure.message.contains("begins with frames that an edit list hides"), "\(failure.message)")
        #expect(refused.first?.plan == nil, "the plan must report the error")
    }

    /// The last reference frame, which has no presentation time in these containers, is shown last.
    @Test(arguments: ["avi", "mpg"]) func lastReferenceFrameIsShownLast(_ container: String) async throws {
        let scratch = try Scratch()
        let codec = container == "avi" ? ["mpeg4", "-g", "20"] : ["mpeg2video", "-g", "15"]
        let encoded = try program(
            "ffmpeg",
            ["-v", "error", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=4", "-c:v"] + codec
                + ["-bf", "2", scratch.file("s.\(container)")])
        #expect(encoded.status == 0)
        try await carry(
            Self.copy("./s.\(container)", "c.mp4")
                + Self.copy("./s.\(container)", "e.mkv").replacingOccurrences(
                    of: "copy: true", with: "encode: { codec: ffv1 }"), in: scratch)
        // ffmpeg doesn't determine a time for the last frame either.
        let source = try FFmpegFile(scratch.file("e.mkv")).decodedFrames().map(\.hash)
        for name in ["c.mp4", "e.mkv"] {
            let frames = try FFmpegFile(scratch.file(name)).decodedFrames()
            #expect(frames.count == 100 && frames.map(\.hash) == source, "\(name): \(frames.count)")
            let steps = zip(frames, frames.dropFirst()).map { $1.time - $0.time }
            #expect(steps.allSatisfy { abs($0 - 0.04) < 0.0011 }, "\(name): \(steps)")
        }
    }

    /// HDR metadata, which HEVC stores in SEI messages, is stored in the container by encodes.
    @Test(arguments: ["mp4", "ts"]) func hdrMetadataIsKept(_ source: String) async throws {
        let scratch = try Scratch()
        let parameters =
            "log-level=error:hdr10=1:master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1):max-cll=1000,400:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc"
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=1", "-c:v", "libx265", "-preset", "ultrafast",
            "-x265-params", parameters, "-pix_fmt", "yuv420p10le", scratch.file("s.\(source)"))
        try await carry(
            ["mp4", "mkv"].map {
                Self.copy("./s.\(source)", "o.\($0)").replacingOccurrences(
                    of: "copy: true", with: "encode: { codec: hevc, preset: ultrafast }")
            }.joined(), in: scratch)
        for name in ["o.mp4", "o.mkv"] {
            let probed = try program(
                "ffprobe", ["-v", "error", "-show_streams", "-of", "default=nw=1", scratch.file(name)])
            func value(_ key: String) -> Double? {
                probed.text.split(separator: "\n").first { $0.hasPrefix(key + "=") }.flatMap { line in
                    let parts = line.dropFirst(key.count + 1).split(separator: "/").compactMap { Double($0) }
                    return parts.count == 2 ? parts[0] / parts[1] : parts.first
                }
            }
            #expect(value("green_x") == 0.265 && value("red_x") == 0.68 && value("blue_y") == 0.06)
            #expect(value("max_luminance") == 1000 && value("max_content") == 1000, "\(name): \(probed.text)")
            #expect(value("max_average") == 400 && value("white_point_x") == 0.3127)
        }
    }

    /// Smart cuts into coarse time bases keep every frame: into transport streams, which are shifted by the delay of
    /// their audio, and into Matroska, whose milliseconds could round a frame's duration to 0.
    @Test func smartCutsIntoCoarseTimeBasesKeepEveryFrame() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=30000/1001:d=4", "-f", "lavfi", "-i", "sine=d=4",
            "-c:v", "libx264", "-preset", "veryfast", "-g", "30", "-bf", "2", "-c:a", "aac",
            scratch.file("s.mp4"))
        for (start, end, name) in [(0.51, 3.2, "a.ts"), (0.1, 1.77, "b.mkv"), (0.1, 1.77, "c.ts")] {
            _ = try success(
                try await run(
                    """
                    version: 1
                    jobs:
                      j:
                        asset: ./s.mp4
                        cut: smart
                        range: { start: \(start), end: \(end) }
                        tracks: [ { video: first, copy: true }, { audio: first, encode: { codec: aac } } ]
                        destination: \(name)
                    """, in: scratch.path))
            let frames = try FFmpegFile(scratch.file(name)).decodedFrames()
            let first = Int((start * 30000 / 1001).rounded(.down))
            let end = Int((end * 30000 / 1001).rounded(.up))
            #expect(frames.count == end - first, "\(name): \(frames.count)")
        }
    }

    /// The ProRes profile, which determines the bit depth and is only in the sample description, is kept in Matroska.
    @Test func proResKeepsItsProfile() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=1,format=yuva444p10le", "-c:v", "prores_ks",
            "-profile:v", "4444", scratch.file("s.mov"))
        try await carry(Self.copy("./s.mov", "o.mkv"), in: scratch)
        let frames = try [scratch.file("s.mov"), scratch.file("o.mkv")].map {
            try FFmpegFile($0).decodedFrames().map(\.hash)
        }
        #expect(frames[0] == frames[1])
    }

    /// The FLAC header states the number of samples and the checksum of the encoded audio.
    @Test func flacHeaderHasLengthAndChecksum() async throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=d=0.7:r=48000", scratch.file("s.wav"))
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  j: { asset: ./s.wav, tracks: [ { audio: first, encode: { codec: flac } } ], destination: o.flac }
                """, in: scratch.path))
        let header = try Data(contentsOf: URL(filePath: scratch.file("o.flac"))).prefix(42)
        let samples = header[21..<26].reduce(0) { $0 << 8 | Int($1) } & 0xf_ffff_ffff
        #expect(samples == 33_600)
        #expect(header[26..<42].contains { $0 != 0 })
    }

    /// The last page of an Ogg copy is marked and states the number of samples; the last block of a WebM copy states
    /// its padding.
    @Test func copiesOfOggAndWebMKeepTheirEnd() async throws {
        let scratch = try Scratch()
        for (codec, name) in [("libopus", "o.ogg"), ("libvorbis", "v.ogg"), ("libopus", "w.webm")] {
            try ffmpeg("-f", "lavfi", "-i", "sine=d=3:r=48000", "-c:a", codec, scratch.file(name))
        }
        let jobs = [("o.ogg", "oo.ogg"), ("v.ogg", "vv.ogg"), ("o.ogg", "oo.webm"), ("w.webm", "wo.ogg")]
        for record in try await run(
            "version: 1\njobs:\n"
                + jobs.enumerated().map {
                    "  j\($0): { asset: ./\($1.0), tracks: [ { audio: first, copy: true } ], destination: \($1.1) }\n"
                }.joined(), in: scratch.path)
        {
            _ = try success([record])
        }
        for (source, copy) in jobs {
            let count = try FFmpegFile(scratch.file(copy)).samples(channels: 1, rate: 48_000).count
            // WebM timestamps are in milliseconds.
            #expect(
                abs(count - 144_000) <= (source.hasSuffix("webm") ? 48 : 0), "\(source) to \(copy): \(count)")
        }
    }

    /// Copying audio with a gap is an error for containers that store samples contiguously.
    @Test func pauseInPCMIsNotDropped() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "sine=d=3:r=48000", "-af", "aselect='not(between(t,1,1.8))'", "-c:a",
            "pcm_s16le", scratch.file("s.mkv"))
        let records = try await run(
            """
            version: 1
            jobs:
              a: { asset: ./s.mkv, tracks: [ { audio: first, copy: true } ], destination: a.mov }
              b: { asset: ./s.mkv, tracks: [ { audio: first, copy: true } ], destination: b.wav }
              c: { asset: ./s.mkv, tracks: [ { audio: first, copy: true } ], destination: c.mkv }
              d: { asset: ./s.mkv, tracks: [ { audio: first, encode: { codec: pcm_s16le } } ], destination: d.mov }
            """, in: scratch.path)
        for id in ["a", "b"] {
            guard case .failed(let failure)? = records.first(where: { $0.id == id })?.outcome else {
                Issue.record("\(id)")
                continue
            }
            #expect(failure.message.contains("a gap from 1.0"), "\(failure.message)")
        }
        for id in ["c", "d"] { _ = try success(records, id) }
        let filled = try FFmpegFile(scratch.file("d.mov")).samples(channels: 1, rate: 48_000).count
        #expect(abs(filled - 144_000) <= 1100, "\(filled)")
    }

    /// Ranges of program streams are complete: a parser that starts in the middle finds a partial frame first, which
    /// precedes the range.
    @Test func rangesOfProgramStreamsAreComplete() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=5", "-f", "lavfi", "-i", "sine=d=5:r=48000",
            "-c:v", "mpeg2video", "-bf", "2", "-g", "15", "-c:a", "mp2", scratch.file("s.mpg"))
        let starts = [0.7, 1, 2.3, 3.1]
        let jobs = starts.enumerated().map {
            "  j\($0): { asset: ./s.mpg, range: { start: \($1), end: \($1 + 1) }, tracks: [ { video: first, encode: { codec: ffv1 } }, { audio: first, encode: { codec: flac } } ], destination: o\($0).mkv }\n"
        }
        for record in try await run("version: 1\njobs:\n" + jobs.joined(), in: scratch.path) {
            _ = try success([record])
        }
        for index in starts.indices {
            let output = FFmpegFile(scratch.file("o\(index).mkv"))
            #expect(abs(try output.samples(channels: 1, rate: 48_000).count - 48_000) <= 48)
            #expect([25, 26].contains(try output.decodedFrames().count))
        }
    }

    /// Interlaced frames are deinterlaced before they are scaled, unless the job sets `deinterlace: off`.
    @Test func interlacedFramesAreDeinterlacedBeforeScaling() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=320x240:r=50:d=1", "-vf",
            "tinterlace=interleave_top,setfield=tff", "-c:v", "libx264", "-flags", "+ildct+ilme",
            "-x264-params", "tff=1", scratch.file("s.mp4"))
        for (name, more) in [("a", ""), ("b", ", deinterlace: auto"), ("c", ", deinterlace: off")] {
            _ = try success(
                try await run(
                    """
                    version: 1
                    jobs:
                      j: { asset: ./s.mp4, tracks: [ { video: first, encode: { codec: ffv1, size: 160x120\(more) } } ], destination: \(name).mkv }
                    """, in: scratch.path))
        }
        let hashes = try ["a", "b", "c"].map {
            try FFmpegFile(scratch.file("\($0).mkv")).decodedFrames().map(\.hash)
        }
        #expect(hashes[0] == hashes[1] && hashes[0] != hashes[2])
    }

    /// An encoder delay that the container can't hide is listed in the ledger.
    @Test func delayThatCantBeHiddenIsReported() async throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=d=1:r=48000", "-c:a", "aac", scratch.file("s.m4a"))
        try ffmpeg("-f", "lavfi", "-i", "sine=d=1:r=48000", "-c:a", "libmp3lame", scratch.file("s.mp3"))
        for (source, name, isReported) in [
            ("s.m4a", "o.aac", true), ("s.m4a", "o.ts", true), ("s.m4a", "o.mkv", false),
            ("s.m4a", "o.mp4", false), ("s.mp3", "p.mkv", true), ("s.mp3", "p.mp4", false),
            ("s.mp3", "p.mp3", false),
        ] {
            let records = try await run(
                """
                version: 1
                jobs:
                  j: { asset: ./\(source), tracks: [ { audio: first, copy: true } ], destination: \(name) }
                """, in: scratch.path)
            _ = try success(records)
            let ledger = try #require(records.first?.plan?.outputs[0].ledger)
            #expect(ledger.contains { $0.item.text == "hidden beginning" } == isReported, "\(name)")
        }
    }

    /// The FLAC encoder of FFmpeg 5.1 supports at most 24 bits. The plan notes a reduced bit depth.
    @Test func reducedBitDepthIsNoted() async throws {
        let scratch = try Scratch()
        for format in ["s16", "s24", "s32"] {
            try ffmpeg(
                "-f", "lavfi", "-i", "sine=d=1", "-c:a", "pcm_\(format)le", scratch.file("\(format).wav"))
            let records = try await run(
                """
                version: 1
                jobs:
                  j: { asset: ./\(format).wav, tracks: [ { audio: first, encode: { codec: flac } } ], destination: \(format).flac }
                """, in: scratch.path)
            _ = try success(records)
            let notes = try #require(records.first?.plan?.outputs[0].notes)
            #expect(notes.contains { $0.contains("24 bits") } == (format == "s32"), "\(format): \(notes)")
        }
    }
}
