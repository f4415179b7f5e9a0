import Media
import Streaming
import Testing

/// Tests the division of WebVTT files into segments.
@Suite struct WebVTTDocumentTests {
    /// Returns ranges of these seconds, each up to the next one.
    private func segments(_ boundaries: Int64...) -> [TimeRange] {
        zip(boundaries, boundaries.dropFirst()).map {
            TimeRange(
                start: MediaTime(value: $0, timescale: 1), end: MediaTime(value: $1, timescale: 1))
        }
    }

    private func divide(
        _ text: String, _ segments: [TimeRange], mediaTime: MediaTime = .zero
    ) throws -> [String] {
        try WebVTTDocument(Array(text.utf8)).divided(into: segments, mediaTime: mediaTime).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    @Test func cuesAreInAllSegmentsThatTheyOverlap() throws {
        let text = """
            WEBVTT - title
            Language: en

            STYLE
            ::cue { color: red }

            NOTE a comment

            first
            00:01.000 --> 00:13.000 align:start
            from the first
            to the third

            00:06.000 --> 00:12.000
            exactly one
            00:12.000 --> 00:12.000
            without duration

            00:00:20.000 --> 99:00:00.000
            behind the end
            """
        let files = try divide(text, segments(0, 6, 12, 18))
        let header = "WEBVTT\nLanguage: en\n\nSTYLE\n::cue { color: red }\n"
        let first = "\nfirst\n00:01.000 --> 00:13.000 align:start\nfrom the first\nto the third\n"
        #expect(files.count == 3)
        #expect(files[0] == header + first)
        #expect(files[1] == header + first + "\n00:06.000 --> 00:12.000\nexactly one\n")
        #expect(files[2] == header + first + "\n00:12.000 --> 00:12.000\nwithout duration\n")
    }

    @Test func lineEndsAndByteOrderMarksAreNormalized() throws {
        let files = try divide(
            "\u{feff}WEBVTT\r\rREGION\r\nid:a\r\r\n00:00.000 --> 00:01.000\r\nx", segments(0, 1))
        #expect(files == ["WEBVTT\n\nREGION\nid:a\n\n00:00.000 --> 00:01.000\nx\n"])
    }

    @Test func theTimestampMapIsReplaced() throws {
        let text = "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:1,LOCAL:00:00:00.000\n\n00:00.000 --> 00:01.000\nx\n"
        #expect(try divide(text, segments(0, 1)) == ["WEBVTT\n\n00:00.000 --> 00:01.000\nx\n"])
        let files = try divide(text, segments(0, 1), mediaTime: MediaTime(value: 10, timescale: 1))
        #expect(files[0].hasPrefix("WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000\n\n00:00"))
        // Timestamps wrap around after 26.5 hours.
        let late = try divide(text, segments(0, 1), mediaTime: MediaTime(value: 100_000, timescale: 1))
        #expect(late[0].contains("MPEGTS:410065408,"))
    }

    @Test(arguments: [
        ("", 1), ("WEBVTTX\n", 1), ("SRT\n", 1), ("WEBVTT\n\n00:00.000 --> 1\nx", 3),
        ("WEBVTT\n\n00:61.000 --> 01:62.000\n", 3), ("WEBVTT\n\na\n00:02.000 --> 00:01.000\n", 4),
        ("WEBVTT\n\n999999999999999999999:00:00.000 --> 00:01.000\n", 3), ("WEBVTT\n\n-->\n", 3),
        ("WEBVTT\n\n00:00.000 --> 00:00.1234\n", 3), ("WEBVTT\n\n٠٠:00.000 --> 00:01.000\n", 3),
    ]) func invalidFilesAreRejected(_ text: String, _ line: Int) {
        #expect(throws: StreamingError.invalidWebVTT(line: line)) { try WebVTTDocument(Array(text.utf8)) }
    }

    @Test func repeatedCuesAreLimited() throws {
        let cue = "00:00.000 --> 999999999:00:00.000\n" + String(repeating: "x", count: 1 << 20) + "\n\n"
        let document = try WebVTTDocument(Array(("WEBVTT\n\n" + cue).utf8))
        let ranges = (0..<300).map {
            TimeRange(
                start: MediaTime(value: $0, timescale: 1), duration: MediaTime(value: 1, timescale: 1))
        }
        #expect(throws: StreamingError.subtitlesTooLarge(limit: WebVTTDocument.maxSize)) {
            try document.divided(into: ranges)
        }
        #expect(try document.divided(into: Array(ranges.prefix(2))).map(\.count).allSatisfy { $0 > 1 << 20 })
        #expect(try document.divided(into: []).isEmpty)
    }

    @Test func emptySegmentsAreValidFiles() throws {
        #expect(try divide("WEBVTT", segments(0, 6, 12)) == ["WEBVTT\n", "WEBVTT\n"])
    }

    @Test func mappedDocumentHasAllCuesAndOneMap() throws {
        let text = "WEBVTT\n\n00:01.000 --> 00:02.000\none\n\n99999:00:00.000 --> 99999:00:01.000\nlast\n"
        let offset = SegmentContainer.ts.profile.timestampOffset
        let mapped = try WebVTTDocument(Array(text.utf8)).mapped(to: offset)
        let expected =
            "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:126000,LOCAL:00:00:00.000\n" + text.dropFirst("WEBVTT\n".count)
        #expect(String(decoding: mapped, as: UTF8.self) == expected)
        #expect(try WebVTTDocument(mapped).mapped(to: offset) == mapped)
    }
}
