import Foundation
import JobPlan
import JobRun
import Media
import TestSupport
import Testing

/// Audio, subtitles, chapters and tags are kept in edge cases: after a gap, during the encoder's delay at the end, and
/// in overlapping events.
@Suite struct AudioAndCueTests {
    private func job(_ asset: String, _ tracks: String, to target: String, more: String = "") -> String {
        "version: 1\njobs:\n  it: { asset: ./\(asset), tracks: [ \(tracks) ], \(more)destination: { path: \(target), if_exists: replace } }\n"
    }

    private func failure(_ outcomes: [JobRecord]) -> String {
        if case .failed(let failure) = outcomes[0].outcome {
            failure.message
        } else {
            "\(outcomes[0].outcome)"
        }
    }

    private func samples(_ path: String) throws -> [Int16] {
        let bytes = try program(
            "ffmpeg", ["-v", "error", "-i", path, "-f", "s16le", "-ac", "1", "-"]
        ).output
        return bytes.withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
    }

    private func tags(_ path: String, _ entries: String) throws -> [String: String] {
        let json = try FFmpegFile(path).probe(["-show_entries", entries])
        return (json["format"] as? [String: Any])?["tags"] as? [String: String] ?? [:]
    }

    /// A packet before a gap ends at the next packet; audio after the gap keeps its length.
    @Test func audioAfterAPauseIsKept() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "sine=440:r=48000:d=5", "-af", "aselect='lt(t,2)+gte(t,3)'", "-c:a", "aac",
            scratch.file("s.m4a"))
        let wanted = try samples(scratch.file("s.m4a")).count
        for target in ["o.mkv", "o.m4a"] {
            _ = try success(
                try await run(job("s.m4a", "{ audio: first, copy: true }", to: target), in: scratch.path))
            let got = try samples(scratch.file(target))
            #expect(abs(got.count - wanted) <= 1024, "\(target): \(got.count) of \(wanted)")
            #expect(got.suffix(48_000).prefix(40_000).contains { abs(Int($0)) > 2000 })
        }
    }

    /// Copies end with their source: without a declared delay no samples are hidden, and padding of the last Opus
    /// packet isn't presented.
    @Test func copiesEndAtTheSourcesEnd() async throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=440:r=44100:d=5", "-c:a", "libmp3lame", scratch.file("s.mp3"))
        for name in ["s.mkv", "s.mp4"] {
            try ffmpeg("-i", scratch.file("s.mp3"), "-c", "copy", scratch.file(name))
        }
        try ffmpeg("-f", "lavfi", "-i", "sine=440:r=48000:d=5.123", "-c:a", "libopus", scratch.file("o.mp4"))
        // Players skip 530 samples of files that declare a delay.
        for (source, target, least, most) in [
            ("s.mp3", "a.mp3", 220_500, 220_500), ("s.mkv", "b.mp3", 221_605 - 530, 221_605),
            ("s.mp4", "c.mp3", 220_500, 221_231), ("o.mp4", "d.webm", 245_904, 245_904),
            ("o.mp4", "e.mkv", 245_904, 245_904), ("o.mp4", "f.ogg", 245_904, 245_904),
        ] {
            _ = try success(
                try await run(job(source, "{ audio: first, copy: true }", to: target), in: scratch.path))
            let count = try samples(scratch.file(target)).count
            #expect((least...most).contains(count), "\(source) to \(target): \(count)")
        }
    }

    /// Samples that an encoder without a packet queue still holds at the end are written.
    @Test func encoderDelayIsFlushedAtTheEnd() async throws {
        let scratch = try Scratch()
        for count in [1, 4410, 48_896, 49_000, 49_152, 49_153] {
            try ffmpeg(
                "-f", "lavfi", "-i", "sine=440:r=48000,atrim=end_sample=\(count)", scratch.file("s.wav"))
            for container in ["mp4", "mkv", "mov", "ts"] {
                let result = try success(
                    try await run(
                        job("s.wav", "{ audio: first, encode: { codec: ac3 } }", to: "o.\(container)"),
                        in: scratch.path))
                #expect(result.outputs[0].tracks[0].appendedSamples == count)
                let delay = 256
                let got = try samples(scratch.file("o.\(container)")).count
                #expect(
                    got >= count + (container == "mp4" || container == "mov" ? 0 : delay),
                    "\(container) \(count): \(got)")
            }
        }
    }

    /// Events that are visible at the start of a range are shown, even if another event started after them.
    @Test(arguments: ["srt", "ass", "webvtt"]) func eventsOnScreenAtTheStartAreShown(_ codec: String)
        async throws
    {
        let scratch = try Scratch()
        try scratch.write(
            "1\n00:00:00,000 --> 00:00:08,000\nlong\n\n2\n00:00:01,200 --> 00:00:02,500\nshort\n\n",
            to: "c.srt")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc=s=160x120:r=25:d=10", "-i", scratch.file("c.srt"), "-c:v",
            "libx264",
            "-g", "25", "-c:s", codec, scratch.file("s.mkv"))
        for (range, wanted) in [
            ("{ start: 1.3s, end: 6s }", ["00:00:00,000 --> 00:00:04,700", "00:00:00,000 --> 00:00:01,200"]),
            ("{ start: 3s, end: 6s }", ["00:00:00,000 --> 00:00:03,000"]),
        ] {
            _ = try success(
                try await run(
                    job(
                        "s.mkv", "{ subtitle: first, encode: { codec: srt } }", to: "o.srt",
                        more: "range: \(range), "), in: scratch.path))
            let text = try String(contentsOfFile: scratch.file("o.srt"), encoding: .utf8)
            #expect(wanted.allSatisfy { text.contains($0) }, "\(text)")
        }
    }

    /// If a range contains no event, an optional rule omits the track; for other rules it is an error, in all
    /// containers.
    @Test func subtitlesWithoutEventInRange_areOmittedOrRefused() async throws {
        let scratch = try Scratch()
        try scratch.write("1\n00:00:01,000 --> 00:00:02,500\nshort\n\n", to: "c.srt")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc=s=160x120:r=25:d=4", "-i", scratch.file("c.srt"), "-c:v", "libx264",
            "-g", "25", "-c:s", "srt", scratch.file("s.mkv"))
        let range = "range: { start: 3s, end: 4s }, "
        for (codec, name) in [("srt", "n.srt"), ("webvtt", "n.vtt"), ("ass", "n.ass")] {
            for optional in ["", ", optional: true"] {
                let records = try await run(
                    job(
                        "s.mkv", "{ subtitle: first, encode: { codec: \(codec) }\(optional) }", to: name,
                        more: range),
                    in: scratch.path)
                let wanted = optional.isEmpty ? "has no event in the range" : "has no track"
                #expect(failure(records).contains(wanted), "\(name): \(failure(records))")
            }
        }
        let video = "{ video: first, encode: { codec: h264 } }"
        let refused = try await run(
            job("s.mkv", video + ", { subtitle: first, copy: true }", to: "o.mkv", more: range),
            in: scratch.path)
        #expect(failure(refused).contains("has no event in the range"), "\(failure(refused))")
        let result = try success(
            try await run(
                job(
                    "s.mkv", video + ", { subtitle: first, copy: true, optional: true }", to: "o.mkv",
                    more: range),
                in: scratch.path))
        #expect(result.outputs[0].tracks.count == 1)
        #expect(
            try FFmpegFile(scratch.file("o.mkv")).probe(["-show_streams"])["streams"].map {
                ($0 as? [Any])?.count
            }
                == 1)
        #expect(scratch.contents.filter { $0.hasPrefix("n.") }.isEmpty)
    }

    /// Special characters of WebVTT are escaped in text.
    @Test func specialCharactersOfWebVTTAreEscaped() async throws {
        let scratch = try Scratch()
        try scratch.write(
            "1\n00:00:00,000 --> 00:00:02,000\n1 < 2 & x <y z, <i>a > b</i>\n\n", to: "c.srt")
        _ = try success(
            try await run(
                job("c.srt", "{ subtitle: first, encode: { codec: webvtt } }", to: "o.vtt"), in: scratch.path)
        )
        let text = try String(contentsOfFile: scratch.file("o.vtt"), encoding: .utf8)
        #expect(text.contains("1 &lt; 2 &amp; x &lt;y z, <i>a &gt; b</i>"), "\(text)")
        _ = try success(
            try await run(
                job("o.vtt", "{ subtitle: first, encode: { codec: srt } }", to: "o.srt"), in: scratch.path))
        let back = try String(contentsOfFile: scratch.file("o.srt"), encoding: .utf8)
        #expect(back.contains("1 < 2 & x <y z, <i>a > b</i>"), "\(back)")
    }

    /// Times of ID3 chapters are relative to the first presented sample.
    @Test func chaptersOfMP3KeepTheirTimes() async throws {
        let scratch = try Scratch()
        try scratch.write(
            ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=1000\ntitle=A\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=1000\nEND=2000\ntitle=B\n",
            to: "c.txt")
        try ffmpeg(
            "-f", "lavfi", "-i", "sine=d=2", "-i", scratch.file("c.txt"), "-map_metadata", "1", "-c:a",
            "libmp3lame", scratch.file("s.mp3"))
        for (target, rule) in [
            ("o.mp3", "copy: true"), ("o.m4a", "encode: { codec: aac }"),
            ("o.mkv", "encode: { codec: flac }"),
        ] {
            _ = try success(
                try await run(job("s.mp3", "{ audio: first, \(rule) }", to: target), in: scratch.path))
            let json = try FFmpegFile(scratch.file(target)).probe(["-show_chapters"])
            let starts = (json["chapters"] as? [[String: Any]] ?? []).compactMap {
                ($0["start_time"] as? String).flatMap(Double.init)
            }
            #expect(starts == [0, 1], "\(target): \(starts)")
        }
        // libavformat writes chapters to Ogg only with Opus.
        let records = try await run(
            job("s.mp3", "{ audio: first, encode: { codec: vorbis } }", to: "o.ogg"), in: scratch.path)
        _ = try success(records)
        let ledger = try #require(records[0].plan?.outputs[0].ledger)
        #expect(ledger.contains { $0.reason.contains("chapters together with vorbis") }, "\(ledger)")
    }

    /// Exactly those tags are in the output that the ledger reports as copied.
    @Test(arguments: ["mov", "mp4", "m4a", "mkv", "flac", "mp3", "wav", "ogg"])
    func tagsMatchTheLedger(_ container: String) async throws {
        let scratch = try Scratch()
        let keys = [
            "title", "artist", "album_artist", "composer", "album", "date", "comment", "genre", "copyright",
            "lyrics", "description", "track", "disc",
        ]
        let all = keys.flatMap {
            ["-metadata", "\($0)=\($0 == "track" || $0 == "disc" ? "3" : $0 == "date" ? "2020" : "x \($0)")"]
        }
        try program(
            "ffmpeg",
            ["-v", "error", "-f", "lavfi", "-i", "sine=d=1"] + all + ["-c:a", "flac", scratch.file("s.mka")])
        let codec = ["wav": "pcm_s16le", "flac": "flac", "ogg": "opus", "mp3": "mp3"][container] ?? "aac"
        let tracks = "{ audio: first, encode: { codec: \(codec) } }"
        let records = try await run(job("s.mka", tracks, to: "o.\(container)"), in: scratch.path)
        _ = try success(records)
        let path = scratch.file("o.\(container)")
        let json = try FFmpegFile(path).probe(["-show_entries", "format_tags:stream_tags"])
        let streams = (json["streams"] as? [[String: Any]])?.first?["tags"] as? [String: String] ?? [:]
        let found = try tags(path, "format_tags").merging(streams) { one, _ in one }
        let names = Set(found.keys.map { $0.lowercased() })
        for entry in try #require(records[0].plan?.outputs[0].ledger) where entry.item.text.hasPrefix("tag ")
        {
            let key = entry.item.text.dropFirst(4).lowercased()
            guard keys.contains(key) else { continue }
            // Vorbis comments store `comment` and `description` in one field.
            let isThere = names.contains(key) || key == "comment" && names.contains("description")
            #expect(isThere == (entry.outcome == .copied), "\(container) \(entry): \(found)")
        }
    }

    /// Padding of the last MP3 packet isn't presented, and FLAC copied from Ogg has its length in the header.
    @Test func lengthsInHeadersAreExact() async throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=440:r=44100:d=5.1", "-c:a", "libmp3lame", scratch.file("s.mp3"))
        try ffmpeg("-f", "lavfi", "-i", "sine=440:r=44100:d=5.1", "-c:a", "flac", scratch.file("s.ogg"))
        for (source, target) in [("s.mp3", "m.m4a"), ("m.m4a", "o.mp3"), ("s.ogg", "o.flac")] {
            let movie = target == "m.m4a" ? "m.mp4" : target
            let asset = source == "m.m4a" ? "m.mp4" : source
            _ = try success(
                try await run(job(asset, "{ audio: first, copy: true }", to: movie), in: scratch.path))
        }
        #expect(try samples(scratch.file("s.mp3")).count == 224_910)
        #expect(try samples(scratch.file("o.mp3")).count == 224_910)
        let streams = try FFmpegFile(scratch.file("o.flac")).probe(["-show_entries", "stream=duration_ts"])[
            "streams"]
        #expect((streams as? [[String: Any]])?.first?["duration_ts"] as? Int == 224_910)
    }

    /// A downmixed track keeps its level, and audio that is too short to measure its loudness is reported.
    @Test func mixesKeepLevelsAndShortAudioIsReported() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "aevalsrc=0.2*sin(2*PI*440*t)|0.2*sin(2*PI*440*t):d=1:s=48000", "-f",
            "lavfi",
            "-i", "anullsrc=cl=5.1:r=48000:d=1", "-map", "0", "-map", "1", "-c:a", "flac",
            scratch.file("s.mkv"))
        _ = try success(
            try await run(
                job(
                    "s.mkv", "{ audio: all, mix: true, encode: { codec: pcm_s16le, channels: stereo } }",
                    to: "o.wav"), in: scratch.path))
        let peak = try samples(scratch.file("o.wav")).map { abs(Int($0)) }.max() ?? 0
        #expect(abs(peak - 6554) < 20, "\(peak)")

        try ffmpeg("-f", "lavfi", "-i", "sine=440:r=48000:d=0.1", scratch.file("short.wav"))
        let result = try success(
            try await run(
                job(
                    "short.wav",
                    "{ audio: first, encode: { codec: pcm_s16le, normalize: { integrated: -16 } } }",
                    to: "n.wav"), in: scratch.path))
        #expect(
            result.warnings.contains { $0.contains("too short or too quiet to measure the loudness") },
            "\(result.warnings)")
    }
}
