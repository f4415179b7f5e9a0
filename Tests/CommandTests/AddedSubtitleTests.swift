internal import Foundation
internal import TestSupport
internal import Testing

/// Tests jobs with tracks of subtitle files, judged by ffprobe and ffmpeg.
@Suite struct AddedSubtitleTests {
    private static let cues = """
        1
        00:00:01,000 --> 00:00:02,000
        one

        2
        00:00:03,200 --> 00:00:04,500
        <i>two</i>

        """

    private func folder(_ spec: String = AddedSubtitleTests.spec()) throws -> Scratch {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:d=6", "-f", "lavfi", "-i", "sine=d=6", "-c:a",
            "flac", "-g",
            "25", "-bf", "0", scratch.file("film.mkv"))
        try scratch.write(Self.cues, to: "film.srt")
        try scratch.write(spec, to: "jobs.yaml")
        return scratch
    }

    private static func spec(
        _ rule: String = "{ subtitle: { asset: captions }, encode: { codec: mov_text }, title: Titles }",
        keys: String = "", to output: String = "o.mp4"
    ) -> String {
        """
        version: 1
        assets: { captions: { path: film.srt, language: eng } }
        jobs:
          one:
            asset: film.mkv
            tracks: [ { video: first, copy: true }, { audio: first, encode: { codec: \(output.hasSuffix("mkv") ? "flac" : "aac") } }, \(rule) ]
        \(keys.isEmpty ? "" : "    \(keys)\n")    destination: \(output)

        """
    }

    /// Returns the events of a track as ffmpeg converts them to SRT.
    private func events(_ file: String, _ track: Int = 0, in scratch: Scratch) throws -> [String] {
        try ffmpeg("-i", scratch.file(file), "-map", "0:s:\(track)", "-f", "srt", scratch.file("events.srt"))
        return try String(contentsOfFile: scratch.file("events.srt"), encoding: .utf8)
            .replacing("\r\n", with: "\n").split(separator: "\n\n").map {
                $0.split(separator: "\n").dropFirst().joined(separator: " ")
            }
    }

    private func language(_ file: String, in scratch: Scratch) throws -> String {
        try program(
            "ffprobe",
            [
                "-v", "error", "-select_streams", "s", "-show_entries", "stream_tags=language", "-of",
                "csv=p=0",
                scratch.file(file),
            ]
        ).text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// A converted track has the file's events and the language of the asset, whether workers are sandboxed or not.
    @Test(arguments: ["worker", "none"])
    func track_hasTheEventsOfTheFile(_ isolation: String) throws {
        let scratch = try folder()
        let run = try tandem("run", "--isolation", isolation, "jobs.yaml", in: scratch)
        try #require(run.status == 0, "\(run.errors)")
        #expect(
            try events("o.mp4", in: scratch) == [
                "00:00:01,000 --> 00:00:02,000 one", "00:00:03,200 --> 00:00:04,500 <i>two</i>",
            ])
        #expect(try language("o.mp4", in: scratch) == "eng")
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(
            plan.text.contains("track 2    subtitle subrip (eng) of film.srt → mov_text\n"), "\(plan.text)")
    }

    /// The ranges of the job apply to the file; joined ranges are joined in the same way.
    @Test(arguments: [
        (
            "range: { start: 1.5s, end: 4s }",
            ["00:00:00,000 --> 00:00:00,500 one", "00:00:01,700 --> 00:00:02,500 <i>two</i>"]
        ),
        (
            "range: [ { start: 3s, end: 4s }, { start: 1s, end: 1.5s } ]",
            ["00:00:00,200 --> 00:00:01,000 <i>two</i>", "00:00:01,000 --> 00:00:01,500 one"]
        ),
    ])
    func ranges_applyToTheFile(_ range: String, _ expected: [String]) throws {
        let rule = "{ subtitle: { asset: film.srt }, copy: true }"
        let scratch = try folder(
            Self.spec(rule, keys: range, to: "o.mkv").replacing(
                "{ video: first, copy: true }", with: "{ video: first, encode: { codec: h264 } }"))
        let run = try tandem("run", "jobs.yaml", in: scratch)
        try #require(run.status == 0, "\(run.errors)")
        #expect(try events("o.mkv", in: scratch) == expected)
    }

    /// A changed file causes a rerun, also of saved plans; an optional one may appear and disappear.
    @Test func changedFile_causesARerun() throws {
        let scratch = try folder()
        func run() throws -> String {
            let run = try tandem("run", "jobs.yaml", in: scratch)
            #expect(run.status == 0, "\(run.errors)")
            return run.errors
        }
        #expect(try run().contains("1 of 1 jobs done\n"))
        #expect(try run().contains("1 of them up to date"))
        #expect(try tandem("plan", "--out", "plan.json", "jobs.yaml", in: scratch).status == 0)
        try scratch.write(Self.cues.replacing("two", with: "second"), to: "film.srt")
        let explained = try tandem("explain", "jobs.yaml", "one", in: scratch)
        #expect(explained.text.contains("  track 2 file: film.srt, SHA-256 "), "\(explained.text)")
        let saved = try tandem("run", "--plan", "plan.json", in: scratch)
        #expect(
            saved.status == 3 && saved.errors.contains("a subtitle file of the job one changed"),
            "\(saved.errors)")
        #expect(try run().contains("1 of 1 jobs done\n"))
        #expect(try events("o.mp4", in: scratch).last == "00:00:03,200 --> 00:00:04,500 <i>second</i>")
        try scratch.write(
            Self.spec(
                "{ subtitle: { asset: \"${asset.stem}.srt\" }, optional: true, encode: { codec: mov_text } }"),
            to: "jobs.yaml")
        _ = try run()
        try FileManager.default.removeItem(atPath: scratch.file("film.srt"))
        #expect(try run().contains("1 of 1 jobs done\n"))
        #expect(try language("o.mp4", in: scratch) == "")
        #expect(try run().contains("1 of them up to date"))
        try scratch.write(Self.cues, to: "film.srt")
        #expect(try run().contains("1 of 1 jobs done\n"))
        #expect(try events("o.mp4", in: scratch).count == 2)
    }

    /// The file is a source: no output may replace it, and `clean` doesn't remove it.
    @Test func file_isProtectedAsASource() throws {
        let rule = "{ subtitle: { asset: film.srt }, copy: true }"
        let scratch = try folder(
            """
            version: 1
            jobs:
              one: { asset: film.mkv, tracks: [ { video: first, copy: true }, \(rule) ], destination: o.mkv }
              two: { asset: film.mkv, tracks: [ \(rule) ], destination: { path: film.srt, if_exists: replace } }

            """)
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 3)
        #expect(
            run.errors.contains(
                "jobs.yaml:4:107: error[destination-is-source]: the destination is also a source, which is never overwritten: \(scratch.path)/film.srt\n"
            ), "\(run.errors)")
        #expect(try String(contentsOfFile: scratch.file("film.srt"), encoding: .utf8) == Self.cues)
    }

    /// A package's subtitles may come from a file.
    @Test func package_hasSubtitlesOfAFile() throws {
        let scratch = try folder(
            """
            version: 1
            jobs:
              one:
                asset: film.mkv
                package: { formats: [hls, dash], segment: 2s, destination: p }
                outputs:
                  hd: { tracks: [ { video: first, encode: { codec: h264, preset: ultrafast } } ] }
                  en: { tracks: [ { subtitle: { asset: { path: film.srt, language: eng } }, encode: { codec: webvtt } } ] }
                  de: { tracks: [ { subtitle: { asset: film.de.srt }, optional: true, encode: { codec: webvtt } } ] }

            """)
        let run = try tandem("run", "jobs.yaml", in: scratch)
        try #require(run.status == 0, "\(run.errors)")
        let playlist = try String(contentsOfFile: scratch.file("p/master.m3u8"), encoding: .utf8)
        #expect(playlist.contains("TYPE=SUBTITLES") && playlist.contains("LANGUAGE=\"en\""), "\(playlist)")
        let text = try String(contentsOfFile: scratch.file("p/en/subtitles.vtt"), encoding: .utf8)
        #expect(text.contains("00:03.200 --> 00:04.500"), "\(text)")
    }

    /// Each match of a pattern has its own file, also in names with special characters; `clean` keeps the files of all.
    @Test func pattern_hasAFileForEachMatch() throws {
        let scratch = try folder(
            """
            version: 1
            jobs:
              each:
                asset: { path: "in/*.mkv", language: fra }
                tracks:
                  - { video: first, copy: true }
                  - { audio: first, copy: true }
                  - { subtitle: { asset: "${asset.dir}/${asset.stem}.srt" }, optional: true, copy: true }
                destination: "out/${asset.stem}.mkv"

            """)
        let names = ["a", "b [1] {x} é"]
        try FileManager.default.createDirectory(
            atPath: scratch.file("in"), withIntermediateDirectories: true)
        for name in names + ["none"] {
            try FileManager.default.copyItem(
                atPath: scratch.file("film.mkv"), toPath: scratch.file("in/\(name).mkv"))
        }
        for name in names { try scratch.write(Self.cues.replacing("one", with: name), to: "in/\(name).srt") }
        let run = try tandem("run", "jobs.yaml", in: scratch)
        try #require(run.status == 0, "\(run.errors)")
        #expect(run.errors.contains("3 of 3 jobs done\n"), "\(run.errors)")
        let audio = try program(
            "ffprobe",
            [
                "-v", "error", "-select_streams", "a", "-show_entries", "stream_tags=language", "-of",
                "csv=p=0",
                scratch.file("out/none.mkv"),
            ])
        #expect(audio.text == "fra\n" || audio.text == "fre\n", "\(audio.text)")
        for name in names {
            #expect(
                try events("out/\(name).mkv", in: scratch).first
                    == "00:00:01,000 --> 00:00:02,000 \(name)")
        }
        #expect(try tandem("run", "jobs.yaml", in: scratch).errors.contains("3 of them up to date"))
        let cleaned = try tandem("clean", "jobs.yaml", in: scratch)
        #expect(cleaned.status == 0 && !cleaned.text.contains(".srt"), "\(cleaned.text)")
    }

    /// Whether an optional file outside of the root exists can't be told from the result.
    @Test func optionalFile_outsideOfTheRoot_isRefused() throws {
        let scratch = try folder(
            Self.spec("{ subtitle: { asset: ../captions.srt }, optional: true, copy: true }", to: "o.mkv"))
        let run = try tandem("run", "--root", ".", "jobs.yaml", in: scratch)
        #expect(run.status == 1)
        #expect(run.errors.contains("captions.srt: it is outside of --root"), "\(run.errors)")
    }

    /// The track ends with the source, also where its file has later events.
    @Test func track_endsWithTheSource() throws {
        let scratch = try folder(
            Self.spec("{ subtitle: { asset: film.srt }, copy: true }", to: "o.mkv"))
        try scratch.write(
            Self.cues + "3\n00:00:05,000 --> 00:00:09,000\nlast\n\n4\n00:00:20,000 --> 00:00:21,000\nlater\n",
            to: "film.srt")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        try #require(run.status == 0, "\(run.errors)")
        #expect(
            run.errors.contains(
                "film.srt ends at 0:21, after the source, which ends at 0:06; later subtitles are dropped"),
            "\(run.errors)")
        let last = try #require(try events("o.mkv", in: scratch).last)
        #expect(last.hasPrefix("00:00:05,000 --> 00:00:06,0") && last.hasSuffix(" last"), "\(last)")
    }

    /// Several rules, and several outputs, read one file; tracks are those that each rule selects.
    @Test func rules_shareAFile() throws {
        let scratch = try folder(
            """
            version: 1
            jobs:
              one:
                asset: film.mkv
                outputs:
                  a:
                    tracks:
                      - { video: first, copy: true }
                      - { subtitle: { asset: film.srt }, copy: true, language: eng }
                      - { subtitle: { asset: film.srt }, encode: { codec: ass }, language: deu }
                    destination: a.mkv
                  b:
                    tracks: [ { subtitle: { asset: film.srt }, encode: { codec: webvtt } } ]
                    destination: b.vtt

            """)
        let run = try tandem("run", "jobs.yaml", in: scratch)
        try #require(run.status == 0, "\(run.errors)")
        #expect(try language("a.mkv", in: scratch) == "eng\ndeu")
        #expect(try events("a.mkv", 0, in: scratch).count == 2 && events("a.mkv", 1, in: scratch).count == 2)
        #expect(try events("b.vtt", in: scratch).count == 2)
    }
}
