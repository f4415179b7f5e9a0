import Diagnostics
import Foundation
import JobRun
import TestSupport
import Testing

/// If several rules read the same source track, each receives the complete track.
@Suite struct SharedTrackTests {
    /// Returns for each track a hash of the data decoded by ffmpeg, and the number of packets.
    private func tracks(_ path: String) throws -> [String] {
        let hashes = try program(
            "ffmpeg", ["-v", "error", "-i", path, "-map", "0", "-f", "streamhash", "-hash", "md5", "-"]
        ).text.split(separator: "\n").map(String.init)
        let counts = try FFmpegFile(path).probe(["-count_packets", "-show_entries", "stream=nb_read_packets"])
        let streams = counts["streams"] as? [[String: Any]] ?? []
        return zip(hashes, streams).map { hash, stream in
            "\(hash.split(separator: "=").last ?? "") \(stream["nb_read_packets"] ?? "")"
        }
    }

    private func run(_ rules: [String], range: String, in scratch: Scratch) async throws -> [String] {
        let yaml = """
            version: 1
            jobs:
              j:
                asset: ./s.mkv
                threads: 1
                tracks:
            \(rules.map { "      - { \($0) }" }.joined(separator: "\n"))
            \(range)
                destination: { path: o.mkv, if_exists: replace }
            """
        _ = try success(try await TestSupport.run(yaml, in: scratch.path))
        return try tracks(scratch.file("o.mkv"))
    }

