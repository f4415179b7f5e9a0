import Foundation
import TestSupport
import Testing

/// Stream-copied video of a composition decodes to the same frames as its sources.
@Suite struct ClipCopyTests {
    /// Creates clips of one format whose frames all differ.
    private func folder(_ codec: [String], in container: String) throws -> Scratch {
        let scratch = try Scratch()
        for (index, name) in ["a", "b", "c"].enumerated() {
            try ffmpeg(
                [
                    "-f", "lavfi", "-i",
                    "testsrc2=d=2:r=25:s=160x96,hue=h=\(index * 60),eq=brightness=\(0.15 * Double(index))",
                    "-f", "lavfi",
                    "-i",
                    "sine=f=\(300 * (index + 1)):d=2:r=48000",
                ] + codec + [
                    "-g", "20", "-c:a", "flac", "-strict", "-2", scratch.file("\(name).\(container)"),
                ])
        }
        return scratch
    }

    private static let h264 = ["-c:v", "libx264", "-bf", "3", "-pix_fmt", "yuv420p"]

    private func job(
        _ composition: String, cut: String? = "smart", to output: String = "o.mp4",
        video: String = "copy: true"
    ) -> String {
        """
        version: 1
        jobs:
          j:
            composition: \(composition)
            tracks: [ { video: first, \(video) }, { audio: first, encode: { codec: flac }, optional: true } ]
            destination: { path: \(output), if_exists: replace }
        \(cut.map { "    cut: \($0)\n" } ?? "")
        """
    }

    private func run(_ job: String, in scratch: Scratch, isolation: String = "worker") throws {
        try scratch.write(job, to: "jobs.yaml")
        let run = try tandem("run", "--isolation", isolation, "jobs.yaml", in: scratch)
        try #require(run.status == 0, "\(run.errors)")
    }

    /// Returns numbers of frames from the plan: copied, re-encoded at the edges of clips, generated between clips.
    private func counts(in scratch: Scratch) throws -> [Int] {
        let text = try tandem("plan", "jobs.yaml", in: scratch).text
        let copied = try #require(text.firstMatch(of: /copied +(\d+) frames of/))
        let rest = try #require(text.firstMatch(of: /(\d+) frames at the edges of \d+ clips, (\d+) between/))
        return [copied.1, rest.1, rest.2].compactMap { Int($0) }
    }

