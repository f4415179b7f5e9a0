import Diagnostics
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

@testable import JobPlan

/// An output's chapters are the source's, shifted with the range; one for each clip of a composition; or the job's
/// list.
@Suite struct ChapterPlannerTests {
    private static let source = [
        AssetChapter(timeRange: span(0, 2), title: "one"), AssetChapter(timeRange: span(2, 6), title: "two"),
        AssetChapter(timeRange: span(6, 10), title: nil),
    ]

    private func decide(
        _ chapters: String = "", source: [AssetChapter] = source, clips: [AssetChapter]? = nil,
        ranges: [TimeRange] = [], lasting duration: MediaTime = s(10), in container: String = "mkv",
        codec: String? = "aac", prober: FakeProber = FakeProber()
    ) throws -> (decision: Decision<[AssetChapter]>, findings: [String]) {
        let snippet = try JobSnippet(
            rule: "{ video: first, copy: true }", chapters.isEmpty ? "" : "chapters: \(chapters)", to: "o.mkv"
        )
        let decision = ChapterPlanner(
            spec: snippet.output.media?.chapters, source: source, clips: clips, ranges: ranges,
            frames: FrameLocator(track: .video(), path: nil, prober: prober), duration: duration,
            container: Located(try .required(container), at: try snippet.container.range), codec: codec
        ).decide()
        return (decision, snippet.findings(decision.reasons))
    }

    private func text(_ chapters: [AssetChapter]?) -> [String]? {
        chapters?.map { "\($0.timeRange.start)-\($0.timeRange.end) \($0.title ?? "")" }
    }

    /// Chapters are clipped to the range and shifted; chapters outside of it are dropped.
    @Test(
        arguments: [
            ([], ["0-2 one", "2-6 two", "6-10 "], "3 chapters copied: kept"),
            ([span(1, 3)], ["0-1 one", "1-2 two"], "3 chapters copied: 2 of them are in the range"),
            ([span(2, 6)], ["0-4 two"], "3 chapters copied: 1 of them are in the range"),
            ([span(1, 9)], ["0-1 one", "1-5 two", "5-8 "], "3 chapters copied: moved with the range"),
            (
                [span(8, 9), span(0, 1)], ["0-1 ", "1-2 one"], "3 chapters copied: 2 of them are in the range"
            ),
        ] as [([TimeRange], [String], String)])
    func chaptersMoveWithTheRange(_ ranges: [TimeRange], _ expected: [String], _ line: String) throws {
        let length = ranges.isEmpty ? s(10) : ranges.reduce(MediaTime.zero) { $0 + $1.duration }
        let (decision, findings) = try decide(ranges: ranges, lasting: length)
        #expect(text(decision.value) == expected && findings == [])
        #expect(decision.reasons.lines == [line])
    }

    @Test func chaptersOutsideTheRangeAreListedAsDropped() throws {
        let (decision, _) = try decide(source: [Self.source[0]], ranges: [span(3, 5)], lasting: s(2))
        #expect(decision.value == [] && decision.reasons.lines == ["1 chapter dropped: none is in the range"])
        #expect(try decide(source: []).decision.reasons.ledger.isEmpty)
    }

    /// Chapters that the container doesn't support are dropped; requested ones are errors.
    @Test(
        arguments: [
            ("", "wav", "aac", [], "3 chapters dropped: wav can't store chapters"),
            ("", "ogg", "vorbis", [], "3 chapters dropped: ogg can't store chapters together with vorbis"),
            ("", "ogg", "opus", [], "3 chapters copied: kept"),
            ("drop", "mkv", "aac", [], "3 chapters dropped: the job drops them"),
            (
                "[ { start: 0s, title: A } ]", "wav", "pcm_s16le",
                ["container-setting at [ { start: 0s, title: A } ]"],
                "3 chapters dropped: replaced by the job's list"
            ),
        ] as [(String, String, String, [String], String)])
    func chaptersRequireSupportByTheContainer(
        _ chapters: String, _ container: String, _ codec: String, _ expected: [String], _ line: String
    ) throws {
        let (decision, findings) = try decide(chapters, in: container, codec: codec)
        #expect(findings == expected && decision.reasons.lines == [line])
        #expect((decision.value == nil) == !expected.isEmpty)
    }

