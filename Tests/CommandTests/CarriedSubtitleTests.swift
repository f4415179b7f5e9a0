import Foundation
import TestSupport
import Testing

/// Tests subtitle tracks of clips in compositions.
@Suite struct CarriedSubtitleTests: Composing {
    /// Creates two seconds of video with English and German subtitles in `codec`.
    private func subtitled(_ name: String, _ codec: String, in scratch: Scratch) throws {
        try scratch.write(
            "1\n00:00:00,200 --> 00:00:00,600\nfirst <i>\(name)</i>\n\n2\n00:00:01,400 --> 00:00:03,000\nlast \(name)\n",
            to: "e.srt")
        try scratch.write("1\n00:00:00,500 --> 00:00:01,500\nmitte \(name)\n", to: "d.srt")
        try ffmpeg(
            "-i", scratch.file("\(name.prefix(1)).mkv"), "-i", scratch.file("e.srt"), "-i",
            scratch.file("d.srt"), "-map", "0", "-map", "1", "-map", "2", "-c:v", "mpeg4", "-c:a",
            name.hasSuffix("mp4") ? "aac" : "flac", "-c:s",
            codec, "-metadata:s:s:0", "language=eng", "-metadata:s:s:1", "language=deu", "-t", "2",
            scratch.file(name))
    }

    /// Returns the subtitle events of a track with their times in milliseconds, as ffmpeg converts them to SRT.
    private func events(_ track: Int, of file: String, in scratch: Scratch) throws -> [String] {
        try ffmpeg("-i", scratch.file(file), "-map", "0:s:\(track)", "-f", "srt", scratch.file("events.srt"))
        return try String(contentsOfFile: scratch.file("events.srt"), encoding: .utf8).replacing(
            "\r\n", with: "\n"
        ).split(separator: "\n\n").map {
            $0.split(separator: "\n").dropFirst().joined(separator: " ")
        }
    }

    private func composed(
        _ composition: String, to output: String, codec: String, in scratch: Scratch,
        isolation: String = "worker"
    ) throws {
        let subtitles = codec == "copy" ? "copy: true" : "encode: { codec: \(codec) }"
        try scratch.write(
            job(
                composition, to: output,
                tracks:
                    "[ { video: first, encode: { codec: h264, preset: ultrafast } }, { subtitle: all, \(subtitles) } ]"
            ), to: "jobs.yaml")
        let run = try tandem("run", "--isolation", isolation, "jobs.yaml", in: scratch)
        try #require(run.status == 0, "\(run.errors)")
    }

