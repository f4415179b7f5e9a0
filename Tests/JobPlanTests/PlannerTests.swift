import Diagnostics
import Foundation
import JobPlan
import JobRun
import JobSpec
import LibAV
import Locking
import Media
import TestSupport
import Testing
import Publishing

@Suite struct PlannerTests {
    private func plan(_ yaml: String, in scratch: Scratch) throws -> BatchPlanner.Result {
        let (file, sink) = decode(yaml, directory: scratch.path)
        guard let file, !sink.hasErrors else { throw ProgramError(message: rendered(sink, yaml)) }
        return BatchPlanner.plan([file])
    }

    /// A pattern that matches the destinations of its own job causes a warning, because the second run would fail.
    @Test(arguments: [
        ("*.wav", "${asset.stem}.x.wav", true), ("**/*.wav", "out/${asset.stem}.wav", true),
        ("*.wav", "out/${asset.stem}.wav", false), ("*.wav", "${asset.stem}.flac", false),
        ("./[ab].wav", "${asset.stem}2.wav", false), ("**/[!x]*.wav", "deep/er/y.wav", true),
        ("**/*.wav", ".hidden/${asset.stem}.wav", false),
    ])
    func patternsThatMatchTheirOutputsCauseAWarning(
        _ pattern: String, _ destination: String, _ isWarned: Bool
    )
        throws
    {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=duration=0.1", scratch.file("a.wav"))
        let result = try plan(
            """
            version: 1
            jobs:
              one: { asset: "\(pattern)", tracks: [ { audio: first, encode: { codec: \(destination.hasSuffix("flac") ? "flac" : "pcm_s16le") } } ], destination: "\(destination)" }
            """, in: scratch)
        let warnings = result.diagnostics.diagnostics.filter { $0.rule == .patternTakesOutputs }
        #expect(warnings.count == (isWarned ? 1 : 0), "\(result.diagnostics.diagnostics.map(\.message))")
        #expect(warnings.allSatisfy { $0.severity == .warning && $0.range.line == 3 })
        #expect(result.plan.jobs.count == 1)
    }

