import Foundation
import TestSupport
import Testing

/// Packages of unusual sources, read by ffprobe, ffmpeg, xmllint, Chromium, Python's libraries and shaka-packager.
@Suite struct PackageJudgeTests {
    /// A package with its source.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        /// Arguments of ffmpeg before the path of the source.
        let source: [String]
        /// Outputs of the job, a line for each.
        let outputs: [String]
        var options = ""
        /// Durations of the video segments, in seconds.
        let video: [Double]
        /// Number of video frames.
        let frames: Int
        /// Number of audio segments; nil without audio.
        var audioSegments: Int?
        /// Texts that the multivariant playlist contains.
        var contents: [String] = []

        var testDescription: String { name }
    }

    private static let encoder = "codec: h264, preset: ultrafast, crf: 30"
    private static let ladder = [
        "hd: { tracks: [ { video: first, encode: { \(encoder) } } ] }",
        "sd: { tracks: [ { video: first, encode: { \(encoder), size: 160x } } ] }",
        "main: { tracks: [ { audio: first, language: eng, encode: { codec: aac } } ] }",
    ]
    private static let videoOnly = Array(ladder.prefix(2))

    private static func video(_ seconds: String, rate: String = "25") -> [String] {
        ["-f", "lavfi", "-i", "testsrc2=size=320x180:rate=\(rate):duration=\(seconds)"]
    }
    private static func tone(_ seconds: String, frequency: Int = 440) -> [String] {
        ["-f", "lavfi", "-i", "sine=sample_rate=48000:frequency=\(frequency):duration=\(seconds)"]
    }
    private static let h264 = ["-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac"]

    /// Audio in three languages, in stereo and in 5.1, and subtitles in two languages.
    private static let groups = Case(
        name: "groups",
        source: video("5") + tone("5") + tone("5", frequency: 880) + tone("5", frequency: 220)
            + ["-i", "a.srt", "-i", "a.srt", "-map", "0"]
            + [1, 2, 3, 1, 2, 3, 4, 5].flatMap { ["-map", "\($0)"] } + h264 + ["-c:s", "mov_text"]
            + (0..<6).flatMap { ["-ac:a:\($0)", $0 < 3 ? "2" : "6"] }
            + ["eng", "deu", "fra", "eng", "deu", "fra"].enumerated().flatMap {
                ["-metadata:s:a:\($0)", "language=\($1)"]
            }
            + ["-metadata:s:s:0", "language=eng", "-metadata:s:s:1", "language=deu"],
        outputs: [ladder[0]]
            + ["eng", "deu", "fra"].enumerated().flatMap { index, language in
                [
                    "\(language): { tracks: [ { audio: \(index), language: \(language), encode: { codec: aac } } ] }",
                    "\(language)_surround: { tracks: [ { audio: \(index + 3), language: \(language), encode: { codec: ac3, bitrate: 384k } } ] }",
                ]
            }
            + ["eng", "deu"].map {
                "text_\($0): { tracks: [ { subtitle: { language: \($0) }, language: \($0), encode: { codec: webvtt } } ] }"
            },
        video: [2, 2, 1], frames: 125, audioSegments: 3,
        contents: [
            "GROUP-ID=\"aac-2ch\",NAME=\"French\",LANGUAGE=\"fr\"",
            "GROUP-ID=\"ac-3-6ch\",NAME=\"German\",LANGUAGE=\"de\"", "CHANNELS=\"6\"",
            "TYPE=SUBTITLES,GROUP-ID=\"subtitles\",NAME=\"German\",LANGUAGE=\"de\"",
        ])

    private static let cases = [
        Case(
            name: "59.94 frames per second", source: video("5", rate: "60000/1001") + tone("5") + h264,
            outputs: ladder, video: [2.002, 2.002, 1.001], frames: 300, audioSegments: 3,
            contents: ["FRAME-RATE=59.940"]),
        Case(
            name: "59.94 frames per second in single files",
            source: video("5", rate: "60000/1001") + tone("5") + h264, outputs: ladder,
            options: ", files: single", video: [2.002, 2.002, 1.001], frames: 300, audioSegments: 3),
        Case(
            name: "HDR10",
            source: video("3", rate: "24") + [
                "-pix_fmt", "yuv420p10le", "-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
                "log-level=none:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc", "-tag:v", "hvc1",
            ],
            outputs: [
                "hd: { tracks: [ { video: first, encode: { codec: hevc, preset: ultrafast, crf: 30 } } ] }"
            ], video: [2, 1], frames: 72, contents: ["VIDEO-RANGE=PQ", "CODECS=\"hvc1.2.4."]),
        Case(
            name: "last segment of one frame", source: video("4.04") + tone("4.04") + h264, outputs: ladder,
            video: [2, 2, 0.04], frames: 101, audioSegments: 3),
        Case(
            name: "source shorter than a segment", source: video("0.6") + tone("0.6") + h264, outputs: ladder,
            video: [0.6], frames: 15, audioSegments: 1),
        Case(
            name: "one frame", source: video("0.04") + h264, outputs: videoOnly, video: [0.04], frames: 1),
        Case(
            name: "audio longer than video", source: video("3") + tone("7") + h264,
            outputs: ladder + ["previews: { images: { every: 1s, size: 64x, sheet: { columns: 4 } } }"],
            options: ", thumbnails: previews", video: [2, 1], frames: 75, audioSegments: 4,
            contents: ["#EXT-X-IMAGE-STREAM-INF:"]),
        Case(
            name: "audio shorter than video", source: video("7") + tone("3") + h264, outputs: ladder,
            video: [2, 2, 2, 1], frames: 175, audioSegments: 2),
        groups,
        Case(
            name: "copied video with irregular keyframes",
            source: video("12") + tone("12") + h264
                + ["-g", "400", "-bf", "2", "-force_key_frames", "0.4,1.7,5.1,5.2,9.9,10"],
            outputs: ["hd: { tracks: [ { video: first, copy: true } ] }"] + ladder.dropFirst(),
            video: [5.12, 4.8, 0.08, 2], frames: 300, audioSegments: 4),
        Case(
            name: "video that begins after the audio",
            source: ["-itsoffset", "0.5"] + video("5") + tone("6") + ["-map", "0", "-map", "1"] + h264
                + ["-bf", "2", "-g", "50", "-fps_mode", "vfr"],
            outputs: ["hd: { tracks: [ { video: first, copy: true } ] }"] + ladder.dropFirst(),
            video: [2, 2, 1], frames: 125, audioSegments: 3),
        Case(
            name: "variable frame rate",
            source: video("5") + ["-vf", "select=not(mod(n\\,7)*mod(n\\,5))", "-fps_mode", "vfr"]
                + ["-c:v", "libx264", "-preset", "ultrafast"],
            outputs: videoOnly, video: [2, 2, 0.84], frames: 39),
        Case(
            name: "VP9 and Opus", source: video("3") + tone("3") + h264,
            outputs: [
                "hd: { tracks: [ { video: first, encode: { codec: vp9, crf: 40 } } ] }",
                "main: { tracks: [ { audio: first, encode: { codec: opus } } ] }",
            ], video: [2, 1], frames: 75, audioSegments: 2),
        Case(
            name: "AV1 and FLAC", source: video("3") + tone("3") + h264,
            outputs: [
                "hd: { tracks: [ { video: first, encode: { codec: av1, crf: 40, preset: 10 } } ] }",
                "main: { tracks: [ { audio: first, encode: { codec: flac } } ] }",
            ], video: [2, 1], frames: 75, audioSegments: 2),
    ]

    /// Creates the package of a case, in a folder `out`.
    private func package(_ value: Case) throws -> Scratch {
        let scratch = try Scratch()
        try scratch.writeSubtitles()
        try ffmpeg(
            value.source.map { $0 == "a.srt" ? scratch.file("a.srt") : $0 } + [scratch.file("a.mp4")])
        try scratch.write(
            """
            version: 1
            jobs:
              one:
                asset: ./a.mp4
                outputs:
            \(value.outputs.map { "      " + $0 }.joined(separator: "\n"))
                package: { segment: 2s, iframes: true\(value.options), destination: out }
            """, to: "jobs.yaml")
        let result = try tandem("run", "jobs.yaml", in: scratch)
        try #require(result.status == 0, "\(result.errors)")
        return scratch
    }

    private func durations(_ scratch: Scratch, _ id: String) throws -> [Double] {
        try scratch.durations("out/\(id)/playlist.m3u8")
    }

    private func script(_ name: String) -> String { TestPaths.repository + "/Tests/StreamingTests/" + name }

    private static func exists(_ program: String, _ arguments: [String]) -> Bool {
        (try? TestSupport.program(program, arguments))?.status == 0
    }

    private static let environment = ProcessInfo.processInfo.environment
    private static let hasChromium = exists("chromium", ["--version"])
    private static let python: String? = {
        let name = environment["TANDEM_TEST_PYTHON"] ?? "python3"
        return exists(name, ["-c", "import m3u8, mpegdash"]) ? name : nil
    }()

    /// ffmpeg decodes all frames without errors, the segments have the expected times, and both manifests are valid.
    @Test(arguments: cases) func package_isReadByIndependentPrograms(_ value: Case) throws {
        let scratch = try package(value)
        let videos = value.outputs.filter { $0.contains("video: first") }.map { String($0.prefix(2)) }
        for id in videos {
            #expect(try durations(scratch, id) == value.video, "\(id)")
            let file = FFmpegFile(scratch.file("out/\(id)/playlist.m3u8"))
            #expect(try file.decodeErrors() == "", "\(id)")
            #expect(try file.frames().times.count == value.frames, "\(id)")
        }
        if let count = value.audioSegments {
            let id = value.name == "groups" ? "eng" : "main"
            let audio = try durations(scratch, id)
            #expect(audio.count == count, "\(audio)")
            let length =
                try FFmpegFile(scratch.file("a.mp4")).stream("a:0", "duration")["duration"] as? String
            #expect(abs(audio.reduce(0, +) - (Double(length ?? "") ?? 0)) < 0.03)
        }
        let master = try String(contentsOfFile: scratch.file("out/master.m3u8"), encoding: .utf8)
        for text in value.contents { #expect(master.contains(text), "\(text)") }
        #expect(try program("xmllint", ["--noout", scratch.file("out/manifest.mpd")]).status == 0)
        if let python = Self.python {
            let result = try program(python, [script("judge.py"), scratch.file("out")])
            #expect(result.text.contains("2 formats agree"), "\(result.text)\(result.errors)")
        }
        if Self.hasChromium {
            let result = try program("python3", [script("browser.py"), scratch.file("out")])
            // Chromium has no HEVC decoder.
            let expected = value.name == "HDR10" ? "skipped" : "all series play"
            #expect(result.text.contains(expected), "\(result.text)\(result.errors)")
        }
    }

    /// shaka-packager divides the same packets into the same segments, and measures the same bit rates.
    @Test(
        .enabled(
            if: python != nil && environment["TANDEM_TEST_PACKAGER"] != nil,
            "requires shaka-packager (TANDEM_TEST_PACKAGER) and PyPI's m3u8 (TANDEM_TEST_PYTHON)"),
        arguments: [cases[0], cases[6], groups])
    func packagerOfAnotherProject_agrees(_ value: Case) throws {
        let scratch = try package(value)
        let result = try program(
            try #require(Self.python),
            [
                script("packager.py"), try #require(Self.environment["TANDEM_TEST_PACKAGER"]), "2",
                scratch.file("out"),
            ])
        #expect(result.text.contains("2 packagers agree"), "\(result.text)\(result.errors)")
    }
}