    /// Subtitle events are shifted, cut and scaled with their clip. Tracks of the same language are joined, regardless
    /// of their codecs.
    @Test(arguments: [("o.mp4", "mov_text"), ("o.mkv", "copy"), ("o.mkv", "ass"), ("o.webm", "webvtt")])
    func subtitleEventsMoveWithTheirClips(_ output: String, _ codec: String) throws {
        let scratch = try folder()
        try subtitled("a.mp4", "mov_text", in: scratch)
        try subtitled("b.mkv.mkv", "ass", in: scratch)
        let composition =
            "[ ./a.mp4, { join: dissolve, overlap: 1s }, { asset: ./b.mkv.mkv, range: { end: 2s } }, { gap: 1s }, { asset: ./a.mp4, range: { end: 2s }, speed: 2, subtitle: { language: eng } } ]"
        if codec == "webvtt" {
            try scratch.write(
                job(
                    composition, to: output,
                    tracks:
                        "[ { video: first, encode: { codec: vp9, preset: ultrafast } }, { subtitle: all, encode: { codec: webvtt } } ]"
                ).replacing(", preset: ultrafast", with: ""), to: "jobs.yaml")
            let run = try tandem("run", "jobs.yaml", in: scratch)
            try #require(run.status == 0, "\(run.errors)")
        } else {
            try composed(composition, to: output, codec: codec, in: scratch)
        }
        func time(_ ms: Int) -> String { String(format: "00:00:%02d,%03d", ms / 1000, ms % 1000) }
        func event(_ from: Int, _ to: Int, _ text: String) -> String {
            "\(time(from)) --> \(time(to)) \(text)"
        }
        // These times are multiples of a centisecond, so ASS represents them exactly.
        let english = try events(0, of: output, in: scratch)
        let plain = english.map { $0.replacing("<i>", with: "").replacing("</i>", with: "") }
        let expected = [
            event(200, 600, "first a.mp4"), event(1200, 1600, "first b.mkv.mkv"),
            event(1400, 2000, "last a.mp4"),
            event(2400, 3000, "last b.mkv.mkv"), event(4100, 4300, "first a.mp4"),
            event(4700, 5000, "last a.mp4"),
        ]
        if codec == "mov_text" {
            // In mov_text, simultaneous events form one sample.
            #expect(
                plain == [
                    expected[0], event(1200, 1400, "first b.mkv.mkv"),
                    event(1400, 1600, "first b.mkv.mkv last a.mp4"), event(1600, 2000, "last a.mp4"),
                    expected[3], expected[4], expected[5],
                ], "\(plain)")
        } else {
            #expect(plain == expected, "\(plain)")
        }
        #expect(english[0].contains("<i>a.mp4</i>"), "\(english)")
        let german = try events(1, of: output, in: scratch)
        let times: [String] = [event(500, 1500, ""), event(1500, 2500, "")].map { String($0.dropLast()) }
        #expect(german.map { String($0.prefix(29)) } == times, "\(german)")
        let streams =
            try FFmpegFile(scratch.file(output)).probe(["-show_streams"])["streams"] as? [[String: Any]]
        let languages = (streams ?? []).filter { $0["codec_type"] as? String == "subtitle" }.map {
            ($0["tags"] as? [String: Any])?["language"] as? String
        }
        #expect(languages == ["eng", "deu"] || languages == ["eng", "ger"], "\(languages)")
    }

    /// A range of a clip contains the events of that range, relative to its start.
    @Test(arguments: [1, 2]) func rangesOfClipsHaveTheirSubtitleEvents(_ speed: Int) throws {
        let scratch = try folder()
        try subtitled("a.mp4", "mov_text", in: scratch)
        let clip =
            "{ asset: ./a.mp4, range: { start: 0.5s, end: 1.6s }, speed: \(speed), subtitle: { language: eng } }"
        try composed("[ \(clip), \(clip) ]", to: "o.mkv", codec: "copy", in: scratch)
        func time(_ ms: Int) -> String { String(format: "00:00:%02d,%03d", ms / 1000, ms % 1000) }
        var expected: [String] = []
        for start in [0, 1100 / speed] {
            expected.append("\(time(start)) --> \(time(start + 100 / speed))")
            expected.append("\(time(start + 900 / speed)) --> \(time(start + 1100 / speed))")
        }
        #expect(try events(0, of: "o.mkv", in: scratch).map { String($0.prefix(29)) } == expected)
    }

    /// Tracks are joined by language, regardless of the form of the language code. Forced and hearing-impaired tracks
    /// stay separate and keep their disposition.
    @Test func subtitleTracksAreJoinedByLanguageAndDisposition() throws {
        let scratch = try folder()
        try scratch.write("1\n00:00:00,200 --> 00:00:00,600\nwords\n", to: "e.srt")
        for (name, language) in [("a", "eng"), ("b", "en")] {
            try ffmpeg(
                "-i", scratch.file("\(name).mkv"), "-i", scratch.file("e.srt"), "-i", scratch.file("e.srt"),
                "-map", "0:v", "-map", "1", "-map", "2", "-c:v", "copy", "-c:s", "ass",
                "-metadata:s:s", "language=\(language)", "-disposition:s:0", "hearing_impaired",
                "-disposition:s:1", "forced", scratch.file("\(name)s.mkv"))
        }
        try composed("[ ./as.mkv, ./bs.mkv ]", to: "o.mkv", codec: "copy", in: scratch)
        let streams =
            try FFmpegFile(scratch.file("o.mkv")).probe(["-show_streams", "-select_streams", "s"])["streams"]
            as? [[String: Any]] ?? []
        let kinds = streams.map { stream in
            let disposition = stream["disposition"] as? [String: Int] ?? [:]
            return ["hearing_impaired", "forced"].filter { disposition[$0] == 1 }.joined()
        }
        #expect(kinds == ["hearing_impaired", "forced"], "\(streams)")
        for track in 0..<2 { #expect(try events(track, of: "o.mkv", in: scratch).count == 2) }
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(plan.text.contains("clip 1, bs.mkv: styles of track 2"), "\(plan.text)")
    }

    /// The events of a hundred clips, which are opened one after the other, have exact times.
    @Test func hundredClipsKeepTheirSubtitleEvents() throws {
        let scratch = try folder()
        try subtitled("a.mp4", "mov_text", in: scratch)
        let clips = (0..<100).map { _ in "{ asset: ./a.mp4, range: { end: 0.96s }, audio: none }" }
        try composed(
            "[ \(clips.joined(separator: ", ")) ]", to: "o.mkv", codec: "srt", in: scratch, isolation: "none")
        let times = try events(0, of: "o.mkv", in: scratch)
        #expect(times.count == 100)
        for (index, event) in times.enumerated() {
            let ms = 960 * index + 200
            let expected = String(format: "00:%02d:%02d,%03d -->", ms / 60_000, ms / 1000 % 60, ms % 1000)
            #expect(event.hasPrefix(expected), "\(index): \(event)")
        }
    }

    /// Unused tracks are listed in the ledger, errors are at their line, and the plan lists the subtitles of each clip.
    @Test func droppedSubtitleTracksAreReported() throws {
        let scratch = try folder()
        try subtitled("a.mp4", "mov_text", in: scratch)
        try ffmpeg(
            "-i", scratch.file("a.mp4"), "-f", "lavfi", "-i", "testsrc=s=64x48:d=2", "-map", "0:v", "-map",
            "0:s:0", "-c:v", "copy", "-c:s", "mov_text", scratch.file("one.mp4"))
        let odd = try error("[ { asset: ./one.mp4, subtitle: some } ]", in: scratch, "validate")
        #expect(odd.contains("jobs.yaml:4:50:"), "\(odd)")
        try scratch.write(
            job("[ ./one.mp4, { asset: ./a.mp4, subtitle: none } ]") + "\n    leftover: error\n",
            to: "jobs.yaml")
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(
            plan.status == 3
                && plan.errors.contains("no rule selects track 2 of the source: subtitle subrip (eng)"),
            "\(plan.errors)")
        #expect(!plan.errors.contains("is not used"), "\(plan.errors)")
        try scratch.write(job("[ ./one.mp4, { asset: ./a.mp4, subtitle: none } ]"), to: "jobs.yaml")
        let allowed = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(
            allowed.text.contains("clip 1, a.mp4: track 2 (subtitle mov_text (eng)): `subtitle: none`"),
            "\(allowed.text)")
        #expect(allowed.text.contains("subtitle 0 0:00      to 0:02"), "\(allowed.text)")
    }
}
