import Diagnostics
import Foundation
import JobRun
import Media
import TestSupport
import Testing

/// The first damage of a source is an error that states its time. With `on_damage: skip`, damaged data is skipped and
/// counted, and all other data keeps its times.
@Suite struct DamageTests {
    /// Returns offset and size of a packet in a file.
    private func packet(_ number: Int, of selector: String, in path: String) throws -> (at: Int, size: Int) {
        let json = try FFmpegFile(path).probe([
            "-select_streams", selector, "-show_entries", "packet=pos,size",
        ])
        let packets = json["packets"] as? [[String: Any]] ?? []
        guard let at = (packets[number]["pos"] as? String).flatMap({ Int($0) }),
            let size = (packets[number]["size"] as? String).flatMap({ Int($0) })
        else { throw ProgramError(message: "no packet \(number)") }
        return (at, size)
    }

    private func overwrite(_ path: String, at: Int, with bytes: [UInt8]) throws {
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        data.replaceSubrange(at..<(at + bytes.count), with: bytes)
        try data.write(to: URL(fileURLWithPath: path))
    }

    private func job(_ source: String, _ tracks: String, policy: String, to target: String) -> String {
        """
        version: 1
        jobs:
          j:
            asset: ./\(source)
            on_damage: \(policy)
            tracks: [ \(tracks) ]
            destination: \(target)
        """
    }

    private func failure(_ outcomes: [JobRecord]) -> String {
        if case .failed(let failure) = outcomes[0].outcome {
            failure.message
        } else {
            "\(outcomes[0].outcome)"
        }
    }

