import Foundation
import JobPlan
import JobRun
import LibAV
import Media
import TestSupport
import Testing

/// Sources with wrong timestamps, tags or data cause an error that states the reason, never a plausible output or a
/// trap.
@Suite struct HostileSourceTests {
    private func outcome(
        _ source: String, in scratch: Scratch, video: Bool = false, copy: Bool = false,
        to name: String = "out.mkv", endlessSpace: Bool = true
    ) async throws -> JobOutcome {
        let action = copy ? "copy: true" : "encode: { codec: \(video ? "h264" : "flac") }"
        let kind = video ? "video" : "audio"
        let outcomes = try await run(
            "version: 1\njobs:\n  one:\n    asset: \(source)\n    tracks: [ { \(kind): first, \(action) } ]\n    destination: \(name)\n",
            in: scratch.path, endlessSpace: endlessSpace)
        #expect(FileManager.default.fileExists(atPath: scratch.file(name)) == outcomes[0].outcome.isSuccess)
        return outcomes[0].outcome
    }

    private func reason(_ outcome: JobOutcome) -> String {
        if case .failed(let failure) = outcome { return failure.message }
        return "\(outcome)"
    }

    /// Timestamps that jump back in the middle, as in two concatenated recordings, are errors.
    @Test(arguments: [(false, false), (true, false), (false, true), (true, true)])
    func timestampsThatJumpBackAreErrors(_ video: Bool, _ copy: Bool) async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=6", "-f", "lavfi", "-i",
            "sine=duration=6", "-c:v", "libx264", "-preset", "ultrafast",
            "-g", "25", "-c:a", "aac", scratch.file("one.ts"))
        let one = try #require(FileManager.default.contents(atPath: scratch.file("one.ts")))
        try (one + one).write(to: URL(fileURLWithPath: scratch.file("two.ts")))
        let why = reason(try await outcome("./two.ts", in: scratch, video: video, copy: copy))
        #expect(why.contains("its timestamps jump") || why.contains("damaged"), "\(why)")
    }

    /// Timestamps that jump ahead by ten years, or close to the limit of 64 bits, are errors.
    @Test(arguments: [Int64(315_360_000_000), 1 << 52]) func timestampsThatJumpAheadAreErrors(_ leap: Int64)
        async throws
    {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=12", "-f", "lavfi", "-i",
            "sine=duration=12", "-c:v", "libx264", "-preset", "ultrafast",
            "-g", "25", "-c:a", "flac", scratch.file("a.mkv"))
        let descriptor = open(scratch.file("leap.mkv"), O_RDWR | O_CREAT | O_TRUNC, 0o644)
        do {
            let demuxer = try Demuxer.open(path: scratch.file("a.mkv"))
            let muxer = try Muxer.open(format: "matroska", descriptor: descriptor)
            for index in 0..<2 {
                _ = try muxer.addStream(try demuxer.stream(index).parameters, timeBase: Rational(1, 1000))
            }
            try muxer.writeHeader(options: [])
            let packet = try Packet()
            while try demuxer.read(into: packet) {
                if packet.pts > 6000 {
                    packet.pts += leap
                    packet.dts += leap
                }
                try muxer.write(packet)
            }
            try muxer.finish()
        }
        close(descriptor)
        for (video, copy) in [(false, false), (true, false), (false, true), (true, true)] {
            let why = reason(try await outcome("./leap.mkv", in: scratch, video: video, copy: copy))
            #expect(why.contains("its timestamps jump") || why.contains("damaged"), "\(why)")
        }
        // Ten years of audio, as declared by the file, exceed the free space.
        if leap < 1 << 52 {
            let why = reason(try await outcome("./leap.mkv", in: scratch, endlessSpace: false))
            #expect(why.contains("the estimated size of the output is "), "\(why)")
        }
    }

    /// An unreadable cluster, which libavformat skips without an error, is an error.
    @Test func unreadableClusterIsAnError() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=12", "-f", "lavfi", "-i",
            "sine=duration=12", "-c:v", "libx264", "-preset", "ultrafast",
            "-g", "25", "-c:a", "flac", "-cluster_time_limit", "1000", scratch.file("a.mkv"))
        var bytes = [UInt8](try #require(FileManager.default.contents(atPath: scratch.file("a.mkv"))))
        let starts = bytes.indices.dropLast(40).filter {
            Array(bytes[$0..<($0 + 4)]) == [0x1f, 0x43, 0xb6, 0x75]
        }
        let cluster = try #require(starts.count > 3 ? starts[3] : nil)
        for i in 12..<28 { bytes[cluster + i] = 0 }
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.file("hole.mkv")))
        #expect(!(try await outcome("./hole.mkv", in: scratch, video: true)).isSuccess)
        #expect(!(try await outcome("./hole.mkv", in: scratch, video: true, copy: true)).isSuccess)
    }

    /// Checksums of the codec reveal damage that decodes without an error.
    @Test(arguments: ["ffv1", "flac"]) func wrongChecksumOfTheCodecIsAnError(_ codec: String) async throws {
        let scratch = try Scratch()
        let isVideo = codec == "ffv1"
        try ffmpeg(
            "-f", "lavfi", "-i", isVideo ? "testsrc2=size=64x48:rate=25:duration=2" : "anoisesrc=d=2:a=0.3",
            isVideo ? "-c:v" : "-c:a", codec, "-slices", "4", "-level", "3", scratch.file("a.mkv"))
        var bytes = [UInt8](try #require(FileManager.default.contents(atPath: scratch.file("a.mkv"))))
        for part in [40, 50, 60] { bytes[bytes.count * part / 100] ^= 0x10 }
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.file("bad.mkv")))
        #expect(!(try await outcome("./bad.mkv", in: scratch, video: isVideo)).isSuccess)
    }

    /// For a track that starts after zero, the duration tag of Matroska states the end of the track, not its duration.
    @Test func lateTrackOfMatroskaDoesntExtendTheDuration() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=10", "-itsoffset", "5", "-f", "lavfi",
            "-i", "sine=duration=5", "-c:v", "libx264", "-preset",
            "ultrafast", "-c:a", "flac", scratch.file("late.mkv"))
        let contents = try Asset(.file(scratch.file("late.mkv"))).loadSynchronously()
        #expect(abs(contents.duration.seconds - 10) < 0.1, "\(contents.duration)")
        _ = try success(
            try await run(
                "version: 1\njobs:\n  one:\n    asset: ./late.mkv\n    range: { start: 50% }\n    tracks: [ { video: first, encode: { codec: h264 } }, { audio: first, encode: { codec: aac } } ]\n    destination: out.mp4\n",
                in: scratch.path))
        #expect(try FFmpegFile(scratch.file("out.mp4")).frames().times.count >= 124)
    }

    @Test func malformedDurationTagDoesntTrap() throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=duration=1", "-c:a", "flac", scratch.file("a.mkv"))
        var bytes = [UInt8](try #require(FileManager.default.contents(atPath: scratch.file("a.mkv"))))
        let tag = Array("00:00:01.".utf8)
        let at = try #require(bytes.indices.dropLast(20).first { Array(bytes[$0..<($0 + 9)]) == tag })
        for (i, byte) in "00:00:............".utf8.enumerated() { bytes[at + i] = byte }
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.file("b.mkv")))
        _ = try Asset(.file(scratch.file("b.mkv"))).loadSynchronously()
    }

    /// In a container without timestamps, audio that starts long after the video begins with silence.
    @Test func lateAudioWithoutTimestampsBeginsWithSilence() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-itsoffset", "300", "-f", "lavfi", "-i", "sine=duration=1:sample_rate=48000", "-c:a", "flac",
            scratch.file("late.mkv"))
        let result = try success(
            try await run(
                "version: 1\njobs:\n  one:\n    asset: ./late.mkv\n    tracks: [ { audio: first, encode: { codec: aac } } ]\n    destination: out.aac\n",
                in: scratch.path))
        #expect(result.outputs[0].tracks[0].filledSamples == 300 * 48_000)
        #expect(try FFmpegFile(scratch.file("out.aac")).audio(rate: 48_000).count >= 301 * 48_000)
    }

    /// A published file that another program changed isn't replaced.
    @Test func changedPublishedFileIsNotReplaced() async throws {
        let scratch = try Scratch()
        let yaml =
            "version: 1\njobs:\n  one:\n    asset: { pattern: smpte, size: 64x48, duration: 1s }\n    tracks: [ { video: first, encode: { codec: h264 } } ]\n    destination: out.mp4\n"
        _ = try success(try await run(yaml, in: scratch.path))
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: scratch.file("out.mp4")))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data("mine now".utf8))
        try handle.close()
        let message = reason(try await run(yaml, in: scratch.path)[0].outcome)
        #expect(message.contains("was changed since Tandem published it"))
        #expect(FileManager.default.contents(atPath: scratch.file("out.mp4")) == Data("mine now".utf8))
    }
}
