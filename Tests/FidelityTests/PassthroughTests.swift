import Diagnostics
import Foundation
import JobPlan
import JobRun
import Media
import TestSupport
import Testing

/// A source with its container and codecs, and the containers into which its tracks are copied.
struct CopyPath: Sendable, CustomTestStringConvertible {
    let container: String
    var video: [String] = []
    var audio: [String] = []
    let targets: [String]
    var testDescription: String {
        let codecs = [video.first, audio.first].compactMap { $0 }.joined(separator: " + ")
        return "\(container): \(codecs) to \(targets.joined(separator: ", "))"
    }

    private static let x264 = ["libx264", "-preset", "veryfast", "-g", "12", "-bf", "3"]
    private static let x265 = [
        "libx265", "-preset", "ultrafast", "-x265-params", "log-level=error:keyint=12",
    ]

    static let all = [
        CopyPath(container: "mp4", video: x264, audio: ["aac"], targets: ["mp4", "mov", "mkv", "ts"]),
        CopyPath(container: "mkv", video: x264, audio: ["flac"], targets: ["mkv", "mp4"]),
        CopyPath(container: "mkv", video: x265, audio: ["libopus"], targets: ["mkv", "mp4"]),
        CopyPath(container: "mp4", video: x265, audio: ["ac3"], targets: ["mp4", "mov", "mkv", "ts"]),
        CopyPath(container: "ts", video: x264, audio: ["aac"], targets: ["ts", "mp4", "mkv", "mov"]),
        CopyPath(container: "ts", video: x265, audio: ["mp2"], targets: ["ts", "mp4", "mkv"]),
        CopyPath(
            container: "ts", video: ["mpeg2video", "-bf", "2"], audio: ["ac3"], targets: ["ts", "mkv", "mp4"]),
        CopyPath(
            container: "webm", video: ["libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8"],
            audio: ["libopus"], targets: ["webm", "mkv", "mp4"]),
        CopyPath(
            container: "webm", video: ["libvpx", "-deadline", "realtime", "-cpu-used", "8"],
            audio: ["libvorbis"],
            targets: ["webm", "mkv"]),
        CopyPath(container: "mov", video: ["prores_ks"], audio: ["pcm_s16le"], targets: ["mov", "mkv"]),
        CopyPath(container: "mov", video: ["mjpeg"], audio: ["pcm_s24be"], targets: ["mov", "mkv"]),
        CopyPath(container: "m4a", audio: ["aac"], targets: ["m4a", "mp4", "mkv", "aac"]),
        CopyPath(container: "m4a", audio: ["alac"], targets: ["m4a", "mov", "mkv"]),
        CopyPath(container: "mp3", audio: ["libmp3lame"], targets: ["mp3", "mp4", "mkv"]),
        CopyPath(container: "aac", audio: ["aac"], targets: ["aac", "m4a", "mkv", "ts"]),
        CopyPath(container: "flac", audio: ["flac"], targets: ["flac", "mkv", "ogg", "mp4"]),
        CopyPath(container: "ogg", audio: ["libopus"], targets: ["ogg", "webm", "mp4"]),
        CopyPath(container: "ogg", audio: ["libvorbis"], targets: ["ogg", "webm", "mkv"]),
        CopyPath(container: "wav", audio: ["pcm_s24le"], targets: ["wav", "mov", "mkv"]),
        CopyPath(container: "aiff", audio: ["pcm_s24be"], targets: ["aiff", "mov", "mkv"]),
    ]
}