    @Test func damagedFrameIsReportedOrSkippedAlone() async throws {
        let scratch = try Scratch()
        let source = scratch.file("s.mp4")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=4", "-f", "lavfi", "-i", "sine=d=4", "-c:v",
            "libx264", "-x264-params", "keyint=1", "-c:a", "flac", "-strict", "-2", source)
        let whole = try FFmpegFile(source).frames().times
        // Overwrites the length of the frame's first NAL unit, so that no part of the frame can be decoded.
        try overwrite(
            source, at: try packet(30, of: "v:0", in: source).at, with: [0xff, 0xff, 0xff, 0xff])
        let tracks =
            "{ video: first, encode: { codec: h264, preset: ultrafast, qp: 10 } }, { audio: first, encode: { codec: flac } }"
        let why = failure(
            try await run(job("s.mp4", tracks, policy: "fail", to: "fail.mkv"), in: scratch.path))
        #expect(why.contains("s.mp4, track 0 (video), 1.2"), "\(why)")
        let result = try success(
            try await run(job("s.mp4", tracks, policy: "skip", to: "o.mkv"), in: scratch.path))
        #expect(result.outputs[0].tracks[0].damage.skipped == 1)
        #expect(
            result.warnings == [
                "source track 0: 1 damaged packets or frames skipped, the first at 1.2 s"
            ], "\(result.warnings)")
        let output = FFmpegFile(scratch.file("o.mkv"))
        #expect(try output.frames().times == whole.enumerated().filter { $0.offset != 30 }.map(\.element))
        #expect(try output.decodeErrors() == "")
        #expect(try output.audio(rate: 44_100) == FFmpegFile(source).audio(rate: 44_100))
        #expect(scratch.contents == ["o.mkv", "s.mp4"])
    }

    @Test func damagedAudioBecomesSilenceOfItsLength() async throws {
        let scratch = try Scratch()
        let source = scratch.file("s.mka")
        try ffmpeg("-f", "lavfi", "-i", "sine=d=4:r=48000", "-c:a", "flac", source)
        let whole = try FFmpegFile(source).audio(rate: 48_000)
        let broken = try packet(20, of: "a:0", in: source)
        try overwrite(source, at: broken.at + broken.size / 2, with: [0x55, 0xaa, 0x55, 0xaa])
        let tracks = "{ audio: first, encode: { codec: pcm_s16le } }"
        let why = failure(
            try await run(job("s.mka", tracks, policy: "fail", to: "f.wav"), in: scratch.path))
        #expect(why.contains("track 0 (audio)"), "\(why)")
        let result = try success(
            try await run(job("s.mka", tracks, policy: "skip", to: "o.wav"), in: scratch.path))
        #expect(result.outputs[0].tracks[0].damage.skipped == 1)
        let audio = try FFmpegFile(scratch.file("o.wav")).audio(rate: 48_000)
        #expect(audio.count == whole.count)
        let different = audio.indices.filter { audio[$0] != whole[$0] }
        // One packet of 4608 samples, with a tolerance of one millisecond for Matroska's time base.
        let section = (20 * 4608 - 48)..<(21 * 4608 + 48)
        #expect(
            different.allSatisfy { section.contains($0) }, "\(different.min() ?? 0) \(different.max() ?? 0)")
        #expect(audio[(section.lowerBound + 96)..<(section.upperBound - 96)].allSatisfy { $0 == 0 })
    }

    @Test(arguments: ["mp4", "mkv"]) func aTruncatedSourceIsReportedToEndEarly(_ container: String)
        async throws
    {
        let scratch = try Scratch()
        let name = "s.\(container)"
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=4", "-c:v", "libx264", "-g", "10", "-movflags",
            "+faststart", scratch.file("s.mp4"))
        if container == "mkv" {
            try ffmpeg("-i", scratch.file("s.mp4"), "-c", "copy", scratch.file(name))
        }
        let handle = try #require(FileHandle(forWritingAtPath: scratch.file(name)))
        try handle.truncate(atOffset: try handle.seekToEnd() * 6 / 10)
        let tracks = "{ video: first, encode: { codec: h264, preset: ultrafast } }"
        let outcomes = try await run(job(name, tracks, policy: "fail", to: "f.mkv"), in: scratch.path)
        guard case .failed(let failure)? = outcomes.first?.outcome,
            failure.message.contains("truncated") || container == "mp4"
        else {
            Issue.record("a truncated source was accepted as complete")
            return
        }
        let result = try success(
            try await run(job(name, tracks, policy: "skip", to: "o.mkv"), in: scratch.path))
        #expect(result.warnings.count == (container == "mkv" ? 2 : 1), "\(result.warnings)")
        #expect(result.warnings.last?.contains(container == "mkv" ? "it ends at 2." : "of 4 s") == true)
        #expect(
            abs(
                result.outputs[0].duration.seconds
                    - (try FFmpegFile(scratch.file("o.mkv")).frames().times.last ?? 0) - 0.04
            ) < 0.002)
        #expect(result.outputs[0].tracks[0].appendedSamples < 90)
        #expect(try FFmpegFile(scratch.file("o.mkv")).decodeErrors() == "")
    }

    /// Packet loss in a transport stream is reported at its time, and doesn't affect a range after it.
    @Test func packetLossIsReportedAtItsTime() async throws {
        let scratch = try Scratch()
        let source = scratch.file("s.ts")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=8", "-c:v", "libx264", "-g", "25", "-bf", "0",
            source)
        // The second packet of the frame at 2.4 s.
        let at = try packet(60, of: "v:0", in: source).at
        var data = try Data(contentsOf: URL(fileURLWithPath: source))
        data.removeSubrange(at + 188..<at + 376)
        try data.write(to: URL(fileURLWithPath: source))
        for tracks in ["{ video: first, copy: true }", "{ video: first, encode: { codec: ffv1 } }"] {
            let message = failure(
                try await run(job("s.ts", tracks, policy: "fail", to: "o.mkv"), in: scratch.path))
            #expect(message.contains("2.4 s: the data is damaged or incomplete"), "\(message)")
            #expect(!FileManager.default.fileExists(atPath: scratch.file("o.mkv")))
        }
        // Only the incomplete frame is skipped.
        _ = try success(
            try await run(
                job("s.ts", "{ video: first, copy: true }", policy: "skip", to: "c.mkv"), in: scratch.path))
        let remaining = try FFmpegFile(scratch.file("c.mkv")).frames().times
        #expect(remaining.count == 199 && !remaining.contains { abs($0 - 2.4) < 0.01 }, "\(remaining.count)")
        _ = try success(
            try await run(
                job(
                    "s.ts", "{ video: first, encode: { codec: ffv1 } }", policy: "fail",
                    to: "o.mkv\n    range: { start: 5s, end: 6s }"), in: scratch.path))
        #expect(try FFmpegFile(scratch.file("o.mkv")).frames().times.count == 25)
    }

    /// A source without intact frames is an error with both policies.
    @Test func sourceWithoutIntactFramesIsAnError() async throws {
        let scratch = try Scratch()
        let source = scratch.file("s.mp4")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=1", "-c:v", "libx264", "-x264-params", "keyint=1",
            source)
        for number in 0..<25 {
            let section = try packet(number, of: "v:0", in: source)
            try overwrite(source, at: section.at, with: [UInt8](repeating: 0xff, count: section.size))
        }
        let tracks = "{ video: first, encode: { codec: h264, preset: ultrafast } }"
        let why = failure(
            try await run(job("s.mp4", tracks, policy: "skip", to: "o.mkv"), in: scratch.path))
        #expect(!why.isEmpty && scratch.contents == ["s.mp4"], "\(why)")
    }

    /// Packets after a hole in a Matroska file are kept, and damage is reported for every track.
    @Test func packetsAfterAHoleAreKept() async throws {
        let scratch = try Scratch()
        let source = scratch.file("s.mkv")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=12", "-f", "lavfi", "-i", "sine=d=12", "-c:v",
            "libx264", "-g", "25", "-c:a", "aac", "-cluster_time_limit", "1000", source)
        let data = try Data(contentsOf: URL(fileURLWithPath: source))
        try overwrite(source, at: data.count / 2, with: [UInt8](repeating: 0, count: data.count / 8))
        let outcomes = try await run(
            job(
                "s.mkv", "{ video: first, copy: true }, { audio: first, copy: true }", policy: "skip",
                to: "o.mkv"),
            in: scratch.path)
        let result = try success(outcomes)
        #expect(result.outputs[0].tracks.allSatisfy { $0.damage.skipped > 0 && $0.damage.first != nil })
        func packets(_ path: String, _ selector: String) throws -> Int {
            let result = try program(
                "ffmpeg",
                [
                    "-v", "quiet", "-nostdin", "-i", path, "-map", "0:\(selector)", "-c", "copy", "-f",
                    "framemd5", "-",
                ])
            return result.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.count
        }
        for selector in ["v:0", "a:0"] {
            #expect(try packets(scratch.file("o.mkv"), selector) == packets(source, selector), "\(selector)")
        }
    }
}
