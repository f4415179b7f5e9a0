import Foundation
import JobRun
import Media
import TestSupport
import Testing

/// Movies with wrong packet times: frames are reordered without composition offsets, or have negative offsets that
/// libavformat doesn't compensate.
@Suite struct CompositionOffsetTests {
    private static let reordered = [
        "-c:v", "libx264", "-x264-params", "b-adapt=0:bframes=3:b-pyramid=normal:scenecut=0",
    ]

    private func movie(_ name: String, seconds: Double, _ more: [String], in scratch: Scratch) throws
        -> String
    {
        try ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=\(seconds)"] + Self.reordered + more
                + [scratch.file(name)])
        return scratch.file(name)
    }

    /// Copies a movie without its `ctts` box. The edit list is kept.
    private func withoutOffsets(_ path: String, to target: String) throws {
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        let range = try #require(data.range(of: Data("ctts".utf8)))
        data.replaceSubrange(range, with: Data("free".utf8))
        try data.write(to: URL(fileURLWithPath: target))
    }

    @Test func movieWithoutCompositionOffsetsLosesNoFrame() async throws {
        let scratch = try Scratch()
        let whole = try movie("whole.mp4", seconds: 4, ["-g", "50"], in: scratch)
        try withoutOffsets(whole, to: scratch.file("s.mp4"))
        let outcomes = try await run(
            """
            version: 1
            jobs:
              whole:
                asset: \(scratch.file("s.mp4"))
                tracks: [ { video: first, encode: { codec: ffv1 } } ]
                destination: \(scratch.file("o.mkv"))
              part:
                asset: \(scratch.file("s.mp4"))
                range: { start: 1s, end: 2s }
                tracks: [ { video: first, encode: { codec: ffv1 } } ]
                destination: \(scratch.file("part.mkv"))
              smart:
                asset: \(scratch.file("s.mp4"))
                range: { start: 1s, end: 3.5s }
                cut: smart
                tracks: [ { video: first, copy: true } ]
                destination: \(scratch.file("smart.mp4"))
            """, in: scratch.path)
        let wanted = try FFmpegFile(whole).frameHashes()
        #expect(wanted.count == 100)
        let report = try #require(try success(outcomes, "whole").outputs.first?.tracks.first)
        #expect(report.droppedSamples == 0 && report.appendedSamples == 100)
        #expect(try FFmpegFile(scratch.file("o.mkv")).frameHashes() == wanted)
        let times = try FFmpegFile(scratch.file("o.mkv")).frames().times
        #expect(times.enumerated().allSatisfy { abs($1 - 0.04 * Double($0)) < 0.001 })
        _ = try success(outcomes, "part")
        #expect(try FFmpegFile(scratch.file("part.mkv")).frameHashes() == Array(wanted[25..<50]))
        // A cut requires packet times, which only decoding determines here.
        guard case .failed(let failure)? = outcomes.first(where: { $0.id == "smart" })?.outcome else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(failure.message.contains("composition offsets"), "\(failure.message)")
    }

    /// Frames whose times don't increase are damage. In this source they are a third of all frames, so a warning isn't
    /// sufficient.
    @Test func framesWithDecreasingTimesAreDamage() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=2", "-c:v", "mjpeg", "-bsf:v",
            "setts=pts='if(mod(N,3),PTS,PTS-1100)':dts=DTS-2000", scratch.file("s.mov"))
        func job(_ policy: String) -> String {
            """
            version: 1
            jobs:
              j:
                asset: \(scratch.file("s.mov"))
                on_damage: \(policy)
                tracks: [ { video: first, encode: { codec: ffv1 } } ]
                destination: \(scratch.file("\(policy).mkv"))
            """
        }
        let outcomes = try await run(job("fail"), in: scratch.path)
        guard case .failed(let failure) = outcomes[0].outcome else {
            Issue.record("\(outcomes[0].outcome)")
            return
        }
        #expect(failure.message.contains("frames don't increase"), "\(failure.message)")
        #expect(!scratch.contents.contains("fail.mkv"))
        let skipped = try success(try await run(job("skip"), in: scratch.path))
        #expect(try #require(skipped.outputs.first?.tracks.first).droppedSamples > 2)
    }

    /// Negative composition offsets, as QuickTime writes them for Dolby Vision and MV-HEVC, are copied: decoding starts
    /// at zero, and frames are presented earlier.
    @Test(arguments: ["mov", "mp4", "mkv", "ts"])
    func negativeCompositionOffsetsAreCopied(_ container: String) async throws {
        let scratch = try Scratch()
        let source = try movie(
            "s.mp4", seconds: 0.2, ["-movflags", "negative_cts_offsets"], in: scratch)
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  j:
                    asset: \(source)
                    tracks: [ { video: first, copy: true } ]
                    destination: \(scratch.file("o.\(container)"))
                """, in: scratch.path))
        let (wanted, copy) = (FFmpegFile(source), FFmpegFile(scratch.file("o.\(container)")))
        #expect(try copy.frameHashes() == wanted.frameHashes())
        let packets =
            try copy.probe(["-show_entries", "packet=pts,dts"])["packets"] as? [[String: Any]] ?? []
        for packet in packets {
            guard let pts = packet["pts"] as? Int, let dts = packet["dts"] as? Int else { continue }
            #expect(dts <= pts)
        }
    }
}