@Suite struct PassthroughTests {
    /// A copied track decodes to the same frames and audio, at the same times.
    @Test(arguments: CopyPath.all) func copyEqualsTheSource(_ path: CopyPath) async throws {
        let scratch = try Scratch()
        let source = scratch.file("source.\(path.container)")
        var arguments = ["-v", "error", "-nostdin", "-y"]
        if !path.video.isEmpty {
            arguments += ["-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=2"]
        }
        if !path.audio.isEmpty {
            arguments += ["-f", "lavfi", "-i", "anoisesrc=d=2:r=48000:a=0.5:seed=7:c=pink", "-ac", "2"]
        }
        if !path.video.isEmpty { arguments += ["-c:v"] + path.video }
        if !path.audio.isEmpty { arguments += ["-c:a"] + path.audio }
        let encoded = try program("ffmpeg", arguments + [source])
        guard encoded.status == 0 else { throw ProgramError(message: encoded.errors) }

        let ffmpegFile = FFmpegFile(source)
        let frames = path.video.isEmpty ? [] : try ffmpegFile.decodedFrames()
        let audio = path.audio.isEmpty ? [] : try ffmpegFile.audio(rate: 48_000)
        for target in path.targets {
            let output = scratch.file("copy.\(target)")
            var rules: [String] = []
            if !path.video.isEmpty { rules.append("{ video: first, copy: true }") }
            if !path.audio.isEmpty { rules.append("{ audio: first, copy: true }") }
            do {
                _ = try success(
                    try await run(
                        """
                        version: 1
                        jobs:
                          copy:
                            asset: \(source)
                            tracks: [\(rules.joined(separator: ", "))]
                            destination: \(output)
                        """, in: scratch.path))
            } catch {
                Issue.record("\(target): \(error)")
                continue
            }
            let result = FFmpegFile(output)
            // Transport streams can't hide samples before zero, so all tracks are shifted by the same time.
            var shift = 0.0
            if !path.video.isEmpty {
                let copied = try result.decodedFrames()
                #expect(copied.map(\.hash) == frames.map(\.hash), "\(target)")
                // Timestamps are in milliseconds in Matroska, and in units of 1/90,000 s in transport streams.
                if target == "ts" { shift = (copied.first?.time ?? 0) - (frames.first?.time ?? 0) }
                let tolerance = target == "mkv" || target == "webm" ? 0.00101 : 2e-5
                let worst = zip(copied, frames).map { abs($0.time - $1.time - shift) }.max() ?? 0
                #expect(worst < tolerance, "\(target): \(worst)")
            }
            if !path.audio.isEmpty {
                let copied = try result.audio(rate: 48_000)
                let found = lag(Array(audio.prefix(30_000)), Array(copied.prefix(30_000)), reach: 1100)
                let isCoarse = [target, path.container].contains { ["mkv", "webm"].contains($0) }
                // ADTS can't mark the first packet as encoder delay.
                let priming =
                    target == "aac" && path.container == "m4a" ? 1024 : Int((shift * 48_000).rounded())
                #expect(
                    abs(found.lag - priming) <= (isCoarse ? 48 : 1), "\(target): lag of \(found.lag) samples")
                #expect(found.correlation > 0.999, "\(target): \(found.correlation)")
            }
            #expect(try result.decodeErrors() == "", "\(target)")
        }
    }

    /// Every frame of AVI, which stores only decoding times, and of elementary streams, which store none, is output at
    /// its presentation time.
    @Test(arguments: [
        ("avi", ["mpeg4", "-bf", "0"], "copy: true"), ("avi", ["mpeg4", "-bf", "2"], "copy: true"),
        ("avi", ["mpeg2video", "-bf", "2"], "copy: true"),
        ("avi", ["mpeg4", "-bf", "2"], "encode: { codec: ffv1 }"),
        ("avi", ["libx264", "-bf", "2"], "encode: { codec: ffv1 }"),
        ("h264", ["libx264", "-bf", "2"], "encode: { codec: ffv1 }"),
        ("hevc", ["libx265", "-x265-params", "log-level=error"], "encode: { codec: ffv1 }"),
    ])
    func missingTimesAreGenerated(_ container: String, _ codec: [String], _ action: String) async throws {
        let scratch = try Scratch()
        let source = scratch.file("source.\(container)")
        let encoded = try program(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=2",
                "-c:v",
            ]
                + codec + [source])
        guard encoded.status == 0 else { throw ProgramError(message: encoded.errors) }
        let output = scratch.file("out.mkv")
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  it: { asset: \(source), tracks: [{ video: first, \(action) }], destination: \(output) }
                """, in: scratch.path))
        let frames = try FFmpegFile(output).decodedFrames()
        let wanted = try FFmpegFile(source).frameHashes()
        #expect(frames.count == 50)
        #expect(frames.map(\.hash) == wanted)
        let first = frames.first?.time ?? 0
        for (index, frame) in frames.enumerated() {
            #expect(abs(frame.time - first - Double(index) / 25) < 0.00101)
        }
    }

    /// Packets without timestamps can't be copied.
    @Test func streamsWithoutTimestampsAreNotCopied() async throws {
        let scratch = try Scratch()
        let source = scratch.file("source.h264")
        try ffmpeg("-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=1", "-c:v", "libx264", source)
        let outcomes = try await run(
            """
            version: 1
            jobs:
              it: { asset: \(source), tracks: [{ video: first, copy: true }], destination: out.mkv }
            """, in: scratch.path)
        #expect(throws: ProgramError.self) { try success(outcomes) }
        #expect(scratch.contents == ["source.h264"])
    }

    @Test(.enabled(if: TestPaths.media != nil)) func packedFramesAreSplit() async throws {
        let scratch = try Scratch()
        let source = try #require(TestPaths.media) + "/packed_bframes.avi"
        let output = scratch.file("out.mp4")
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  it: { asset: \(source), tracks: [{ video: first, copy: true }], destination: \(output) }
                """, in: scratch.path))
        let frames = try FFmpegFile(output).decodedFrames()
        #expect(frames.map(\.hash) == (try FFmpegFile(source).frameHashes()))
        #expect(frames.count == 15)
    }

    /// Durations in an mp4 take precedence over the frame rate that the stream declares, which is often half or twice
    /// the actual rate.
    @Test(arguments: [10, 25, 100], ["+faststart", "+frag_keyframe+empty_moov+delay_moov"])
    func durationsOverrideTheDeclaredFrameRate(_ ticks: Int, _ flags: String) async throws {
        let scratch = try Scratch()
        let (plain, source) = (scratch.file("plain.mp4"), scratch.file("source.mp4"))
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=2", "-c:v", "libx264", "-bf", "3",
            "-g",
            "12", plain)
        try ffmpeg(
            "-i", plain, "-c", "copy", "-bsf:v", "h264_metadata=tick_rate=\(ticks)", "-movflags", flags,
            source)
        let outcomes = try await run(
            """
            version: 1
            defaults: { asset: \(source), tracks: [{ video: first, copy: true }] }
            jobs:
              mp4: { destination: \(scratch.file("a.mp4")) }
              mkv: { destination: \(scratch.file("b.mkv")) }
              cut: { range: { start: 0.5, end: 1.3 }, cut: smart, destination: \(scratch.file("c.mp4")) }
              end: { range: { start: 0.5, end: 2 }, cut: smart, destination: \(scratch.file("d.mp4")) }
            """, in: scratch.path)
        for (job, length) in [("mp4", 2), ("mkv", 2), ("cut", 0.8), ("end", 1.5)] {
            #expect(abs(try success(outcomes, job).outputs[0].duration.seconds - length) < 0.001, "\(job)")
        }
    }

    /// If an edit ends before the last frames, a copy shows the same frames, regardless of references. With 30 and 31
    /// frames, the last ones are B-frames that refer to a hidden frame.
    @Test(arguments: [29, 30, 31, 41]) func endOfAnEditIsKept(_ frames: Int) async throws {
        let scratch = try Scratch()
        let source = scratch.file("source.mp4")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=2", "-c:v", "libx264", "-bf", "3",
            "-g", "50",
            "-x264-params", "b-adapt=0:b-pyramid=none:scenecut=0", source)
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: source)))
        let list = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("elst".utf8)) })
        // The duration in milliseconds, after the box's version and the number of entries.
        for i in 0..<4 { bytes[list + 12 + i] = UInt8(truncatingIfNeeded: (frames * 40) >> (24 - 8 * i)) }
        try Data(bytes).write(to: URL(fileURLWithPath: source))
        let outcomes = try await run(
            """
            version: 1
            defaults: { asset: \(source), tracks: [{ video: first, copy: true }], expect: { duration: { is: \(Double(frames) / 25)s, within: 1ms }, frames: \(frames) } }
            jobs:
              mp4: { destination: \(scratch.file("a.mp4")) }
              mov: { destination: \(scratch.file("a.mov")) }
            """, in: scratch.path)
        let hashes = try FFmpegFile(source).frameHashes()
        for record in outcomes {
            #expect(
                abs(try success(outcomes, record.id).outputs[0].duration.seconds - Double(frames) / 25)
                    < 0.001)
            let output = scratch.file("a." + record.id)
            #expect(try FFmpegFile(output).frameHashes() == hashes)
            let format =
                try FFmpegFile(output).probe(["-show_entries", "format=duration"])["format"] as? [String: Any]
            #expect(Double(format?["duration"] as? String ?? "") == Double(frames) / 25)
        }
        #expect(hashes.count == frames)
        let isNeeded = frames == 30 || frames == 31
        for keys in ["destination: o.mkv", "fragment: 1s, destination: o.mp4"] {
            let parsed = decode(
                "version: 1\njobs: { m: { asset: \(source), tracks: [{ video: first, copy: true }], \(keys) } }",
                directory: scratch.path)
            let messages = BatchPlanner.plan([try #require(parsed.file)]).diagnostics.diagnostics.map(
                \.message)
            #expect(
                messages.contains { $0.contains("refer to others that an edit list hides") } == isNeeded,
                "\(keys): \(messages)")
        }
    }

    /// Decoding times that don't increase are regenerated from presentation times.
    @Test(arguments: [0, 1, 200]) func wrongDecodingTimesAreRegenerated(_ step: Int) async throws {
        let scratch = try Scratch()
        let source = scratch.file("source.mp4")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=2", "-vf",
            "settb=1/12800,setpts=PTS+gte(N\\,20)*256",
            "-fps_mode", "passthrough", "-c:v", "libx264", "-bf", "2", "-x264-params",
            "b-adapt=0:b-pyramid=none",
            "-enc_time_base", "1:12800",
            "-video_track_timescale", "12800", source)
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: source)))
        let list = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("stts".utf8)) })
        func word(_ at: Int) -> Int { bytes[at..<(at + 4)].reduce(0) { $0 << 8 | Int($1) } }
        // After the box's version: the number of entries, then count and duration of each.
        let odd = try #require((0..<word(list + 8)).first { word(list + 12 + 8 * $0 + 4) == 768 })
        let at = list + 12 + 8 * odd
        #expect(word(at) == 1)
        for i in 0..<4 { bytes[at + 4 + i] = UInt8(truncatingIfNeeded: step >> (24 - 8 * i)) }
        try Data(bytes).write(to: URL(fileURLWithPath: source))
        let outcomes = try await run(
            """
            version: 1
            defaults: { asset: \(source), tracks: [{ video: first, copy: true }] }
            jobs:
              mp4: { destination: \(scratch.file("a.mp4")) }
              mkv: { destination: \(scratch.file("a.mkv")) }
              ts: { destination: \(scratch.file("a.ts")) }
            """, in: scratch.path)
        let (hashes, times) = (try FFmpegFile(source).frameHashes(), try FFmpegFile(source).frames().times)
        for record in outcomes {
            _ = try success(outcomes, record.id)
            let output = FFmpegFile(scratch.file("a." + record.id))
            #expect(try output.frameHashes() == hashes)
            let copiedTimes = try output.frames().times
            #expect(
                zip(times, copiedTimes).allSatisfy { abs($0 - $1) < 0.001 }
                    && copiedTimes.count == times.count,
                "\(record.id)")
        }
    }

    /// Copying overlapping fragments is an error of the plan, at `copy`.
    @Test(arguments: [512, 4096]) func copiesOfOverlappingFragmentsAreErrors(_ overlap: Int) throws {
        let scratch = try Scratch()
        let source = scratch.file("source.mp4")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=2", "-c:v", "libx264", "-bf", "2",
            "-g", "25",
            "-movflags", "frag_keyframe+empty_moov", "-enc_time_base", "1:12800",
            "-video_track_timescale", "12800", source)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: source))
        let at = try #require(bytes.range(of: Data("tfdt".utf8), options: .backwards)).lowerBound + 8
        let time = bytes[at..<(at + 8)].reduce(0) { $0 << 8 | Int($1) } - overlap
        for i in 0..<8 { bytes[at + i] = UInt8(truncatingIfNeeded: time >> (56 - 8 * i)) }
        try bytes.write(to: URL(fileURLWithPath: source))
        let yaml =
            "version: 1\njobs: { m: { asset: \(source), tracks: [{ video: first, copy: true }], destination: \(scratch.file("a.mp4")) } }"
        let planned = BatchPlanner.plan([try #require(decode(yaml, directory: scratch.path).file)])
        let found = planned.diagnostics.diagnostics
        #expect(found.map(\.rule) == [.sourceOrder])
        #expect(
            found.first?.range.column == yaml.split(separator: "\n")[1].utf8.count
                - "copy: true }], destination: \(scratch.file("a.mp4")) } }".utf8.count + 1)
    }
}
