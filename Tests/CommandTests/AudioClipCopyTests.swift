import Foundation
import TestSupport
import Testing

/// Stream-copied audio of a composition consists of whole packets of the clips, at exact timestamps.
@Suite struct AudioClipCopyTests {
    private struct Packet: Hashable {
        var hash: String
        var time: Double
        var duration: Double
    }

    private func packets(_ path: String) throws -> [Packet] {
        let found =
            try FFmpegFile(path).probe([
                "-select_streams", "a:0", "-show_data_hash", "md5", "-show_entries",
                "packet=pts_time,duration_time,data_hash",
            ])["packets"] as? [[String: Any]]
        return try #require(found).compactMap { packet in
            guard let time = (packet["pts_time"] as? String).flatMap(Double.init),
                let hash = packet["data_hash"] as? String
            else { return nil }
            let duration = (packet["duration_time"] as? String).flatMap(Double.init)
            return Packet(hash: hash, time: time, duration: duration ?? 0)
        }
    }

    /// Creates clips whose audio packets all differ.
    private func folder(_ codec: [String], _ container: String, names: [String] = ["a", "b", "c"]) throws
        -> Scratch
    {
        let scratch = try Scratch()
        for (index, name) in names.enumerated() {
            try ffmpeg(
                [
                    "-f", "lavfi", "-i", "testsrc2=d=2:r=25:s=160x96", "-f", "lavfi", "-i",
                    "aevalsrc=0.3*sin(2*PI*\(300 * (index + 1))*t)+0.1*random(\(index)):s=48000:d=2", "-c:v",
                    "libx264",
                    "-g", "20", "-pix_fmt", "yuv420p",
                ] + codec + [scratch.file("\(name).\(container)")])
        }
        return scratch
    }

    private func job(
        _ composition: String, cut: String? = "smart", to output: String = "o.mp4",
        audio: String = "copy: true"
    ) -> String {
        """
        version: 1
        jobs:
          j:
            composition: \(composition)
            tracks: [ { video: first, encode: { codec: h264, preset: ultrafast } }, { audio: first, \(audio) } ]
            destination: { path: \(output), if_exists: replace }
        \(cut.map { "    cut: \($0)\n" } ?? "")
        """
    }

    /// Each packet of the output is a packet of its clip, at the time that results from the clip's position. Packets
    /// that extend beyond a clip's range are omitted.
    @Test(arguments: [
        (["-c:a", "aac"], "mp4", "mp4", "worker"), (["-c:a", "aac"], "mp4", "mkv", "none"),
        (["-c:a", "aac"], "ts", "ts", "none"), (["-c:a", "libmp3lame"], "mkv", "mp4", "none"),
        (["-c:a", "libopus"], "mkv", "webm", "none"),
        (["-c:a", "ac3"], "mp4", "ts", "none"), (["-c:a", "aac"], "mkv", "mov", "none"),
    ])
    func copiedPacketsHaveTheTimesOfTheirClips(
        _ codec: [String], _ from: String, _ to: String, _ isolation: String
    ) throws {
        let scratch = try folder(codec, from)
        let clips = [("a", 0.0, 2.0), ("b", 0.4, 1.4), ("c", 0.0, 2.0), ("a", 1.0, 2.0)]
        let written = clips.map { "{ asset: ./\($0.0).\(from), range: { start: \($0.1)s, end: \($0.2)s } }" }
        var text = job("[ \(written.joined(separator: ", ")) ]", to: "o.\(to)")
        if to == "webm" {
            text = text.replacingOccurrences(
                of: "h264, preset: ultrafast", with: "vp9, options: { deadline: realtime, cpu-used: 8 }")
        }
        try scratch.write(text, to: "jobs.yaml")
        let run = try tandem("run", "--isolation", isolation, "jobs.yaml", in: scratch)
        try #require(run.status == 0, "\(run.errors)")
        let output = try packets(scratch.file("o.\(to)"))
        // The first timestamp of a transport stream isn't 0.
        func begin(_ path: String) throws -> Double {
            guard path.hasSuffix("ts") else { return 0 }
            let streams = try FFmpegFile(path).probe(["-show_entries", "stream=start_time"])["streams"]
            return (streams as? [[String: Any]])?.compactMap {
                ($0["start_time"] as? String).flatMap(Double.init)
            }.min() ?? 0
        }
        let zero = try begin(scratch.file("o.\(to)"))
        var sources: [String: [Packet]] = [:]
        for name in ["a", "b", "c"] {
            let path = scratch.file("\(name).\(from)")
            let begin = try begin(path)
            sources[name] = try packets(path).map {
                Packet(hash: $0.hash, time: $0.time - begin, duration: $0.duration)
            }
        }
        // Matroska's timestamps are in milliseconds, those of MPEG streams in units of 1/90,000 s.
        let tick = [from, to].contains { ["mkv", "webm"].contains($0) } ? 0.0021 : 0.000_1
        var (expected, position) = ([Packet](), 0.0)
        for (name, start, end) in clips {
            // A source's last packet may contain padding beyond its end.
            let filled = sources[name]?.last?.hash
            for packet in sources[name] ?? []
            where packet.time >= start - tick
                && (packet.time + packet.duration <= end + tick + 0.001
                    || packet.hash == filled && packet.time < end)
            {
                expected.append(
                    Packet(hash: packet.hash, time: packet.time - start + position, duration: packet.duration)
                )
            }
            position += end - start
        }
        // Rounding of timestamps determines whether a packet that ends with its clip is included.
        let hashes = Set(expected.map(\.hash))
        #expect(output.allSatisfy { hashes.contains($0.hash) })
        #expect(
            (expected.count - 4...expected.count).contains(output.count),
            "\(output.count) of \(expected.count)")
        var next = 0
        for packet in output {
            guard let found = expected[next...].firstIndex(where: { $0.hash == packet.hash }) else {
                Issue.record("the packet at \(packet.time) s is missing in its clip, or out of order")
                break
            }
            #expect(
                abs(packet.time - zero - expected[found].time) <= tick,
                "packet time \(packet.time - zero), expected \(expected[found].time)")
            next = found + 1
        }
        #expect(try FFmpegFile(scratch.file("o.\(to)")).decodeErrors() == "")
        let plan = try tandem("plan", "jobs.yaml", in: scratch).text
        #expect(plan.contains("a.\(from), 0 s to 2 s; copied"), "\(plan)")
        #expect(plan.contains("is cut between packets"))
    }

    /// Stream-copied PCM is cut at exact samples for whole sources, ranges and clips, regardless of `cut`.
    @Test(arguments: [
        ("wav", "pcm_s16le", "wav"), ("mov", "pcm_s24be", "mov"), ("mkv", "pcm_f32le", "mkv"),
        ("wav", "pcm_s16le", "mkv"),
        ("mkv", "pcm_s16le", "wav"),
    ])
    func copiedPCMIsCutToTheSample(_ from: String, _ codec: String, _ to: String) throws {
        let scratch = try Scratch()
        for (index, name) in ["a", "b"].enumerated() {
            try ffmpeg(
                "-f", "lavfi", "-i", "aevalsrc=0.5*random(\(index))-0.2|0.3*random(\(index + 7)):s=48000:d=2",
                "-c:a", codec,
                scratch.file("\(name).\(from)"))
        }
        let ranges = [("a", 0.0123, 1.0451), ("b", 0.5, 0.5101), ("a", 1.99, 2.0)]
        let clips = ranges.map { "{ asset: ./\($0.0).\(from), range: { start: \($0.1)s, end: \($0.2)s } }" }
        try scratch.write(
            """
            version: 1
            defaults: { tracks: [ { audio: first, copy: true } ], destination: { if_exists: replace } }
            jobs:
              clips: { composition: [ \(clips.joined(separator: ", ")) ], destination: clips.\(to) }
              one: { asset: ./a.\(from), range: { start: 0.0123s, end: 1.0451s }, destination: one.\(to) }
              parts: { asset: ./a.\(from), range: [ { start: 0.0123s, end: 1.0451s }, { start: 1.99s } ], destination: parts.\(to) }
            """, to: "jobs.yaml")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        try #require(run.status == 0, "\(run.errors)")
        func part(_ name: String, _ start: Double, _ end: Double) throws -> ArraySlice<Float> {
            let samples = try FFmpegFile(scratch.file("\(name).\(from)")).samples(channels: nil, rate: 48_000)
            return samples[
                2 * Int((start * 48_000).rounded())..<min(samples.count, 2 * Int((end * 48_000).rounded()))]
        }
        let whole = try ranges.map { try part($0.0, $0.1, $0.2) }
        func output(_ name: String) throws -> [Float] {
            try FFmpegFile(scratch.file("\(name).\(to)")).samples(rate: 48_000)
        }
        #expect(try output("clips") == Array(whole.joined()))
        #expect(try output("one") == Array(whole[0]))
        #expect(try output("parts") == Array(whole[0] + whole[2]))
        let plan = try tandem("plan", "jobs.yaml", in: scratch).text
        #expect(!plan.contains("between packets"), "\(plan)")
    }

    /// Omitted packets at the joins don't shift later clips, here after a hundred clips.
    @Test func hundredCopiedClipsDontDrift() throws {
        let scratch = try folder(["-c:a", "aac"], "mp4")
        let clips = (0..<100).map {
            "{ asset: ./\(["a", "b", "c"][$0 % 3]).mp4, range: { start: 0.4s, end: 1.37s } }"
        }
        try scratch.write(job("[ \(clips.joined(separator: ", ")) ]"), to: "jobs.yaml")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        try #require(run.status == 0, "\(run.errors)")
        let (output, source) = (try packets(scratch.file("o.mp4")), try packets(scratch.file("a.mp4")))
        let first = try #require(source.first { $0.time >= 0.4 })
        let last = try #require(output.last { $0.hash == first.hash })
        #expect(abs(last.time - (99 * 0.97 + first.time - 0.4)) < 0.0001, "\(last.time)")
    }

    /// Audio without packets, or with packets that can't be appended to the others, is reported at its line.
    @Test(arguments: [
        (
            "[ ./a.mp4, { join: dissolve, overlap: 200ms }, ./b.mp4 ]", "smart", "mp4",
            "audio item 1 can't be copied: it overlaps other audio"
        ),
        (
            "[ ./a.mp4, { asset: ./b.mp4, volume: -3dB } ]", "smart", "mp4",
            "jobs.yaml:4:29: error[copy-range]: audio item 1 can't be copied: its volume is changed"
        ),
        (
            "[ ./a.mp4, { asset: ./b.mp4, speed: 2 } ]", "smart", "mp4",
            "audio item 1 can't be copied: its speed is changed"
        ),
        ("[ ./a.mp4, { gap: 1s }, ./b.mp4 ]", "smart", "mp4", "there is a gap from 2 s to 3 s"),
        (
            "[ ./a.mp4, ./other.mp4 ]", "smart", "mp4",
            "audio item 1 can't be copied: its sample rate is 44100 Hz, the others' is 48000 Hz"
        ),
        (
            "[ ./a.mp4, ./mp3.mp4 ]", "smart", "mp4",
            "audio item 1 can't be copied: its codec is mp3, the others' is aac"
        ),
        (
            "[ ./a.mp4, ./stereo.mp4 ]", "smart", "mp4",
            "its channel layout is stereo, the others' is mono"
        ),
        (
            "{ sequence: [ ./a.mp4 ], sample_rate: 44100 }", "smart", "mp4",
            "the composition's is 44100 Hz"
        ),
        (
            "{ sequence: [ ./a.mp4 ], audio: [ { asset: ./b.mp4 } ] }", "smart", "mp4",
            "audio item 1 can't be copied: it overlaps other audio"
        ),
        (
            "{ sequence: [ { asset: ./a.mp4, audio: none } ], audio: [ { asset: ./b.mp4, loop: true } ] }",
            "smart", "mp4", "audio item 0 can't be copied: it is repeated"
        ),
        (
            "[ { pattern: smpte, duration: 1s, tone: 1kHz } ]", "smart", "mp4",
            "audio item 0 can't be copied: its source is not a media file"
        ),
        (
            "[ ./a.mp4, ./b.mp4 ]", "exact", "mp4",
            "copied audio can't be cut to the sample where clips are joined"
        ),
        (
            "[ ./a.mp4, ./b.mp4 ]", "keyframe", "mp4",
            "`cut: keyframe` requires a video rule with `copy: true`"
        ),
        (
            "[ ./pcm.mkv, ./pcm.mkv ]", "smart", "ts",
            "ts can't store pcm_s16le, the codec of the clips' audio"
        ),
        ("[ ./a.mp4, ./b.mp4 ]", "smart", "adts", "requires timestamps; adts has none"),
    ])
    func audioThatCantBeCopiedIsAnError(_ composition: String, _ cut: String, _ to: String, _ words: String)
        throws
    {
        let scratch = try folder(["-c:a", "aac"], "mp4", names: ["a", "b"])
        for (name, options) in [
            ("other.mp4", ["-c:a", "aac", "-ar", "44100"]), ("mp3.mp4", ["-c:a", "libmp3lame"]),
            ("stereo.mp4", ["-c:a", "aac", "-ac", "2"]), ("pcm.mkv", ["-c:a", "pcm_s16le"]),
        ] where composition.contains(name) {
            try ffmpeg(["-i", scratch.file("b.mp4"), "-c:v", "copy"] + options + [scratch.file(name)])
        }
        var text = job(composition, cut: cut, to: "o.\(to)")
        if to == "adts" {
            text = text.replacingOccurrences(
                of: "{ video: first, encode: { codec: h264, preset: ultrafast } }, ", with: ""
            )
            .replacingOccurrences(
                of: "if_exists: replace }", with: "if_exists: replace }\n    container: adts")
        }
        try scratch.write(text, to: "jobs.yaml")
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(plan.status == 3 && plan.errors.contains(words), "\(plan.errors)")
        // With `smart-or-exact`, the audio is re-encoded, and the plan reports it.
        guard cut == "smart", to == "mp4", !composition.contains("pattern") else { return }
        try scratch.write(
            job(composition, cut: "smart-or-exact", audio: "copy: true, encode: { codec: aac }"),
            to: "jobs.yaml")
        let reencoded = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(
            reencoded.status == 0 && reencoded.text.contains("audio track 1 is re-encoded: "),
            "\(reencoded.errors)\(reencoded.text)")
    }

    /// Clips without a range keep their last packet, even if its end is rounded, padded or estimated.
    @Test(arguments: [
        (["-c:a", "ac3"], "mp4"), (["-c:a", "libmp3lame"], "mkv"), (["-c:a", "libopus"], "mkv"),
        (["-c:a", "ac3"], "ts"),
        (["-c:a", "aac"], "ts"),
    ])
    func wholeClipsKeepTheirLastPacket(_ codec: [String], _ container: String) throws {
        let scratch = try Scratch()
        for (name, length) in [("a", "1.53"), ("b", "1.27")] {
            try ffmpeg(
                [
                    "-f", "lavfi", "-i", "testsrc2=d=1.2:r=25:s=160x96", "-f", "lavfi", "-i",
                    "aevalsrc=0.3*sin(2*PI*(300+100*t)*t):s=48000:d=\(length)", "-c:v", "libx264", "-pix_fmt",
                    "yuv420p",
                ]
                    + codec + [scratch.file("\(name).\(container)")])
        }
        // ADTS headers make AAC packets in transport streams differ from those in other containers.
        let output = codec.contains("aac") ? "o.ts" : "o.mkv"
        let composition = "[ ./a.\(container), ./b.\(container) ]"
        try scratch.write(job(composition, to: output), to: "jobs.yaml")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        try #require(run.status == 0, "\(run.errors)")
        let copied = try packets(scratch.file(output))
        let sources = try ["a", "b"].map { try packets(scratch.file("\($0).\(container)")) }
        let hashes = Set(copied.map(\.hash))
        for (name, source) in zip(["a", "b"], sources) {
            let last = try #require(source.last)
            #expect(hashes.contains(last.hash), "\(name): its last packet is missing")
        }
        #expect(zip(copied, copied.dropFirst()).allSatisfy { $0.time < $1.time })
    }

    @Test func gapsOfCopiedAudioAreReported() throws {
        let scratch = try folder(["-c:a", "aac"], "mp4", names: ["a", "b"])
        try ffmpeg(
            "-i", scratch.file("b.mp4"), "-itsoffset", "0.7", "-i", scratch.file("a.mp4"), "-map", "0:v",
            "-map", "1:a", "-c",
            "copy", scratch.file("late.mp4"))
        try scratch.write(job("[ ./a.mp4, ./late.mp4 ]"), to: "jobs.yaml")
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(
            plan.status == 0 && plan.text.contains("the copied audio has a gap from 0:02 to 0:02.6"),
            "\(plan.errors)\(plan.text)")
        // A clip shorter than a packet produces no output, which is an error.
        try scratch.write(
            "version: 1\njobs:\n  j: { composition: [ { asset: ./a.mp4, range: { start: 0.111s, end: 0.121s } } ], cut: smart, tracks: [ { audio: first, copy: true } ], destination: o.m4a }\n",
            to: "jobs.yaml")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 1 && run.errors.contains("no samples in this range"), "\(run.errors)")
        #expect(!scratch.contents.contains("o.m4a"))
        // The error is reported at the clip's line even if the clip has no video.
        try scratch.write(
            "version: 1\njobs:\n  j:\n    composition:\n      - { asset: ./a.mp4, video: none }\n      - { asset: ./b.mp4, video: none, volume: 0.5 }\n    cut: smart\n    tracks: [ { audio: first, copy: true } ]\n    destination: o.m4a\n",
            to: "jobs.yaml")
        let wrong = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(wrong.errors.contains("jobs.yaml:6:9: error[copy-range]"), "\(wrong.errors)")
    }
}