    /// Whole clips are copied packet by packet, each at its exact time.
    @Test(arguments: [("mp4", "worker"), ("mp4", "none"), ("mov", "none"), ("mkv", "none"), ("ts", "none")])
    func wholeClipsAreCopiedPacketByPacket(_ container: String, _ isolation: String) throws {
        let scratch = try folder(Self.h264, in: "mp4")
        try run(
            job("[ ./a.mp4, ./b.mp4, ./c.mp4, ./a.mp4 ]", cut: nil, to: "o.\(container)")
                .replacingOccurrences(
                    of: "codec: flac", with: ["ts", "mov"].contains(container) ? "codec: aac" : "codec: flac"),
            in: scratch, isolation: isolation)
        let names = ["a", "b", "c", "a"].map { scratch.file("\($0).mp4") }
        let output = FFmpegFile(scratch.file("o.\(container)"))
        #expect(try counts(in: scratch) == [200, 0, 0])
        #expect(try output.frameHashes() == (try names.flatMap { try FFmpegFile($0).frameHashes() }))
        #expect(try output.decodeErrors() == "")
        if container != "ts" {
            #expect(
                try output.packetHashes("v:0")
                    == (try names.flatMap { try FFmpegFile($0).packetHashes("v:0") }))
        }
        let times = try output.frames().times
        #expect(times.count == 200)
        // Multiples of 40 ms are exact in Matroska (milliseconds), mp4 and transport streams.
        for (index, time) in times.enumerated() {
            #expect(abs(time - times[0] - Double(index) * 0.04) < 0.000_02, "\(index): \(time)")
        }
    }

    /// A hundred clips that begin and end between keyframes, compared by time and by frame.
    @Test func hundredClipsAreCutToTheFrame() throws {
        let scratch = try folder(Self.h264, in: "mp4")
        let clips = (0..<100).map {
            "{ asset: ./\(["a", "b", "c"][$0 % 3]).mp4, range: { start: 0.4s, end: 1.36s } }"
        }
        try run(job("[ \(clips.joined(separator: ", ")) ]"), in: scratch)
        let output = FFmpegFile(scratch.file("o.mp4"))
        let times = try output.frames().times
        #expect(times.count == 2400)
        let deviations: [Double] = times.enumerated().map { abs($1 - Double($0) * 0.04) }
        #expect(deviations.allSatisfy { $0 < 0.000_01 })
        #expect(try output.decodeErrors() == "")
        let numbers = try counts(in: scratch)
        #expect(numbers[0] >= 1000 && numbers[0] + numbers[1] == 2400 && numbers[2] == 0, "\(numbers)")
        for (clip, name) in [(0, "a"), (50, "c"), (99, "a")] {
            let psnr = try output.lowestPSNR(
                against: FFmpegFile(scratch.file("\(name).mp4")), first: 10, count: 24, own: clip * 24)
            #expect(psnr > 40, "\(clip): \(psnr)")
        }
    }

    /// Only frames at clip edges, under joins, in gaps and under layers are encoded; every frame matches the re-encoded composition.
    @Test(arguments: [
        (["-c:v", "libx264", "-bf", "3", "-pix_fmt", "yuv420p"], "mp4", "mp4"),
        (["-c:v", "libx264", "-bf", "2", "-pix_fmt", "yuv420p", "-x264-params", "open-gop=1"], "mp4", "mkv"),
        (["-c:v", "libx264", "-bf", "2", "-pix_fmt", "yuv420p"], "mp4", "ts"),
        (
            [
                "-c:v", "libx265", "-tag:v", "hvc1", "-preset", "ultrafast", "-pix_fmt", "yuv420p",
                "-x265-params", "log-level=error",
            ], "mp4", "mp4"
        ),
    ])
    func onlyFramesAtEdgesJoinsAndLayersAreEncoded(_ codec: [String], _ from: String, _ to: String) throws {
        let scratch = try folder(codec, in: from)
        try ffmpeg(
            "-f", "lavfi", "-i", "color=lime:s=32x24,format=rgba", "-frames:v", "1", scratch.file("l.png"))
        let composition = """
            { sequence: [ { asset: ./a.\(from), range: { start: 0.2s, end: 1.8s } }, { join: dissolve, overlap: 200ms }, ./b.\(from), { gap: 120ms }, { asset: ./l.png, duration: 200ms }, { asset: ./c.\(from), range: { start: 0s, end: 1.72s } } ], layers: [ { asset: ./l.png, at: 40ms, duration: 160ms, place: { left: 8, top: 16 } } ] }
            """
        try run(
            job(composition, to: "o.\(to)").replacingOccurrences(of: "codec: flac", with: "codec: aac"),
            in: scratch)
        let numbers = try counts(in: scratch)
        let output = FFmpegFile(scratch.file("o.\(to)"))
        let times = try output.frames().times
        #expect(
            times.count == 136 && numbers.reduce(0, +) == 136 && numbers[0] > 60, "\(numbers) \(times.count)")
        for (index, time) in times.enumerated() {
            #expect(abs(time - times[0] - Double(index) * 0.04) < 0.000_02, "\(index): \(time)")
        }
        #expect(try output.decodeErrors() == "")
        // The same composition, decoded and encoded losslessly.
        try run(
            job(composition, cut: nil, to: "r.mkv", video: "encode: { codec: ffv1 }"), in: scratch)
        let whole = FFmpegFile(scratch.file("r.mkv"))
        let psnr = try output.lowestPSNR(against: whole, first: 0, count: 136, own: 0)
        #expect(psnr > 36, "\(psnr)")
        let same = zip(try output.frameHashes(), try whole.frameHashes()).count { $0 == $1 }
        #expect(
            same >= numbers[0],
            "\(same) frames are identical to the sources', expected \(numbers[0]) of \(numbers)")
    }

    /// All clips with a different format are reported at their lines; with `smart-or-exact`, only these clips are
    /// encoded.
    @Test func clipsOfAnotherFormatAreReported() throws {
        let scratch = try folder(Self.h264, in: "mp4")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=d=1:r=25:s=80x48", "-c:v", "libx264", "-pix_fmt", "yuv420p",
            scratch.file("small.mp4"))
        try ffmpeg(
            "-i", scratch.file("b.mp4"), "-c:v", "libx264", "-crf", "10", "-preset", "slow", "-an",
            scratch.file("other.mp4"))
        try ffmpeg("-i", scratch.file("b.mp4"), "-c:v", "mpeg4", "-an", scratch.file("old.mp4"))
        let clips = "[ ./a.mp4, ./small.mp4, ./b.mp4, ./other.mp4, ./old.mp4 ]"
        for cut in ["smart", nil] {
            try scratch.write(job(clips, cut: cut), to: "jobs.yaml")
            let plan = try tandem("plan", "jobs.yaml", in: scratch)
            #expect(plan.status == 3)
            for words in [
                "jobs.yaml:4:29: error[copy-range]: clip 1 can't be copied: its frames are 80x48",
                "clip 3 can't be copied: it was encoded with other settings",
                "clip 4 can't be copied: smart cuts support H.264 and HEVC, not mpeg4",
            ] { #expect(plan.errors.contains(words), "\(words): \(plan.errors)") }
        }
        try scratch.write(job(clips, cut: "smart-or-exact"), to: "jobs.yaml")
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(plan.text.contains("a.mp4, 0 s to 2 s; copied"), "\(plan.text)")
        #expect(plan.text.contains("small.mp4, 0 s to 1 s; re-encoded"), "\(plan.text)")
        #expect(plan.text.contains("re-encoded from 0:02 to 0:03: clip 1: its frames are"), "\(plan.text)")
        try run(job(clips, cut: "smart-or-exact"), in: scratch)
        #expect(try counts(in: scratch) == [100, 0, 125])
        #expect(try FFmpegFile(scratch.file("o.mp4")).frames().times.count == 225)
    }

    /// Combinations of keys that prevent copying are errors at their line.
    @Test(arguments: [
        (
            "[ ./a.mp4, { join: dissolve, overlap: 200ms }, ./b.mp4 ]", "    cut: exact\n",
            "join of clip 1 and the preceding one"
        ),
        ("[ ./a.mp4, { gap: 1s } ]", "", "can't be copied: a gap"),
        ("[ { asset: ./a.mp4, range: { start: 0.2s } } ]", "", "begins or ends within a GOP"),
        ("[ { asset: ./a.mp4, speed: 2 }, ./b.mp4 ]", "", "clip 0: its speed is changed"),
        ("{ sequence: [ ./a.mp4 ], layers: [ { asset: ./b.mp4, at: 1s } ] }", "", "can't be copied: layer 0"),
        ("[ ./a.mp4, ./b.mp4 ]", "    cut: keyframe\n", "`cut: keyframe` is not supported for compositions"),
        ("[ ./a.mp4, ./b.mp4 ]", "    range: { end: 1s }\n", "a range of a composition can't be copied"),
        ("{ sequence: [ ./a.mp4 ], size: 80x48 }", "    cut: smart\n", "the composition's are 80x48"),
        (
            "{ sequence: [ ./a.mp4 ], frame_rate: 30 }", "    cut: smart\n",
            "is not the composition's constant 30 frames/s"
        ),
        (
            "[ { pattern: smpte, duration: 1s } ]", "    cut: smart\n",
            "no clip of the composition has packets"
        ),
    ])
    func compositionsThatCantBeCopiedAreErrors(_ composition: String, _ more: String, _ words: String) throws
    {
        let scratch = try folder(Self.h264, in: "mp4")
        try scratch.write(job(composition, cut: nil) + more, to: "jobs.yaml")
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(plan.status == 3 && plan.errors.contains(words), "\(plan.errors)")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 1 && !scratch.contents.contains("o.mp4"), "\(run.errors)")
    }

    /// A damaged clip fails the job, and the file at the destination is kept.
    @Test func damagedClipsLeaveTheDestinationUnchanged() throws {
        let scratch = try folder(Self.h264, in: "mkv")
        let path = scratch.file("b.mkv")
        var bytes = try #require(FileManager.default.contents(atPath: path))
        // Damages the data of frames, after the headers.
        for place in stride(from: bytes.count / 3, to: bytes.count / 2, by: 3) { bytes[place] ^= 0x5a }
        try bytes.write(to: URL(fileURLWithPath: path))
        try scratch.write("before", to: "o.mp4")
        try scratch.write(
            job("[ ./a.mkv, { asset: ./b.mkv, range: { start: 0.2s } }, ./c.mkv ]"), to: "jobs.yaml")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status != 0, "\(run.errors)")
        #expect(FileManager.default.contents(atPath: scratch.file("o.mp4")) == Data("before".utf8))
    }

    /// The output matches the re-encoded composition at each time if different clips are cut at the same time, if
    /// layers or joins begin between frames, and if a clip's video starts after its audio. A first frame that is shown
    /// from the clip's start is one packet.
    @Test(arguments: [
        (
            "[ { asset: ./a.mp4, range: { start: 0.52s } }, { asset: ./b.mp4, range: { start: 0.52s } } ]",
            74, 74, "mp4"
        ),
        (
            "[ { asset: ./a.mp4, range: { start: 0.52s, end: 1.72s } }, { join: dissolve, overlap: 313ms }, ./b.mp4 ]",
            72, 72, "mp4"
        ),
        (
            "{ sequence: [ ./a.mp4, ./b.mp4 ], layers: [ { asset: ./l.png, at: 1.913s, until: 2.117s }, { asset: ./l.png, at: 1.013s, until: 1.017s } ] }",
            100, 100, "mkv"
        ),
        ("[ ./a.mp4, ./late.mp4, ./late.mp4 ]", 165, 150, "mp4"),
        ("[ ./late.mp4, ./c.mp4, ./late.mp4 ]", 165, 150, "mkv"),
        (
            "[ ./a.mp4, { asset: ./late.mp4, lead_in: black }, { asset: ./late.mp4, lead_in: black } ]", 165,
            165,
            "mp4"
        ),
    ])
    func cutsAndLayersBetweenFramesMatchTheEncodedComposition(
        _ composition: String, _ count: Int, _ packets: Int, _ container: String
    ) throws {
        let scratch = try folder(Self.h264, in: "mp4")
        try ffmpeg(
            "-f", "lavfi", "-i", "color=lime:s=32x24,format=rgba", "-frames:v", "1", scratch.file("l.png"))
        // The video starts 0.3 s after the audio.
        try ffmpeg(
            "-itsoffset", "0.3", "-i", scratch.file("b.mp4"), "-i", scratch.file("a.mp4"), "-map", "0:v",
            "-map", "1:a", "-c", "copy",
            "-strict", "-2", scratch.file("late.mp4"))
        try run(job(composition, to: "o.\(container)"), in: scratch)
        let output = FFmpegFile(scratch.file("o.\(container)"))
        #expect(try output.decodeErrors() == "")
        try run(job(composition, cut: nil, to: "r.mkv", video: "encode: { codec: ffv1 }"), in: scratch)
        let (ours, whole) = (try output.frames().times, try FFmpegFile(scratch.file("r.mkv")).frames().times)
        #expect(
            abs(whole.count - count) <= 1 && abs(ours.count - packets) <= 3, "\(ours.count) \(whole.count)")
        // Resamples both to a constant frame rate, so that the frame shown at each time is compared.
        let rate = "fps=25:round=up:start_time=0,setpts=N"
        let result = try program(
            "ffmpeg",
            [
                "-v", "error", "-i", output.path, "-i", scratch.file("r.mkv"), "-lavfi",
                "[0:v]\(rate)[a];[1:v]\(rate)[b];[a][b]psnr=stats_file=-", "-f", "null", "-",
            ])
        let values = result.text.matches(of: /psnr_avg:([0-9.]+|inf)/).map { Double($0.1) ?? 100 }
        #expect(
            values.count >= count - 1 && values.min() ?? 0 > 30,
            "\(values.enumerated().filter { $0.element < 30 })")
    }

    /// A clip that starts with frames before the first keyframe can't be cut, and the plan reports it.
    @Test func framesBeforeTheFirstKeyframeCantBeCut() throws {
        let scratch = try folder(Self.h264, in: "ts")
        // Drops the packets that contain the first keyframe.
        let bytes = try #require(FileManager.default.contents(atPath: scratch.file("a.ts")))
        try Data(bytes.prefix(188 * 3) + bytes.dropFirst(188 * 40)).write(
            to: URL(fileURLWithPath: scratch.file("cut.ts")))
        try scratch.write(job("[ ./b.ts, { asset: ./cut.ts, range: { start: 0s } } ]"), to: "jobs.yaml")
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(
            plan.status == 3
                && plan.errors.contains(
                    "clip 1 can't be copied: it begins with frames whose references are missing"),
            "\(plan.errors)")
    }
}
