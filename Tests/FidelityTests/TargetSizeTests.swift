import Diagnostics
import Foundation
import JobRun
import Media
import TestSupport
import Testing

/// With `target_size`, a file is never larger than the size, and at least 97 % of it unless a warning states why.
@Suite struct TargetSizeTests {
    private func size(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }

    private func source(_ pattern: String, in scratch: borrowing Scratch) throws {
        try ffmpeg(
            "-f", "lavfi", "-i", pattern, "-f", "lavfi", "-i",
            "aevalsrc='0.5*sin(2*PI*t*(200+150*t))':d=6:s=48000", "-c:v", "ffv1", "-c:a", "pcm_s16le",
            "-shortest", scratch.file("s.mkv"))
    }

    private static let pattern = "testsrc2=s=320x240:r=25:d=6,noise=alls=12:allf=t"

    @Test(arguments: [
        ("codec: h264, preset: veryfast", "mp4", "aac, bitrate: 64k"),
        ("codec: h264, preset: veryfast", "ts", "aac, bitrate: 64k"),
        ("codec: hevc, preset: ultrafast", "mkv", "opus, bitrate: 48k"),
        ("codec: vp9, preset: good, options: { cpu-used: 5 }, frame_rate: 25", "webm", "opus, bitrate: 48k"),
        ("codec: av1, encoder: libsvtav1, preset: 12", "mp4", "aac, bitrate: 64k"),
    ])
    func sizesAreMet(_ video: String, _ type: String, _ audio: String) async throws {
        let scratch = try Scratch()
        try source(Self.pattern, in: scratch)
        for target in [250_000, 700_000] {
            let yaml = """
                version: 1
                jobs:
                  one:
                    asset: ./s.mkv
                    tracks:
                      - { video: first, encode: { \(video), target_size: \(target) } }
                      - { audio: first, encode: { codec: \(audio) } }
                    destination: o\(target).\(type)

                """
            let output = try success(try await run(yaml, in: scratch.path)).outputs[0]
            let reached = try size(scratch.file("o\(target).\(type)"))
            print("measured: \(video), \(type), \(target): \(reached), \(output.sizeAttempts)")
            #expect(reached <= target && (reached * 100 >= target * 97 || !output.warnings.isEmpty))
            #expect(Int64(reached) == output.sizeAttempts.last?.size && output.sizeAttempts.count <= 4)
            let file = FFmpegFile(scratch.file("o\(target).\(type)"))
            #expect(try file.frames().times.count == 150)
            #expect(try file.decodeErrors() == "")
        }
        #expect(scratch.contents.sorted() == ["o250000.\(type)", "o700000.\(type)", "s.mkv"])
    }

    /// Other outputs of the same read are written once, and copied tracks count.
    @Test func onlyOutputsThatMissAreEncodedAgain() async throws {
        let scratch = try Scratch()
        try source(Self.pattern, in: scratch)
        let yaml = """
            version: 1
            jobs:
              one:
                asset: ./s.mkv
                outputs:
                  small:
                    tracks:
                      - { video: first, encode: { codec: h264, preset: veryfast, target_size: 900kB } }
                      - { audio: first, copy: true }
                    destination: small.mkv
                  plain:
                    tracks: [ { video: first, encode: { codec: h264, preset: ultrafast, crf: 30 } } ]
                    destination: plain.mp4

            """
        let outputs = try success(try await run(yaml, in: scratch.path)).outputs
        let reached = try size(scratch.file("small.mkv"))
        #expect(reached <= 900_000 && reached >= 873_000, "\(reached)")
        #expect(outputs[1].sizeAttempts.isEmpty && outputs[1].warnings.isEmpty)
        #expect(try FFmpegFile(scratch.file("plain.mp4")).frames().times.count == 150)
    }

    @Test func simpleSourcesHaveAWarning() async throws {
        let scratch = try Scratch()
        try source("color=gray:s=320x240:r=25:d=6", in: scratch)
        let yaml =
            "version: 1\njobs:\n  one: { asset: ./s.mkv, tracks: [ { video: first, encode: { codec: h264, preset: veryfast, target_size: 2MB } } ], destination: o.mp4 }\n"
        let output = try success(try await run(yaml, in: scratch.path)).outputs[0]
        let attempts = output.sizeAttempts.map { "\($0.bitRate / 1000) kb/s: \(Self.text($0.size))" }
        #expect(
            output.warnings == [
                "the file has \(Self.text(output.size)), \(output.size * 100 / 2_000_000) % of `target_size`: a higher bit rate makes it no larger, since libx264 has reached its best quality (\(attempts.joined(separator: ", ")))"
            ])
    }

    /// A quantizer that the rate control can't exceed makes every file larger than the size.
    @Test func largerFilesAreNotPublished() async throws {
        let scratch = try Scratch()
        try source(Self.pattern, in: scratch)
        let yaml =
            "version: 1\njobs:\n  one: { asset: ./s.mkv, tracks: [ { video: first, encode: { codec: h264, preset: veryfast, options: { x264-params: qpmax=20 }, target_size: 100kB } } ], destination: o.mp4 }\n"
        let records = try await run(yaml, in: scratch.path)
        guard case .failed(let failure) = try #require(records.first).outcome else {
            Issue.record("\(records)")
            return
        }
        #expect(failure.diagnostics.map(\.rule) == [.targetSize], "\(failure.message)")
        #expect(scratch.contents == ["s.mkv"])
    }

    private static func text(_ bytes: Int64) -> String {
        let kilobytes = (Double(bytes) / 100).rounded() / 10
        return bytes < 1000 ? "\(bytes) B" : "\(kilobytes) kB"
    }
}
