import Foundation
import JobPlan
import JobRun
import TestSupport
import Testing

/// Tests real-world subtitle files with styles, other character encodings, or other time formats.
@Suite struct SubtitleFileTests {
    private func job(_ asset: String, _ action: String, to target: String) -> String {
        "version: 1\njobs:\n  it: { asset: ./\(asset), tracks: [ { subtitle: first, \(action) } ], destination: { path: \(target), if_exists: replace } }\n"
    }

    private func write(_ text: String, to path: String, as encoding: String.Encoding = .utf8) throws {
        try #require(text.data(using: encoding)).write(to: URL(fileURLWithPath: path))
    }

    private func failure(_ records: [JobRecord]) -> String {
        if case .failed(let failure) = records[0].outcome { failure.message } else { "" }
    }

    /// Blocks that aren't cues are skipped and reported; libavformat stops reading at the first one.
    @Test func blocksThatAreNotCuesAreReported() async throws {
        let scratch = try Scratch()
        try write(
            """
            WEBVTT - a film
            00:00:00.500 --> 00:00:00.900
            Right behind the header

            STYLE
            ::cue { color: red }

            REGION
            id:fred

            NOTE
            for nobody

            what is this

            1
            00:00:01.000 --> 00:00:02.000 line:0
            Tom &amp; <c.x>Ann</c>

            00:03.000 --> 00:04.000
            Last
            """, to: scratch.file("s.vtt"))
        let records = try await run(job("s.vtt", "encode: { codec: srt }", to: "o.srt"), in: scratch.path)
        _ = try success(records)
        let text = try String(contentsOfFile: scratch.file("o.srt"), encoding: .utf8)
        #expect(
            text
                == "1\n00:00:00,500 --> 00:00:00,900\nRight behind the header\n\n2\n00:00:01,000 --> 00:00:02,000\nTom & Ann\n\n3\n00:00:03,000 --> 00:00:04,000\nLast\n\n"
        )
        let dropped = Set(
            try #require(records[0].plan?.outputs[0].ledger).filter { $0.outcome == .dropped }.map(
                \.item.text))
        #expect(
            dropped == [
                "side data comments", "side data regions", "side data styles",
                "side data text outside of cues",
                "cue positions",
            ])
        // Line endings of other systems, and a byte order mark.
        for (ending, name) in [("\r\n", "w.vtt"), ("\r", "m.vtt")] {
            let lines = try String(contentsOfFile: scratch.file("s.vtt"), encoding: .utf8)
            try write(
                "\u{feff}" + lines.replacingOccurrences(of: "\n", with: ending), to: scratch.file(name))
            _ = try success(
                try await run(job(name, "encode: { codec: srt }", to: "o2.srt"), in: scratch.path))
            #expect(try String(contentsOfFile: scratch.file("o2.srt"), encoding: .utf8) == text)
        }
    }

    /// A line with times starts a cue, even without a preceding empty line.
    @Test func cuesNeedNoEmptyLine() async throws {
        let scratch = try Scratch()
        try write(
            "WEBVTT\n\nNOTE a --> b\n\n00:01.000 --> 00:02.000\nOne\n00:03.000 --> 00:04.000\nTwo\n \n00:05.000 --> 00:06.000\nThree\n",
            to: scratch.file("s.vtt"))
        _ = try success(
            try await run(job("s.vtt", "encode: { codec: srt }", to: "o.srt"), in: scratch.path))
        let text = try String(contentsOfFile: scratch.file("o.srt"), encoding: .utf8)
        #expect(text.components(separatedBy: " --> ").count == 4, "\(text)")
        #expect(text.contains("00:00:03,000 --> 00:00:04,000\nTwo"), "\(text)")
    }

    /// Times in another format, at which libavformat stops reading, are errors.
    @Test func invalidTimesAreErrors() async throws {
        let scratch = try Scratch()
        try write(
            "WEBVTT\n\n00:01.000 --> 00:02.000\nOne\n\n00:00:03,000 --> 00:00:04,000\nTwo\n",
            to: scratch.file("s.vtt"))
        let records = try await run(job("s.vtt", "copy: true", to: "o.vtt"), in: scratch.path)
        #expect(failure(records).contains("line 6 has invalid times"), "\(failure(records))")
        #expect(!FileManager.default.fileExists(atPath: scratch.file("o.vtt")))
    }

    /// Text that isn't UTF-8 is an error of the plan; UTF-16 with a byte order mark is supported.
    @Test func otherEncodingsAreReadOrRejected() async throws {
        let scratch = try Scratch()
        let cue = "1\n00:00:05,000 --> 00:00:06,000\nCafé\n\n"
        try write(cue, to: scratch.file("latin.srt"), as: .isoLatin1)
        for target in ["o.srt", "o.mkv"] {
            let records = try await run(job("latin.srt", "copy: true", to: target), in: scratch.path)
            #expect(failure(records).contains("line 3 is not UTF-8"), "\(failure(records))")
        }
        try write(cue, to: scratch.file("wide.srt"), as: .utf16)
        _ = try success(
            try await run(job("wide.srt", "copy: true", to: "o.srt"), in: scratch.path))
        #expect(try String(contentsOfFile: scratch.file("o.srt"), encoding: .utf8) == cue)
    }

    /// Hard spaces of ASS become no-break spaces, lost styles are listed in the ledger, and unusual event fields are
    /// errors.
    @Test func lostStylesOfASSAreReported() async throws {
        let scratch = try Scratch()
        let text = """
            [Script Info]
            ScriptType: v4.00+

            [V4+ Styles]
            Format: Name, Fontname, Fontsize, PrimaryColour, Bold, Italic, Alignment
            Style: Default,Arial,20,&H000000FF,0,0,8

            [Events]
            Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
            Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,ten\\hkilometres
            """
        try write(text, to: scratch.file("s.ass"))
        try write(
            text.replacingOccurrences(of: "Style, Name, MarginL,", with: "Style, MarginL,"),
            to: scratch.file("other.ass"))
        let records = try await run(job("other.ass", "copy: true", to: "o.ass"), in: scratch.path)
        #expect(failure(records).contains("line 9 declares unusual event fields"), "\(failure(records))")
        for codec in ["srt", "webvtt"] {
            let target = codec == "srt" ? "o.srt" : "o.vtt"
            let records = try await run(
                job("s.ass", "encode: { codec: \(codec) }", to: target), in: scratch.path)
            _ = try success(records)
            let text = try String(contentsOfFile: scratch.file(target), encoding: .utf8)
            #expect(text.contains("ten\u{a0}kilometres"), "\(text)")
            let ledger = try #require(records[0].plan?.outputs[0].ledger)
            #expect(ledger.contains { $0.item.text == "styles" && $0.outcome == .dropped }, "\(ledger)")
        }
    }
}
