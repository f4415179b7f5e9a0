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
        guard let file, !sink.hasErrors else { throw JudgeError(message: rendered(sink, yaml)) }
        return BatchPlanner.plan([file])
    }

    /// What a pattern makes of its files is none of its files: the second run would fail.
    @Test(arguments: [
        ("*.wav", "${asset.stem}.x.wav", true), ("**/*.wav", "out/${asset.stem}.wav", true),
        ("*.wav", "out/${asset.stem}.wav", false), ("*.wav", "${asset.stem}.flac", false),
        ("./[ab].wav", "${asset.stem}2.wav", false), ("**/[!x]*.wav", "deep/er/y.wav", true),
        ("**/*.wav", ".hidden/${asset.stem}.wav", false),
    ])
    func patternsThatTakeTheirOutputs(_ pattern: String, _ destination: String, _ isTold: Bool) throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=duration=0.1", scratch.file("a.wav"))
        let result = try plan(
            """
            version: 1
            jobs:
              one: { asset: "\(pattern)", tracks: [ { audio: first, encode: { codec: \(destination.hasSuffix("flac") ? "flac" : "pcm_s16le") } } ], destination: "\(destination)" }
            """, in: scratch)
        let told = result.diagnostics.diagnostics.filter { $0.rule == .patternTakesOutputs }
        #expect(told.count == (isTold ? 1 : 0), "\(result.diagnostics.diagnostics.map(\.message))")
        #expect(told.allSatisfy { $0.severity == .warning && $0.range.line == 3 })
        #expect(result.plan.jobs.count == 1)
    }

    /// The note on H.264 that few players play names the shortest remedy, and the remedy works.
    @Test(arguments: [
        ("hdr.mkv", "", "`color: sdr`"), ("hdr.mkv", ", color: sdr", nil),
        ("ten.mkv", "", "`pixel_format: yuv420p`"),
        ("ten.mkv", ", pixel_format: yuv420p", nil),
    ])
    func h264ThatFewPlay_noteNamesRemedy(_ source: String, _ settings: String, _ remedy: String?) throws {
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
        #expect(notes.count == (remedy == nil ? 0 : 1), "\(output.notes)")
        if let remedy { #expect(notes.first?.contains(remedy) == true, "\(notes)") }
    }

    /// A silent output of a source with audio is rarely meant; a source without audio can't be anything else.
    @Test(arguments: [
        ("- { audio: { language: fra }, encode: { codec: aac }, optional: true }", "a.mkv", true),
        ("- { audio: { language: fra }, encode: { codec: aac }, optional: true }", "silent.mkv", false),
        (
            "- { audio: { language: fra }, encode: { codec: aac }, optional: true }\n      - { audio: first, encode: { codec: aac } }",
            "a.mkv", false
        ),
        ("- { subtitle: all, copy: true, optional: true }", "a.mkv", false),
    ])
    func optionalSelection_thatLeavesSourceSilent_isWarned(_ rule: String, _ source: String, _ isWarned: Bool)
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

    /// A size of both sides is a box: the picture keeps its shape and gets square pixels. The plan prints the size, and any
    /// other shape of a pixel.
    @Test(arguments: [
        ("flat", "size: 1280x720", "size 1280x550|fit inside (default)"),
        ("flat", "size: 1280x720, fit: stretch", "size 1280x720|fit stretch"),
        ("flat", "size: 512x220", "size 512x220"),
        ("flat", "size: 720x576, pixel_aspect_ratio: '64:45'", "size 720x576|pixel_aspect_ratio 64/45"),
        ("wide", "size: 720x576", "size 720x406|fit inside (default)"),
        ("wide", "size: x288", "size 360x288|pixel_aspect_ratio 64/45 (source)"),
    ]) func sizesAreBoxes(_ source: String, _ size: String, _ expected: String) throws {
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

    /// Every source track is accounted for, and the plan survives a trip through JSON.
    @Test func theLedgerIsCompleteAndThePlanIsAValue() throws {
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
        let tracks = job.outputs[0].ledger.filter { !$0.item.hasPrefix("tag") && !$0.item.hasPrefix("side") }
        #expect(tracks.map(\.outcome) == [.copied, .left, .encoded])
        #expect(
            job.outputs[0].metadata == [
                MetadataEntry(key: "title", value: "T"), MetadataEntry(key: "comment", value: "x"),
            ])
        #expect(job.outputs[0].ledger.contains { $0.item == "tag ARTIST" && $0.outcome == .left })
        let copy = try JSONDecoder().decode(JobPlan.self, from: try JSONEncoder().encode(job))
        #expect(copy == job)
    }

    /// A copied track needs a range that its key frames allow, and copied audio a container with edit lists.
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

    /// A level that the frames, their rate or their number are too much for would be a lie in the headers.
    @Test func levelsHoldWhatIsWritten() throws {
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
            let said = try problems(encode)
            #expect(said.count == 1 && said[0].hasPrefix("codec-setting: "), "\(said)")
            #expect(said.first?.contains(words) == true, "\(said)")
        }
        for encode in [
            "codec: h264, level: 3, frame_rate: 25", "codec: h264, level: 3.1", "codec: hevc, level: 3.1",
        ] {
            #expect(try problems(encode) == [])
        }
    }

    /// Two paths are one destination when they lead to one place, whatever the links; otherwise they are two.
    @Test func destinationsAreComparedByPlace() throws {
        let scratch = try Scratch()
        for folder in ["a", "b"] {
            try FileManager.default.createDirectory(
                atPath: scratch.file(folder), withIntermediateDirectories: true)
        }
        try FileManager.default.createSymbolicLink(atPath: scratch.file("c"), withDestinationPath: "a")
        func place(_ path: String) -> DestinationPath? {
            DestinationPath(path.hasPrefix("/") ? path : scratch.path + "/" + path)
        }
        let same = [
            "a/x.mp4", "./a/x.mp4", "b/../a/x.mp4", "c/x.mp4", scratch.file("a/x.mp4"), "a//x.mp4",
            "a/new/../x.mp4",
        ]
        for one in same { for two in same { #expect(place(one) == place(two), "\(one) \(two)") } }
        let different = ["a/x.mp4", "b/x.mp4", "a/y.mp4", "a/new/x.mp4", "x.mp4"]
        for (i, one) in different.enumerated() {
            for (j, two) in different.enumerated() {
                #expect((place(one) == place(two)) == (i == j), "\(one) \(two)")
            }
        }
        try scratch.write("", to: "file")
        #expect(place("file/x.mp4") == nil)
    }

    /// What another job makes is foretold as it will be found.
    @Test func foretoldSourcesAreAsTheyTurnOut() async throws {
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
        let foretold = try #require(try plan(yaml, in: scratch).plan.jobs.last)
        // The frame on screen at 0.5 s began at 0.48 s.
        #expect(foretold.outputs[0].tracks.map(\.expected.frames) == [26, nil])
        #expect(foretold.outputs[0].tracks[1].expected.samples == 48_000)
        let result = try success(try await run(yaml, in: scratch.path), "second")
        #expect(result.outputs[0].tracks.map(\.appendedSamples) == [26, 48_000])
    }

    /// Counts what is asked, and asks on.
    private final class CountingProber: SourceProber {
        private let prober = LocalProber()
        let questions = Guarded<[ProbeRequest]>([])
        var trials: TrialCache { prober.trials }
        var environment: SourceEnvironment { prober.environment }

        func answer(_ question: ProbeRequest) throws(SourceProblem) -> ProbeResponse {
            questions.withLock { $0.append(question) }
            return try prober.answer(question)
        }
    }

    /// However many jobs read images, these are looked at once.
    @Test func imagesAreLookedAtOnce() throws {
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
        let looks = prober.questions.withLock { $0.filter { $0.path != nil } }
        // At one rate, at another one, and the card.
        #expect(looks.count == 3, "\(looks)")
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
