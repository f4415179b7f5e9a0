import Foundation
import JobPlan
import JobRun
import JobSpec
import Media
import TestSupport
import Testing

/// In transport streams that start between keyframes, such as broadcast recordings, frames that lack their references
/// aren't presented.
@Suite struct MidStreamTests {
    /// Creates a stream that starts with the 17th video packet of `whole.ts`.
    private func source(_ codec: [String], in scratch: Scratch) throws -> String {
        let whole = scratch.file("whole.ts")
        try ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=s=320x240:r=24:d=3"] + codec + ["-f", "mpegts", whole])
        let packets =
            try FFmpegFile(whole).probe(["-select_streams", "v", "-show_entries", "packet=pos"])["packets"]
            as? [[String: Any]] ?? []
        let position = try #require((packets[16]["pos"] as? String).flatMap { Int($0) })
        let data = try Data(contentsOf: URL(fileURLWithPath: whole))
        try data.dropFirst(position).write(to: URL(fileURLWithPath: scratch.file("s.ts")))
        return scratch.file("s.ts")
    }

    private static let codecs: [[String]] = [
        ["-c:v", "libx264", "-g", "24", "-bf", "2", "-sc_threshold", "0"],
        ["-c:v", "libx264", "-x264-params", "open-gop=1:keyint=24:bframes=3:b-adapt=0:scenecut=0"],
        ["-c:v", "libx265", "-x265-params", "log-level=none:keyint=24:min-keyint=24:scenecut=0"],
        ["-c:v", "mpeg2video", "-g", "24", "-bf", "2", "-b:v", "4M"],
    ]

    @Test(arguments: codecs) func framesWithoutReferencesAreDropped(_ codec: [String]) async throws {
        let scratch = try Scratch()
        let path = try source(codec, in: scratch)
        let outcomes = try await run(
            """
            version: 1
            jobs:
              encode:
                asset: \(path)
                tracks: [ { video: first, encode: { codec: ffv1 } } ]
                destination: \(scratch.file("o.mkv"))
              stills:
                asset: \(path)
                images: { at: [ 0s ], format: png }
                destination: \(scratch.file("still.png"))
            """, in: scratch.path)
        let encoded = try success(outcomes, "encode")
        let report = try #require(encoded.outputs.first?.tracks.first)
        #expect(report.damage.leading > 0)
        #expect(report.damage.skipped == 0)
        let hashes = try FFmpegFile(scratch.file("o.mkv")).frameHashes()
        let wanted = try FFmpegFile(scratch.file("whole.ts")).frameHashes()
        // The first frame of the second GOP is frame 24; all frames from there on equal the source's.
        #expect(hashes == Array(wanted.suffix(hashes.count)))
        #expect(hashes.count == wanted.count - 24)
        _ = try success(outcomes, "stills")
        try ffmpeg(
            "-i", scratch.file("still.png"), "-pix_fmt", "yuv420p", "-c:v", "ffv1", scratch.file("still.mkv"))
        // The still image at 0 s shows the first intact frame.
        let psnr = try FFmpegFile(scratch.file("still.mkv")).lowestPSNR(
            against: FFmpegFile(scratch.file("o.mkv")), first: 0, count: 1, own: 0)
        #expect(psnr > 35)
    }

    /// The plan notes that frames are dropped, unless the stream starts with a keyframe.
    @Test(arguments: codecs) func planNotesThatFramesAreDropped(_ codec: [String]) throws {
        let scratch = try Scratch()
        _ = try source(codec, in: scratch)
        for (name, isLate) in [("s.ts", true), ("whole.ts", false)] {
            let (file, _) = decode(
                "version: 1\njobs:\n  it: { asset: ./\(name), tracks: [ { video: first, encode: { codec: ffv1 } } ], destination: o.mkv }\n",
                directory: scratch.path)
            let result = BatchPlanner.plan([try #require(file)])
            let notes = try #require(result.plan.jobs.first?.outputs.first?.notes)
            let note =
                "video track 0 begins before its first keyframe: frames whose references are missing are dropped"
            #expect(notes.contains(note) == isLate, "\(name): \(notes)")
        }
    }

    @Test func aRangeBeforeTheFirstKeyframeIsAnError() async throws {
        let scratch = try Scratch()
        let path = try source(Self.codecs[0], in: scratch)
        let outcomes = try await run(
            """
            version: 1
            jobs:
              j:
                asset: \(path)
                range: { end: 0.1s }
                tracks: [ { video: first, encode: { codec: ffv1 } } ]
                destination: \(scratch.file("o.mkv"))
            """, in: scratch.path)
        guard case .failed(let failure) = outcomes[0].outcome else {
            Issue.record("\(outcomes[0].outcome)")
            return
        }
        #expect(failure.message.contains("the range ends before the stream's first keyframe"))
    }
}