    /// Concurrent copies, encodes and mixes of one track equal separate ones, regardless of which rule reads first and
    /// by how much. (x264, which isn't deterministic within a process, isn't among the encoders.)
    @Test(
        arguments: [
            ["audio: all, copy: true", "audio: first, encode: { codec: flac }"],
            ["audio: first, encode: { codec: flac }", "audio: first, copy: true"],
            [
                "audio: all, mix: true, encode: { codec: flac }", "audio: 1, encode: { codec: flac }",
                "audio: 1, copy: true",
            ],
            ["video: first, copy: true", "video: first, encode: { codec: ffv1 }"],
            [
                "video: first, encode: { codec: ffv1 }",
                "video: first, encode: { codec: ffv1, frame_rate: 5 }", "audio: all, encode: { codec: flac }",
            ],
            [
                "video: first, encode: { codec: ffv1 }",
                "video: first, encode: { codec: ffv1, size: 160x90, options: { slicecrc: 1 } }",
                "video: first, copy: true", "audio: first, encode: { codec: aac }", "audio: all, copy: true",
                "audio: first, encode: { codec: pcm_s16le }",
            ],
        ], ["", "    range: { start: 1.3, end: 3.1 }"])
    func concurrentRulesEqualSeparateOnes(_ rules: [String], _ range: String) async throws {
        let range = rules[0].hasPrefix("video") ? range : range.isEmpty ? "" : range + "\n    cut: keyframe"
        // A copied video track aligns the other tracks to its keyframes; alone, they aren't aligned.
        if !range.isEmpty, rules.contains("video: first, copy: true") { return }
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=5", "-f", "lavfi", "-i",
            "sine=f=440:d=5", "-f", "lavfi", "-i", "anoisesrc=d=5:a=0.3:seed=1", "-map", "0", "-map", "1",
            "-map", "2",
            "-c:v", "libx264", "-preset", "ultrafast", "-g", "10", "-c:a:0", "aac", "-c:a:1", "libmp3lame",
            scratch.file("s.mkv"))
        var alone: [String] = []
        for rule in rules { alone += try await run([rule], range: range, in: scratch) }
        let together = try await run(rules, range: range, in: scratch)
        #expect(together == alone, "\(together) instead of \(alone)")
    }

    /// If the packets that wait for a slower rule exceed the queue, the rule continues from a separate read position.
    @Test func slowRuleContinuesFromItsOwnPosition() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25:duration=6", "-c:v", "rawvideo",
            scratch.file("s.mkv"))
        let rules = [
            "video: first, copy: true",
            "video: first, encode: { codec: h264, preset: veryslow, frame_rate: 5 }",
            "video: first, copy: true",
        ]
        let output = try await run(rules, range: "", in: scratch)
        #expect(output[0] == output[2])
        #expect(output[0].hasSuffix(" 150") && output[1].hasSuffix(" 30"), "\(output)")
    }

    /// The last packet ends with its decoded samples, regardless of the duration that the index declares.
    @Test func declaredDurationOfTheLastPacketIsLimited() async throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=d=5:r=44100", "-c:a", "aac", scratch.file("s.m4a"))
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch.file("s.m4a"))))
        func box(_ name: String) throws -> Int {
            let word = Array(name.utf8)
            return try #require(bytes.indices.dropLast(4).first { Array(bytes[$0..<($0 + 4)]) == word })
        }
        func number(_ at: Int) -> Int { bytes[at..<(at + 4)].reduce(0) { $0 << 8 | Int($1) } }
        func put(_ value: Int, at: Int) {
            for byte in 0..<4 { bytes[at + byte] = UInt8(truncatingIfNeeded: value >> (24 - 8 * byte)) }
        }
        let times = try box("stts")
        let last = times + 12 + 8 * (number(times + 8) - 1)
        #expect(number(last) == 1)
        put(88_000, at: last + 4)
        let media = try box("mdhd") + 20
        put(number(media) + 88_000, at: media)
        let edit = try box("elst") + 12
        put(number(edit) + 2000, at: edit)
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.file("s.m4a")))
        let yaml = """
            version: 1
            jobs:
              f: { asset: ./s.m4a, tracks: [ { audio: first, encode: { codec: flac } } ], destination: f.flac }
              c: { asset: ./s.m4a, tracks: [ { audio: first, copy: true } ], destination: c.m4a }
            """
        let outcomes = try await TestSupport.run(yaml, in: scratch.path)
        for id in ["f", "c"] { _ = try success(outcomes, id) }
        // The samples of the source's 5 s, and the padding of the last packet.
        #expect(try FFmpegFile(scratch.file("f.flac")).samples(rate: 44_100).count == 221_184)
    }

    /// A source in which libavformat finds no packet, or whose index points past the end, is an error that states this.
    @Test(arguments: ["s.flac", "past.mp4"]) func sourceWithoutPacketsIsAnError(_ name: String) async throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=d=3", scratch.file("s.wav"))
        try ffmpeg("-i", scratch.file("s.wav"), scratch.file("s.flac"))
        try ffmpeg("-i", scratch.file("s.wav"), "-c:a", "aac", scratch.file("past.mp4"))
        if name == "s.flac" {
            // Only the headers, followed by data that contains no frame.
            var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch.file(name))))
            let first = try #require(
                bytes.indices.dropLast().first { bytes[$0] == 0xff && bytes[$0 + 1] & 0xfc == 0xf8 })
            for index in first..<bytes.count { bytes[index] = 0x11 }
            try Data(bytes).write(to: URL(fileURLWithPath: scratch.file(name)))
        }
        if name == "past.mp4" {
            var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch.file(name))))
            let word = Array("stco".utf8)
            let at = try #require(bytes.indices.dropLast(4).first { Array(bytes[$0..<($0 + 4)]) == word })
            bytes[at + 12] = 0x10
            try Data(bytes).write(to: URL(fileURLWithPath: scratch.file(name)))
        }
        for action in ["copy: true", "encode: { codec: flac }"] {
            let yaml = """
                version: 1
                jobs:
                  j: { asset: ./\(name), tracks: [ { audio: first, \(action) } ], destination: o.mka }
                """
            guard
                case .failed(let failure)? = try await TestSupport.run(yaml, in: scratch.path).first?.outcome
            else {
                Issue.record("\(action) succeeded")
                continue
            }
            #expect(failure.message.contains("contains no packet"), "\(failure.message)")
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.file("o.mka")))
    }
}
