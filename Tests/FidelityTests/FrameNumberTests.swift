import Foundation
import JobRun
import Media
import TestSupport
import Testing

/// Frame numbers (`30f`) count the source's frames, regardless of their times.
@Suite struct FrameNumberTests {
    /// Sources of at least 60 frames whose frame numbers can't be computed from a constant rate or from packet times.
    enum Source: String, CaseIterable {
        /// A variable rate: high at first, then low.
        case variable = "variable.mp4"
        /// 29.97 frames/s with timestamps in milliseconds.
        case milliseconds = "milliseconds.mkv"
        /// Packets whose frames aren't shown.
        case hidden = "hidden.webm"
        /// Packets without timestamps.
        case bare = "bare.h264"
        /// Packets with decoding times only.
        case decoding = "decoding.avi"
        /// A file that doesn't state its duration.
        case stream = "stream.ts"

        func make(in scratch: Scratch) throws {
            let input = [
                "-f", "lavfi", "-i",
                "testsrc2=size=64x48:rate=\(self == .milliseconds ? "30000/1001" : "25"):duration=3",
            ]
            let output: [String] =
                switch self {
                case .variable:
                    [
                        "-vf", "settb=1/1000,setpts='if(lt(N,20),N*0.02,0.4+(N-20)*0.1)/TB'", "-fps_mode",
                        "passthrough",
                        "-enc_time_base", "1/1000", "-frames:v", "60", "-c:v", "libx264", "-g", "12",
                    ]
                case .hidden: ["-c:v", "libvpx", "-auto-alt-ref", "1", "-lag-in-frames", "16"]
                case .decoding: ["-c:v", "mpeg4", "-bf", "2"]
                default: ["-c:v", "libx264", "-g", "12"]
                }
            try ffmpeg(input + output + [scratch.file(rawValue)])
        }
    }

    @Test(arguments: Source.allCases) func rangesContainTheFramesOfTheirNumbers(_ source: Source) async throws
    {
        let scratch = try Scratch()
        try source.make(in: scratch)
        let encode = "tracks: [ { video: first, encode: { codec: ffv1 } } ]"
        let records = try await run(
            """
            version: 1
            jobs:
              ends: { asset: ./\(source.rawValue), range: { start: 30f, end: 40f }, \(encode), destination: ends.mkv }
              length: { asset: ./\(source.rawValue), range: { start: 30f, duration: 10f }, \(encode), destination: length.mkv }
              limit: { asset: ./\(source.rawValue), limit: { duration: 13f }, \(encode), destination: limit.mkv }
              joined: { asset: ./\(source.rawValue), range: [ { start: 3f, end: 8f }, { start: 25f, end: 31f } ], limit: { duration: 9f }, \(encode), destination: joined.mkv }
              clip: { composition: { frame_rate: 100, sequence: [ { asset: ./\(source.rawValue), range: { start: 30f, end: 31f } } ] }, \(encode), destination: clip.mkv }
            """, in: scratch.path)
        let all = try FFmpegFile(scratch.file(source.rawValue)).frameHashes()
        let wanted = [
            ("ends", Array(all[30..<40])), ("length", Array(all[30..<40])), ("limit", Array(all[..<13])),
            ("joined", Array(all[3..<8] + all[25..<29])),
        ]
        for (name, hashes) in wanted {
            _ = try success(records, name)
            #expect(try FFmpegFile(scratch.file("\(name).mkv")).frameHashes() == hashes, "\(name)")
        }
        _ = try success(records, "clip")
        let clip = try FFmpegFile(scratch.file("clip.mkv")).frameHashes()
        #expect(clip.count >= 3 && Set(clip) == [all[30]])
    }

    @Test func cutsStillsAndChaptersUseFrameNumbers() async throws {
        let scratch = try Scratch()
        try Source.variable.make(in: scratch)
        let records = try await run(
            """
            version: 1
            jobs:
              smart: { asset: ./variable.mp4, range: { start: 30f, end: 55f }, cut: smart, tracks: [ { video: first, copy: true } ], destination: smart.mp4 }
              chapters: { asset: ./variable.mp4, range: { start: 10f }, chapters: [ { start: 0f, title: a }, { start: 20f, title: b } ], tracks: [ { video: first, encode: { codec: h264 } } ], destination: chapters.mp4 }
              stills: { asset: ./variable.mp4, range: { start: 10f }, images: { at: [ 20f, 0f, 49f ] }, destination: "still-${image.number}.png" }
            """, in: scratch.path)
        let source = try FFmpegFile(scratch.file("variable.mp4")).decodedFrames()
        _ = try success(records, "smart")
        let smart = try FFmpegFile(scratch.file("smart.mp4")).decodedFrames()
        #expect(smart.count == 25)
        for (own, other) in zip(smart, source[30..<55]) {
            #expect(abs(own.time - (other.time - source[30].time)) < 0.001)
        }
        // Between two keyframes of the source, all frames are copied.
        #expect(smart[6..<18].map(\.hash) == source[36..<48].map(\.hash))
        _ = try success(records, "chapters")
        let chapters =
            try FFmpegFile(scratch.file("chapters.mp4")).probe(["-show_chapters"])["chapters"]
            as? [[String: Any]]
        let starts = (chapters ?? []).compactMap { ($0["start_time"] as? String).flatMap(Double.init) }
        #expect(starts.count == 2)
        #expect(abs((starts.last ?? 0) - (source[30].time - source[10].time)) < 0.001)
        let stills = try success(records, "stills").outputs[0].images.map(\.actual.seconds)
        #expect(stills.count == 3)
        for (time, frame) in zip(stills, [10, 30, 59]) { #expect(abs(time - source[frame].time) < 0.001) }
    }

    @Test func endOfTheLastFrameHasANumber() async throws {
        let scratch = try Scratch()
        try Source.bare.make(in: scratch)
        let records = try await run(
            "version: 1\njobs:\n  one: { asset: ./bare.h264, range: { start: 70f, end: 75f }, tracks: [ { video: first, encode: { codec: ffv1 } } ], destination: o.mkv }\n",
            in: scratch.path)
        _ = try success(records)
        #expect(try FFmpegFile(scratch.file("o.mkv")).frameHashes().count == 5)
    }

    /// Ranges in frame numbers start with the requested frame, for a real file with timestamps in milliseconds.
    @Test(
        .enabled(
            if: TestPaths.media != nil
                && FileManager.default.fileExists(atPath: (TestPaths.media ?? "") + "/reports/s2997.mkv")))
    func rangeOfTimesInMillisecondsBeginsWithItsFrame() async throws {
        let scratch = try Scratch()
        let source = (TestPaths.media ?? "") + "/reports/s2997.mkv"
        let records = try await run(
            "version: 1\njobs:\n  one: { asset: \(source), range: { start: 100f, end: 110f }, tracks: [ { video: first, encode: { codec: ffv1 } } ], destination: o.mkv }\n",
            in: scratch.path)
        _ = try success(records)
        #expect(
            try FFmpegFile(scratch.file("o.mkv")).frameHashes()
                == Array(try FFmpegFile(source).frameHashes()[100..<110]))
    }
}