    /// A chapter of the job's list ends where the next one starts; the last one ends with the output.
    @Test func listedChaptersReplaceTheSources() throws {
        let (decision, findings) = try decide(
            "[ { start: 0s, title: A }, { start: 25%, title: B }, { start: -1s, title: C } ]")
        #expect(text(decision.value) == ["0-2.5 A", "2.5-9 B", "9-10 C"] && findings == [])
        #expect(decision.reasons.lines == ["3 chapters dropped: replaced by the job's list"])
    }

    /// Frame numbers of chapters count the frames of the selected range.
    @Test func framesCountFromTheRange() throws {
        let (decision, _) = try decide(
            "[ { start: 0f, title: A }, { start: 50f, title: B } ]", ranges: [span(4, 8)], lasting: s(4))
        #expect(text(decision.value) == ["0-2 A", "2-4 B"])
    }

    @Test(arguments: [
        ("[ { start: 10s, title: A } ]", "invalid-range at 10s"),
        ("[ { start: -11s, title: A } ]", "invalid-range at -11s"),
        ("[ { start: 5s, title: A }, { start: 50%, title: B } ]", "invalid-range at 5s"),
        ("[ { start: 5s, title: A }, { start: -6s, title: B } ]", "invalid-range at 5s"),
        ("[ { start: 250f, title: A } ]", "invalid-range at 250f"),
    ])
    func impossibleStartsAreErrors(_ chapters: String, _ finding: String) throws {
        let (decision, findings) = try decide(chapters)
        if chapters.contains("10s") {
            #expect(decision.reasons.messages == ["the chapter begins at 10 s, but the output ends at 10 s"])
        }
        #expect(decision.value == nil && findings == [finding], "\(decision.reasons.messages)")
    }

    /// mp4 chapters have times in milliseconds: a chapter whose duration is rounded to 0 is dropped, or rejected in a
    /// list.
    @Test func tooShortChaptersAreDroppedOrRejected() throws {
        let tiny = AssetChapter(
            timeRange: TimeRange(start: .zero, end: MediaTime(value: 1, timescale: 2000)), title: "x")
        let (decision, findings) = try decide(source: [tiny, Self.source[1]], in: "mp4")
        #expect(text(decision.value) == ["2-6 two"] && findings == [])
        #expect(
            decision.reasons.lines.first
                == "1 chapter too short dropped: mp4 can't store chapters shorter than 0.001 s")
        let (refused, at) = try decide(
            "[ { start: 1s, title: A }, { start: 1.0005s, title: B } ]", in: "mp4")
        #expect(refused.value == nil && at == ["container-setting at 1s"])
    }

    /// Ogg numbers chapters with three digits, which limits their number.
    @Test func numberOfChaptersIsLimited() throws {
        let many = (0..<1001).map {
            AssetChapter(timeRange: span(Double($0), Double($0 + 1)), title: "\($0)")
        }
        let (decision, _) = try decide(source: many, lasting: s(1001), in: "ogg", codec: "opus")
        #expect(decision.value?.count == 1000)
        #expect(
            decision.reasons.lines.first
                == "1 chapter too many dropped: ogg stores at most 1000; `chapters` can list others")
    }

    @Test func clipsHaveChapters() throws {
        let snippet = try JobSnippet(
            rule: "{ video: first, copy: true }", "composition: [ a.mp4, b.mp4 ]", "chapters: clips",
            asset: "")
        func decide(_ clips: [AssetChapter]?, in container: String = "mp4") throws -> Decision<[AssetChapter]>
        {
            ChapterPlanner(
                spec: snippet.output.media?.chapters, source: Self.source, clips: clips, ranges: [],
                frames: FrameLocator(track: nil, path: nil, prober: FakeProber()), duration: s(10),
                container: Located(try .required(container), at: try snippet.container.range), codec: nil
            ).decide()
        }
        let clips = [AssetChapter(timeRange: span(0, 4), title: "talk")]
        let decision = try decide(clips)
        #expect(text(decision.value) == ["0-4 talk"])
        #expect(decision.reasons.lines == ["3 chapters dropped: replaced by a chapter for each clip"])
        #expect(snippet.findings(try decide(clips, in: "ts").reasons) == ["container-setting at clips"])
        // The key may come from `defaults`, where it has no effect on sources without clips.
        #expect(try text(decide(nil).value)?.count == 3)
    }
}
