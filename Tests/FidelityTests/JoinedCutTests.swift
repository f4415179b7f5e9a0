import Diagnostics
import Foundation
import JobPlan
import JobRun
import Media
import TestSupport
import Testing

/// Tests smart cuts of joined ranges, such as a recording without its commercial breaks.
@Suite struct JoinedCutTests {
    /// Four ranges: the second is within one GOP and is re-encoded completely; the third precedes the others in the
    /// source.
    private static let ranges = [(0.713, 1.413), (1.9, 2.02), (0.32, 1.05), (2.0, 3.0)]

    private func job(_ source: String, to output: String, cut: String, audio: String = "copy: true") -> String
    {
        let list = Self.ranges.map { "{ start: \($0.0), end: \($0.1) }" }.joined(separator: ", ")
        return """
            version: 1
            jobs:
              cut:
                asset: \(source)
                range: [ \(list) ]
                cut: \(cut)
                tracks:
                  - { video: first, copy: true }
                  - { audio: first, \(audio) }
                destination: \(output)
            """
    }

    private func planned(_ yaml: String) throws -> JobPlan {
        let (file, sink) = decode(yaml)
        let result = BatchPlanner.plan([try #require(file, "\(rendered(sink, yaml))")])
        return try #require(result.plan.jobs.first, "\(rendered(result.diagnostics, yaml))")
    }

    @Test(arguments: CutSource.all) func everyRangeIsExact(_ source: CutSource) async throws {
        let scratch = try Scratch()
        let path = try source.make(in: scratch)
        let output = scratch.file("cut.\(source.output)")
        let yaml = job(path, to: output, cut: "smart")
        guard case .smartCut(let cut) = try planned(yaml).outputs[0].tracks[0].action else {
            Issue.record("the plan has no smart cut")
            return
        }
        #expect(cut.parts.count == Self.ranges.count && cut.copiedFrames > 0)
        _ = try success(try await run(yaml, in: scratch.path))

        let (ffmpegFile, before) = (FFmpegFile(output), FFmpegFile(path))
        let (all, result) = (try before.decodedFrames(), try ffmpegFile.decodedFrames())
        var offset = 0.0
        var index = 0
        let tolerance = source.output == "mkv" ? 0.00101 : 1e-5
        for ((start, end), part) in zip(Self.ranges, cut.parts) {
            let first = all.lastIndex { $0.time <= start + 1e-6 } ?? 0
            let last = all.lastIndex { $0.time < end - 1e-6 } ?? all.count - 1
            let count = last - first + 1
            #expect(part.headFrames + part.copiedFrames + part.tailFrames == count)
            guard result.count >= index + count else { break }
            for (number, want) in all[first...last].enumerated() {
                let have = result[index + number]
                #expect(abs(have.time - offset - max(0, want.time - start)) < tolerance)
                let isCopied = (part.headFrames..<(part.headFrames + part.copiedFrames)).contains(
                    number)
                if isCopied { #expect(have.hash == want.hash, "frame \(number) from \(start) s") }
            }
            #expect(try ffmpegFile.lowestPSNR(against: before, first: first, count: count, own: index) > 38)
            // Seeking to the start of a range shows the same frame as playing up to it.
            #expect(try ffmpegFile.frameHash(at: result[index].time) == result[index].hash)
            index += count
            offset += end - start
        }
        #expect(result.count == index)
        #expect(try ffmpegFile.decodeErrors() == "")
        // Copied audio packets keep their times: none is outside of its range.
        let packets =
            try ffmpegFile.probe(["-show_packets", "-select_streams", "a"])["packets"] as? [[String: Any]]
            ?? []
        let zero = source.output == "mkv" || source.output == "mp4" || source.output == "mov" ? 0.0 : 1.4
        var joints = 0.0
        let starts = Self.ranges.map { range -> Double in
            defer { joints += range.1 - range.0 }
            return joints
        }
        #expect(packets.count > 80)
        for packet in packets {
            let from = Double(packet["pts_time"] as? String ?? "") ?? -1
            let until = from + (Double(packet["duration_time"] as? String ?? "") ?? 0)
            let crossed = starts.dropFirst().contains { from - zero < $0 - 0.002 && until - zero > $0 + 0.03 }
            #expect(!crossed, "a packet from \(from) s to \(until) s lies across a joint")
        }
    }

    @Test func encodedAudioIsExactToTheSample() async throws {
        let scratch = try Scratch()
        let path = try CutSource.all[1].make(in: scratch)
        _ = try success(
            try await run(
                job(path, to: scratch.file("o.mov"), cut: "smart", audio: "encode: { codec: pcm_s16le }"),
                in: scratch.path))
        let (source, result) = (
            try FFmpegFile(path).audio(rate: 48_000),
            try FFmpegFile(scratch.file("o.mov")).audio(rate: 48_000)
        )
        var offset = 0
        for (start, end) in Self.ranges {
            let (from, count) = (Int((start * 48_000).rounded()), Int(((end - start) * 48_000).rounded()))
            // AAC's decoder generates noise, which differs in each decode.
            let slice = Array(source[from..<min(source.count, from + count)])
            let found = lag(slice, Array(result.dropFirst(offset).prefix(slice.count)), reach: 24)
            #expect(found.lag == 0 && found.correlation > 0.97, "\(found) from \(start) s")
            offset += count
        }
    }

    /// `keyframe` extends each range to positions at which a copy can start and end, and nothing is encoded.
    @Test func keyframeWidensEveryRange() async throws {
        let scratch = try Scratch()
        let path = try CutSource.all[0].make(in: scratch)
        let plan = try planned(job(path, to: scratch.file("o.mp4"), cut: "keyframe"))
        guard case .smartCut(let cut) = plan.outputs[0].tracks[0].action else {
            Issue.record("the plan doesn't copy the track")
            return
        }
        #expect(!cut.hasEdges)
        #expect(plan.inputs[0].joinedRanges.map(\.start.seconds) == [0.48, 1.44, 0, 1.92])
        #expect(plan.outputs[0].notes.count { $0.contains("is widened to keyframes") } == 4)
        _ = try success(
            try await run(job(path, to: scratch.file("o.mp4"), cut: "keyframe"), in: scratch.path))
        let (all, result) = (
            try FFmpegFile(path).decodedFrames().map(\.hash),
            try FFmpegFile(scratch.file("o.mp4")).decodedFrames().map(\.hash)
        )
        let wanted = plan.inputs[0].joinedRanges.flatMap { range in
            all[Int((range.start.seconds * 25).rounded())..<min(75, Int((range.end.seconds * 25).rounded()))]
        }
        #expect(result == wanted)
    }

    /// Open GOPs after another range are decodable: the order of their frames doesn't depend on the preceding GOP.
    @Test(arguments: ["keyframe", "smart"], ["libx264", "libx265"])
    func openGOPsAfterAnotherRangeAreDecodable(_ cut: String, _ encoder: String) async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=8", "-c:v", encoder, "-preset",
            "ultrafast", "-\(encoder.dropFirst(3))-params",
            "keyint=25:min-keyint=25:open-gop=1:bframes=3:scenecut=0", scratch.file("s.mp4"))
        let plan = """
            version: 1
            jobs:
              cut:
                asset: \(scratch.file("s.mp4"))
                range: [ { start: 4.1, end: 4.6 }, { start: 1.1, end: 1.6 }, { start: 6.1, end: 6.7 }, { start: 2, end: 2.04 }, { start: 3, end: 5 } ]
                cut: \(cut)
                tracks: [ { video: first, copy: true } ]
                destination: \(scratch.file("o.mp4"))
            """
        let result = try planned(plan)
        _ = try success(try await run(plan, in: scratch.path))
        let all = try FFmpegFile(scratch.file("s.mp4")).decodedFrames()
        let shown = try FFmpegFile(scratch.file("o.mp4")).decodedFrames()
        let wanted = result.inputs[0].joinedRanges.flatMap { range in
            let (start, end) = (range.start.seconds, range.end.seconds)
            let first = all.lastIndex { $0.time <= start + 1e-6 } ?? 0
            return all[first...(all.lastIndex { $0.time < end - 1e-6 } ?? 0)]
        }
        #expect(shown.count == wanted.count)
        if cut == "keyframe" { #expect(shown.map(\.hash) == wanted.map(\.hash)) }
        #expect(try FFmpegFile(scratch.file("o.mp4")).decodeErrors() == "")
    }

    /// A track that starts after the start of its range can follow another range.
    @Test func trackThatBeginsAfterItsRangeIsJoined() async throws {
        let scratch = try Scratch()
        let path = try CutSource(
            name: "late", arguments: ["-c:v", "libx264", "-g", "12", "-bf", "2"], container: "ts"
        ).make(in: scratch)
        let outcomes = try await run(
            """
            version: 1
            jobs:
              cut:
                asset: \(path)
                range: [ { start: 1.5s, end: 2.5s }, { start: 0s, end: 1.02s } ]
                cut: smart
                tracks: [ { video: first, copy: true } ]
                destination: \(scratch.file("o.mp4"))
            """, in: scratch.path)
        #expect(try success(outcomes).outputs[0].duration.seconds > 1.9)
    }

    @Test func rangesThatCantBeJoinedAreErrors() async throws {
        let scratch = try Scratch()
        let path = try CutSource.all[0].make(in: scratch)
        let exact = await refusal(job(path, to: scratch.file("o.mp4"), cut: "exact"))
        #expect(exact.contains("video track 0 can't be copied: not all ranges begin at a keyframe"))
        #expect(exact.contains("copied audio can't be cut to the sample where ranges are joined"))
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:d=3", "-f", "lavfi", "-i", "sine=d=3", "-c:v",
            "mpeg2video",
            "-c:a", "aac", scratch.file("old.mp4"))
        let old = await refusal(job(scratch.file("old.mp4"), to: scratch.file("o.mp4"), cut: "smart"))
        #expect(old.contains("smart cuts support H.264 and HEVC, not mpeg2video"))
    }

    private func refusal(_ yaml: String) async -> String {
        let (file, sink) = decode(yaml)
        guard let file else { return rendered(sink, yaml) }
        return rendered(BatchPlanner.plan([file]).diagnostics, yaml)
    }
}
