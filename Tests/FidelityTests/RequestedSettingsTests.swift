import Diagnostics
import Foundation
import JobPlan
import JobRun
import TestSupport
import Testing

/// Settings that can't be met are errors at their key before the run. All others are read back from the output.
@Suite struct RequestedSettingsTests {
    private func source(in scratch: Scratch, format: String = "yuv420p") throws {
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=0.4", "-f", "lavfi", "-i",
            "sine=d=0.4",
            "-c:v", "ffv1", "-pix_fmt", format, "-c:a", "pcm_s16le", scratch.file("s.mkv"))
    }

    private func yaml(_ rule: String, to name: String, more: String = "") -> String {
        """
        version: 1
        jobs:
          j:
            asset: ./s.mkv
            tracks:
              - { \(rule) }
        \(more)
            destination: \(name)
        """
    }

    /// Settings that encoders silently lower, round or clamp are errors of the plan at their line.
    @Test(arguments: [
        ("video: first, encode: { codec: hevc, profile: main10 }", "produces Main for"),
        ("video: first, encode: { codec: h264, profile: high10 }", "produces High for"),
        (
            "video: first, encode: { codec: h264, profile: high, preset: ultrafast }",
            "produces Constrained Baseline for"
        ),
        (
            "video: first, encode: { codec: h264, profile: baseline, options: { x264-params: cabac=1 } }",
            "produces Main for"
        ),
        ("video: first, encode: { codec: vp9, profile: 1 }", "produces profile 0 for"),
        (
            "video: first, encode: { codec: h264, crop: { x: 1, y: 1, width: 33, height: 33 } }",
            "multiples of 2"
        ),
        (
            "video: first, encode: { codec: h264, crop: { width: 33, height: 32 }, size: 64x64 }",
            "multiples of 2"
        ),
        ("audio: first, encode: { codec: mp3, bitrate: 500k }", "produces 320k for"),
        ("audio: first, encode: { codec: mp3, bitrate: 129k }", "produces 128k for"),
        ("audio: first, encode: { codec: mp3, bitrate: 192k, sample_rate: 16000 }", "produces 160k for"),
        ("audio: first, encode: { codec: ac3, bitrate: 5k }", "produces 32k for"),
        ("audio: first, encode: { codec: aac, bitrate: 999M }", "produces 264600 for"),
    ]) func settingsThatEncodersChangeAreErrors(_ rule: String, _ words: String) throws {
        let scratch = try Scratch()
        try source(in: scratch)
        let (file, sink) = decode(yaml(rule, to: "o.mkv"), directory: scratch.path)
        let found = BatchPlanner.plan([try #require(file, "\(sink.diagnostics)")]).diagnostics.diagnostics
        #expect(
            found.count == 1 && found.first?.rule == .codecSetting && found.first?.range.line == 6, "\(found)"
        )
        let text = found.first.map { "\($0.message) \($0.help ?? "")" } ?? ""
        #expect(text.contains(words), "\(text)")
    }

    /// Profiles are in the output if the settings that they require are set.
    @Test(arguments: [
        ("video: first, encode: { codec: hevc, profile: main10, pixel_format: yuv420p10le }", "Main 10"),
        ("video: first, encode: { codec: h264, profile: high10, pixel_format: yuv420p10le }", "High 10"),
        ("video: first, encode: { codec: h264, profile: high, preset: medium }", "High"),
        (
            "video: first, encode: { codec: h264, profile: baseline, preset: ultrafast }",
            "Constrained Baseline"
        ),
        ("video: first, encode: { codec: vp9, profile: 0 }", "Profile 0"),
        ("video: first, encode: { codec: vp9, profile: 1, pixel_format: yuv444p }", "Profile 1"),
    ]) func requestedProfilesAreInTheOutput(_ rule: String, _ profile: String) async throws {
        let scratch = try Scratch()
        try source(in: scratch)
        _ = try success(try await run(yaml(rule, to: "o.mkv"), in: scratch.path))
        #expect(
            try FFmpegFile(scratch.file("o.mkv")).stream("v:0", "profile")["profile"] as? String == profile)
    }

    /// A default bit rate that an encoder doesn't support at a sample rate is adjusted without an error.
    @Test(arguments: [("mp3", 8000, "64000"), ("aac", 8000, "48000")])
    func defaultBitRatesAreAdjustedWithoutAnError(_ codec: String, _ rate: Int, _ bitRate: String) throws {
        let scratch = try Scratch()
        try source(in: scratch)
        let rule = "audio: first, encode: { codec: \(codec), sample_rate: \(rate) }"
        let (file, _) = decode(yaml(rule, to: "o.mkv"), directory: scratch.path)
        let result = BatchPlanner.plan([try #require(file)])
        guard case .encode(let encoding)? = result.plan.jobs.first?.outputs[0].tracks[0].action else {
            Issue.record("\(result.diagnostics.diagnostics)")
            return
        }
        #expect(encoding.settings.first { $0.key == "bitrate" }?.value == bitRate)
    }

    /// Properties of a track that the container can store are in the output.
    @Test(
        arguments: [
            ("mp4", "language: eng", "language=eng"), ("mp4", "title: Mine", "handler_name=Mine"),
            ("mp4", "disposition: [default, dub]", "default dub"),
            ("mp4", "disposition: [default, comment]", "comment default"),
            // libavformat writes `hearing_impaired` to mp4 as the role for captions.
            ("mp4", "disposition: [default, hearing_impaired]", "captions default hearing_impaired"),
            ("mov", "language: eng", "language=eng"), ("mov", "disposition: default", "default"),
            ("m4a", "title: Mine", "handler_name=Mine"), ("mkv", "metadata: { MOOD: good }", "MOOD=good"),
            ("mkv", "disposition: [original, forced, visual_impaired]", "forced original visual_impaired"),
            ("webm", "disposition: [default, forced]", "default forced"),
            ("webm", "metadata: { MOOD: good }", "MOOD=good"),
            ("ts", "language: eng", "language=eng"), ("ts", "disposition: clean_effects", "clean_effects"),
            ("ogg", "metadata: { MOOD: good }", "MOOD=good"),
            ("ogg", "metadata: { TITLE: Mine }", "TITLE=Mine"), ("mp3", "disposition: default", ""),
        ])
    func supportedTrackPropertiesAreInTheOutput(
        _ container: String, _ setting: String, _ expected: String
    ) async throws {
        let scratch = try Scratch()
        try source(in: scratch)
        let codec = ["webm": "opus", "ogg": "opus", "mp3": "mp3"][container] ?? "aac"
        let text = yaml("audio: first, encode: { codec: \(codec) }, \(setting)", to: "o.\(container)")
        _ = try success(try await run(text, in: scratch.path))
        let found = try FFmpegFile(scratch.file("o.\(container)")).probe([
            "-select_streams", "a:0", "-show_entries", "stream_tags:stream_disposition",
        ])
        let stream = try #require((found["streams"] as? [[String: Any]])?.first)
        let flags = (stream["disposition"] as? [String: Int] ?? [:]).filter { $0.value == 1 }.keys.sorted()
        let tags = (stream["tags"] as? [String: String] ?? [:]).map { "\($0.key)=\($0.value)" }
        if setting.hasPrefix("disposition") {
            #expect(flags.joined(separator: " ") == expected, "\(stream)")
        } else {
            #expect(tags.contains(expected), "\(stream)")
        }
    }

    @Test(
        arguments: [
            ("mkv", "audio", "metadata: { duration: 5s }"),
            ("webm", "audio", "metadata: { stereo_mode: mono }"),
            ("mkv", "audio", "metadata: { creation_time: '2024-01-01T00:00:00Z' }"),
            ("mkv", "audio", "metadata: { handler_name: Mine }"),
            ("mp4", "audio", "metadata: { mood: good }"), ("mov", "audio", "metadata: { mood: good }"),
            ("m4a", "audio", "metadata: { mood: good }"), ("ts", "audio", "metadata: { mood: good }"),
            ("mp4", "audio", "disposition: original"), ("mp4", "audio", "disposition: lyrics"),
            ("mov", "audio", "disposition: forced"), ("m4a", "audio", "disposition: dub"),
            ("ts", "audio", "disposition: default"), ("ts", "video", "disposition: hearing_impaired"),
            ("webm", "audio", "disposition: comment"), ("mkv", "audio", "disposition: karaoke"),
            ("mp3", "audio", "disposition: forced"), ("ts", "video", "language: eng"),
            ("ts", "audio", "language: pt-BR"),
        ])
    func unsupportedTrackPropertiesAreErrors(_ container: String, _ kind: String, _ setting: String) throws {
        let scratch = try Scratch()
        try source(in: scratch)
        let codec = kind == "video" ? "h264" : ["webm": "opus", "mp3": "mp3"][container] ?? "aac"
        let text = yaml("\(kind): first, encode: { codec: \(codec) }, \(setting)", to: "o.\(container)")
        let (file, sink) = decode(text, directory: scratch.path)
        let planned = file.map { BatchPlanner.plan([$0]).diagnostics.diagnostics } ?? []
        let found = sink.diagnostics + planned
        #expect(found.map(\.rule) == [.containerSetting] && found.first?.range.line == 6, "\(found)")
    }

    /// Invalid language codes are errors of the job file.
    @Test(arguments: ["language: english", "language: e", "language: de_DE"])
    func invalidLanguagesAreErrors(_ setting: String) throws {
        let (_, sink) = decode(
            yaml("audio: first, encode: { codec: aac }, \(setting)", to: "o.mkv"), directory: "/tmp")
        #expect(sink.diagnostics.first?.range.line == 6, "\(sink.diagnostics)")
    }

    @Test func tagOfTheMuxerCantBeSet() throws {
        let (_, sink) = decode(
            yaml(
                "audio: first, encode: { codec: aac }", to: "o.mp4",
                more: "    metadata: { set: { encoder: me } }"),
            directory: "/tmp")
        #expect(sink.diagnostics.map(\.rule) == [.containerSetting], "\(sink.diagnostics)")
    }

    /// Creation time and location of a recording are kept in every container that supports them.
    @Test(arguments: ["mp4", "mov"], ["mp4", "mov", "m4a", "mkv", "webm", "ts"])
    func creationTimeAndLocationAreKept(_ source: String, _ container: String) async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=0.4", "-f", "lavfi", "-i",
            "sine=d=0.4",
            "-c:v", "libx264", "-c:a", "aac", "-metadata", "creation_time=2019-05-04T10:11:12Z", "-metadata",
            "location=+48.8566+002.3522/", scratch.file("s.\(source)"))
        let codec = container == "webm" ? "opus" : "aac"
        let text = yaml("audio: first, encode: { codec: \(codec) }", to: "o.\(container)")
            .replacingOccurrences(of: "s.mkv", with: "s.\(source)")
        let result = try success(try await run(text, in: scratch.path))
        let probe = try FFmpegFile(scratch.file("o.\(container)")).probe(["-show_entries", "format_tags"])
        let tags = ((probe["format"] as? [String: Any])?["tags"] as? [String: String]) ?? [:]
        let found = Dictionary(
            tags.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { first, _ in first })
        if container == "ts" {
            let (file, _) = decode(text, directory: scratch.path)
            let planned = BatchPlanner.plan([try #require(file)]).plan
            let ledger = planned.jobs.flatMap(\.outputs).flatMap(\.ledger)
            let dropped = ledger.filter { $0.outcome == .dropped }.map(\.item.text).joined(separator: " ")
            #expect(dropped.contains("creation_time") && dropped.contains("location"), "\(ledger)")
            return
        }
        #expect(found["creation_time"]?.hasPrefix("2019-05-04T10:11:12") == true, "\(found)")
        #expect(found["location"]?.hasPrefix("+48.8566+002.3522") == true, "\(found)")
        #expect(result.warnings.isEmpty, "\(result.warnings)")
    }

    /// The creation time 0, of a clock that was never set, is dropped, because mp4 can't represent it.
    @Test func creationTimeOfAnUnsetClockIsDropped() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "sine=d=0.4", "-metadata", "creation_time=1970-01-01T00:00:00Z",
            scratch.file("s.mkv"))
        let text = yaml("audio: first, encode: { codec: aac }", to: "o.mp4")
        let result = try success(try await run(text, in: scratch.path))
        #expect(result.warnings.isEmpty, "\(result.warnings)")
        let planned = BatchPlanner.plan([try #require(decode(text, directory: scratch.path).file)]).plan
        #expect(
            planned.jobs[0].outputs[0].ledger.contains {
                $0.outcome == .dropped && $0.item.text == "tag CREATION_TIME"
                    || $0.item.text == "tag creation_time"
            }, "\(planned.jobs[0].outputs[0].ledger)")
    }

    /// If the muxer drops a tag, the run warns about a tag of the source, and fails for a tag that the job sets. This
    /// also applies to a worker, which doesn't receive the source's tags.
    @Test(arguments: ["none", "worker"], [false, true])
    func tagThatTheMuxerDropsIsReported(_ isolation: String, _ isRequested: Bool) throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=d=0.4", "-metadata", "track=A-side", scratch.file("s.mkv"))
        try scratch.write(
            yaml(
                "audio: first, encode: { codec: aac }", to: "o.mp4",
                more: isRequested ? "    metadata: { set: { track: B-side } }" : ""), to: "jobs.yaml")
        let result = try program(
            TestPaths.tandem, ["run", "--isolation", isolation, "jobs.yaml"], directory: scratch.path)
        #expect(result.status == (isRequested ? 1 : 0), "\(result.errors)")
        #expect(
            result.errors.contains("doesn't contain the track `\(isRequested ? "B" : "A")-side`"),
            "\(result.errors)"
        )
        #expect(scratch.contents.contains("o.mp4") == !isRequested)
    }

    /// QuickTime stores only complete color descriptions: a requested partial one is an error, and one of the source is
    /// a warning.
    @Test(arguments: ["none", "worker"], [false, true])
    func colorThatTheMuxerDropsIsReported(_ isolation: String, _ isRequested: Bool) throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=d=0.4:s=128x96", "-c:v", "ffv1", "-color_trc",
            isRequested ? "unknown" : "iec61966-2-1", scratch.file("s.mkv"))
        let color = isRequested ? ", color: { transfer: iec61966-2-1 }" : ""
        try scratch.write(
            yaml("video: first, encode: { codec: mjpeg\(color) }", to: "o.mov"), to: "jobs.yaml")
        let result = try program(
            TestPaths.tandem, ["run", "--isolation", isolation, "jobs.yaml"], directory: scratch.path)
        #expect(result.status == (isRequested ? 1 : 0), "\(result.errors)")
        #expect(result.errors.contains("doesn't contain the transfer `iec61966-2-1`"), "\(result.errors)")
        #expect(scratch.contents.contains("o.mov") == !isRequested)
    }

    /// A matrix that VP9's header can't represent is an error of the job file.
    @Test func unsupportedMatrixOfVP9IsAnError() throws {
        let (_, sink) = decode(
            yaml("video: first, encode: { codec: vp9, color: { matrix: ycgco } }", to: "o.webm"))
        #expect(sink.diagnostics.map(\.message) == ["the matrix ycgco is not supported by vp9"])
    }
}