    /// The note on H.264 that few players support names the simplest fix; with that fix, there is no note.
    @Test(arguments: [
        ("hdr.mkv", "", "`color: sdr`"), ("hdr.mkv", ", color: sdr", nil),
        ("ten.mkv", "", "`pixel_format: yuv420p`"),
        ("ten.mkv", ", pixel_format: yuv420p", nil),
    ])
    func h264ThatFewPlayersSupport_noteNamesFix(_ source: String, _ settings: String, _ fix: String?) throws {
        let scratch = try Scratch()
        let color =
            source == "hdr.mkv"
            ? ["-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace", "bt2020nc"] : []
        try ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=size=64x48:duration=1", "-pix_fmt", "yuv420p10le", "-c:v",
                "ffv1",
            ] + color
                + [scratch.file(source)])
        let result = try plan(
            """
            version: 1
            jobs:
              one: { asset: ./\(source), tracks: [ { video: first, encode: { codec: h264\(settings) } } ], destination: out.mp4 }
            """, in: scratch)
        let output = try #require(result.plan.jobs.first?.outputs.first, "\(result.diagnostics.diagnostics)")
        let notes = output.notes.filter { $0.contains("not supported by browsers") }
        #expect(notes.count == (fix == nil ? 0 : 1), "\(output.notes)")
        if let fix { #expect(notes.first?.contains(fix) == true, "\(notes)") }
    }

    /// An output without audio from a source with audio is noted as probably unintended.
    @Test(arguments: [
        ("- { audio: { language: fra }, encode: { codec: aac }, optional: true }", "a.mkv", true),
        ("- { audio: { language: fra }, encode: { codec: aac }, optional: true }", "silent.mkv", false),
        (
            "- { audio: { language: fra }, encode: { codec: aac }, optional: true }\n      - { audio: first, encode: { codec: aac } }",
            "a.mkv", false
        ),
        ("- { subtitle: all, copy: true, optional: true }", "a.mkv", false),
    ])
    func optionalSelection_withoutAudio_causesAWarning(_ rule: String, _ source: String, _ isWarned: Bool)
        throws
    {
        let scratch = try Scratch()
        let video = ["-f", "lavfi", "-i", "testsrc2=size=64x48:duration=1"]
        try ffmpeg(
            video + [
                "-f", "lavfi", "-i", "sine=duration=1", "-metadata:s:a:0", "language=eng",
                scratch.file("a.mkv"),
            ])
        try ffmpeg(video + [scratch.file("silent.mkv")])
        let result = try plan(
            """
            version: 1
            jobs:
              one:
                asset: ./\(source)
                tracks:
                  - { video: first, copy: true }
                  \(rule)
                destination: out.mkv
            """, in: scratch)
        #expect(!result.diagnostics.hasErrors, "\(result.diagnostics.diagnostics)")
        let warnings = result.diagnostics.diagnostics.filter { $0.rule == .noSuchTrack }
        #expect(warnings.map(\.severity) == (isWarned ? [.warning] : []), "\(warnings)")
        #expect(warnings.allSatisfy { $0.range.line == 7 })
    }

    /// A size with both sides is a bounding box: the frame keeps its aspect ratio and gets square pixels. The plan
    /// prints the size, and a pixel aspect ratio other than 1:1.
    @Test(arguments: [
        ("flat", "size: 1280x720", "size 1280x550|fit inside (default)"),
        ("flat", "size: 1280x720, fit: stretch", "size 1280x720|fit stretch"),
        ("flat", "size: 512x220", "size 512x220"),
        ("flat", "size: 720x576, pixel_aspect_ratio: '64:45'", "size 720x576|pixel_aspect_ratio 64/45"),
        ("wide", "size: 720x576", "size 720x406|fit inside (default)"),
        ("wide", "size: x288", "size 360x288|pixel_aspect_ratio 64/45 (source)"),
    ]) func sizesAreBoundingBoxes(_ source: String, _ size: String, _ expected: String) throws {
        let scratch = try Scratch()
        let shape = source == "flat" ? "256x110" : "720x576"
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=\(shape):duration=0.2", "-vf",
            "setsar=\(source == "flat" ? "1" : "64/45")", "-c:v", "libx264", scratch.file("a.mkv"))
        let result = try plan(
            """
            version: 1
            jobs:
              one: { asset: ./a.mkv, tracks: [ { video: first, encode: { codec: h264, \(size) } } ], destination: o.mkv }
            """, in: scratch)
        #expect(!result.diagnostics.hasErrors)
        let text = PlanText.render(result.plan, reasons: { _ in RunReasons(lines: []) })
        let lines = text.split(separator: "\n").map {
            $0.split(separator: " ").joined(separator: " ")
        }.filter { ["size ", "fit ", "pixel_aspect_ratio "].contains(where: $0.hasPrefix) }
        #expect(lines.joined(separator: "|") == expected)
        #expect(
            text.contains("`fit: stretch` distorts the frame from 2.33:1 to 1.78:1")
                == expected.contains("stretch"))
    }

    /// Every track and tag of the source is listed in the ledger, and the plan is unchanged by encoding to JSON and
    /// decoding.
    @Test func ledgerIsCompleteAndPlanRoundTrips() throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x48:duration=1", "-f", "lavfi", "-i", "sine=duration=1",
            "-f", "lavfi", "-i", "sine=880:duration=1",
            "-map", "0", "-map", "1", "-map", "2", "-metadata:s:a:1", "language=ger", "-metadata", "title=T",
            "-metadata", "artist=A", scratch.file("a.mkv"))
        let result = try plan(
            """
            version: 1
            jobs:
              one:
                asset: ./a.mkv
                tracks:
                  - { audio: { language: ger }, encode: { codec: aac } }
                  - { video: first, copy: true }
                metadata: { keep: [title], set: { comment: x } }
                destination: out.mkv
            """, in: scratch)
        let job = try #require(result.plan.jobs.first)
        #expect(job.outputs[0].tracks.map(\.source.index) == [2, 0])
        let tracks = job.outputs[0].ledger.filter {
            !$0.item.text.hasPrefix("tag") && !$0.item.text.hasPrefix("side")
        }
        #expect(tracks.map(\.outcome) == [.copied, .dropped, .encoded])
        #expect(
            job.outputs[0].metadata == [
                MetadataEntry(key: "title", value: "T"), MetadataEntry(key: "comment", value: "x"),
            ])
        #expect(job.outputs[0].ledger.contains { $0.item.text == "tag ARTIST" && $0.outcome == .dropped })
        let copy = try JSONDecoder().decode(JobPlan.self, from: try JSONEncoder().encode(job))
        #expect(copy == job)
    }

    /// A copied video track requires a range at keyframes; copied audio requires a container with edit lists.
    @Test func copiesAreCheckedAgainstTheRange() throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=4", "-f", "lavfi", "-i",
            "sine=duration=4", "-c:v", "libx264", "-g", "25", "-sc_threshold",
            "0", "-flags", "+cgop", "-c:a", "aac", scratch.file("a.mp4"))
        func rules(_ range: String, _ track: String, _ destination: String) throws -> [String] {
            try plan(
                "version: 1\njobs:\n  one:\n    asset: ./a.mp4\n    range: \(range)\n    tracks: [ { \(track): first, copy: true } ]\n    destination: \(destination)\n",
                in: scratch
            ).diagnostics.diagnostics.map(\.rule.rawValue)
        }
        #expect(try rules("{ start: 1s, end: 3s }", "video", "o.mp4") == [])
        #expect(try rules("{ start: 1.1s, end: 3s }", "video", "o.mp4") == ["copy-range"])
        #expect(try rules("{ start: 1s, end: 3.5s }", "video", "o.mp4").count <= 1)
        #expect(try rules("{ start: 1.1s, end: 3s }", "audio", "o.mp4") == [])
        #expect(try rules("{ start: 1.1s, end: 3s }", "audio", "o.mkv") == ["copy-range"])
    }

    /// A level that frame size, frame rate or reference frames exceed is an error.
    @Test func levelsMustFitTheEncodedVideo() throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=50:duration=1", "-c:v", "mpeg4",
            scratch.file("a.mp4"))
        func problems(_ encode: String) throws -> [String] {
            try plan(
                "version: 1\njobs:\n  one:\n    asset: ./a.mp4\n    tracks: [ { video: first, encode: { \(encode) } } ]\n    destination: o.mp4\n",
                in: scratch
            ).diagnostics.diagnostics.map { "\($0.rule.rawValue): \($0.message)" }
        }
        for (encode, words) in [
            ("codec: h264, level: 1.1", "frame MB size (40x23) > level limit (396)"),
            ("codec: h264, level: 3", "MB rate (46000) > level limit (40500)"),
            ("codec: h264, level: 3, frame_rate: 25, options: { x264-params: ref=16 }", "DPB size"),
            ("codec: hevc, level: 2", "libx265 can't be opened"),
        ] {
            let messages = try problems(encode)
            #expect(messages.count == 1 && messages[0].hasPrefix("codec-setting: "), "\(messages)")
            #expect(messages.first?.contains(words) == true, "\(messages)")
        }
        for encode in [
            "codec: h264, level: 3, frame_rate: 25", "codec: h264, level: 3.1", "codec: hevc, level: 3.1",
        ] {
            #expect(try problems(encode) == [])
        }
    }

    /// Two paths are the same destination if they resolve to the same file through symbolic links.
    @Test func destinationsAreComparedByResolvedPath() throws {
        let scratch = try Scratch()
        for folder in ["a", "b"] {
            try FileManager.default.createDirectory(
                atPath: scratch.file(folder), withIntermediateDirectories: true)
        }
        try FileManager.default.createSymbolicLink(atPath: scratch.file("c"), withDestinationPath: "a")
        func destination(_ path: String) -> DestinationPath? {
            DestinationPath(path.hasPrefix("/") ? path : scratch.path + "/" + path)
        }
        let same = [
            "a/x.mp4", "./a/x.mp4", "b/../a/x.mp4", "c/x.mp4", scratch.file("a/x.mp4"), "a//x.mp4",
            "a/new/../x.mp4",
        ]
        for one in same { for two in same { #expect(destination(one) == destination(two), "\(one) \(two)") } }
        let different = ["a/x.mp4", "b/x.mp4", "a/y.mp4", "a/new/x.mp4", "x.mp4"]
        for (i, one) in different.enumerated() {
            for (j, two) in different.enumerated() {
                #expect((destination(one) == destination(two)) == (i == j), "\(one) \(two)")
            }
        }
        try scratch.write("", to: "file")
        #expect(destination("file/x.mp4") == nil)
    }

    /// The predicted properties of another job's output equal the properties of the actual output.
    @Test func predictedSourcesMatchTheOutputs() async throws {
        let scratch = try Scratch()
        let yaml = """
            version: 1
            assets:
              bars: { pattern: smpte, size: 320x180, frame_rate: 25, duration: 2s, tone: 1kHz }
            jobs:
              first:
                asset: bars
                tracks: [ { video: first, encode: { codec: h264, preset: ultrafast } }, { audio: first, encode: { codec: aac } } ]
                destination: first.mp4
              second:
                asset: { job: first }
                range: { start: 0.5s, end: 1.5s }
                tracks: [ { video: first, encode: { codec: h264, preset: ultrafast } }, { audio: first, encode: { codec: flac } } ]
                destination: second.mp4
            """
        let predicted = try #require(try plan(yaml, in: scratch).plan.jobs.last)
        // The frame shown at 0.5 s starts at 0.48 s.
        #expect(predicted.outputs[0].tracks.map(\.expected.frames) == [26, nil])
        #expect(predicted.outputs[0].tracks[1].expected.samples == 48_000)
        let result = try success(try await run(yaml, in: scratch.path), "second")
        #expect(result.outputs[0].tracks.map(\.appendedSamples) == [26, 48_000])
    }

    /// A prober that records requests and forwards them.
    private final class CountingProber: SourceProber {
        private let prober = LocalProber()
        let requests = Guarded<[ProbeRequest]>([])
        var trials: SettingsValidationCache { prober.trials }
        var environment: SourceEnvironment { prober.environment }

        func respond(to request: ProbeRequest) throws(SourceProblem) -> ProbeResponse {
            requests.withLock { $0.append(request) }
            return try prober.respond(to: request)
        }
    }

    /// Images that several jobs read are probed once.
    @Test func sharedImagesAreProbedOnce() throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=0.2", scratch.file("f-%02d.png"))
        let yaml = """
            version: 1
            assets:
              frames: { images: "f-%02d.png", frame_rate: 25 }
              card: { image: f-01.png, duration: 1s }
            defaults: { tracks: [ { video: first, encode: { codec: ffv1 } } ] }
            jobs:
              a: { asset: frames, destination: a.mkv }
              b: { asset: frames, destination: b.mkv }
              c: { asset: { images: "f-%02d.png", frame_rate: 5 }, destination: c.mkv }
              d: { asset: card, destination: d.mkv }
              e: { asset: card, destination: e.mkv }
            """
        let (decoded, sink) = decode(yaml, directory: scratch.path)
        let file = try #require(decoded, "\(rendered(sink, yaml))")
        let prober = CountingProber()
        let plan = BatchPlanner.plan([file], prober: prober).plan
        #expect(plan.jobs.count == 5)
        let probes = prober.requests.withLock { $0.filter { $0.path != nil } }
        // The image sequence at two rates, and the title image.
        #expect(probes.count == 3, "\(probes)")
        #expect(plan.sourceFiles.count == 5 + 1)
        var finder = SourceFinder()
        #expect(finder.files(of: [file]).count == 5 + 1)
    }

    @Test func expectationsAreShownAsSubjectAndBound() {
        let second = MediaTime(value: 1, timescale: 1)
        let tenth = MediaTime(value: 1, timescale: 10)
        #expect(Expectation.Check.frames(1).text == "frames 1")
        #expect(Expectation.Check.duration(is: second, within: tenth).text == "duration 1 s ± 0.1 s")
        #expect(Expectation.Check.decodes.text == "complete decoding")
    }
}
