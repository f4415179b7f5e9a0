import JobSpec
import LibAV
import Publishing
import TestSupport
import Testing

@testable import JobPlan
@testable import Media

/// The rules that apply to a source: `when`, `choose` and `copy: { where }`.
@Suite struct RuleSelectionTests {
    private func decide(
        _ rules: String, on source: SourceDescription
    ) throws -> (snippet: JobSnippet, rules: [TrackRule]?, reasons: Reasons) {
        let snippet = try JobSnippet(rule: rules, to: "o.mkv")
        let decision = RuleSelection(
            rules: snippet.output.tracks,
            conditions: ConditionEvaluator(ResolvedInput(.file, source), prober: FakeProber()),
            sourceLocation: snippet.job.asset.range
        ).decide()
        return (snippet, decision.value, decision.reasons)
    }

    @Test func rulesWhoseConditionFailsDontApply() throws {
        let rules =
            "{ video: first, copy: true, when: { video: { height: { min: 720 } } } }, { audio: first, copy: true }"
        let (_, large, reasons) = try decide(rules, on: .file(.video(), .audio()))
        #expect(large?.map(\.mediaType) == [.video, .audio])
        #expect(reasons.notes == ["the video rule in line 5 applies: video track 0: `height` is 720"])
        let (_, small, others) = try decide(rules, on: .file(.video(640, 360), .audio()))
        #expect(small?.map(\.mediaType) == [.audio])
        #expect(
            others.notes == [
                "the video rule in line 5 doesn't apply: video track 0: `height` is 360 (required: at least 720)"
            ])
    }

    /// The error of an output without rules names the facts that decide.
    @Test func outputsWithoutRulesAreErrors() throws {
        let (snippet, rules, reasons) = try decide(
            "{ video: first, copy: true, when: { video: { codec: av1 } } }", on: .file(.video()))
        #expect(rules == nil)
        #expect(
            snippet.messages(reasons.diagnostics).map {
                $0.hasSuffix(
                    "no track rule applies: line 5: video track 0: `codec` is h264 (required: av1)")
            } == [true])
    }

    private static let ladder = """
        { video: first, choose: [ { when: { video: { height: { min: 1080 } } }, encode: { codec: h264, crf: 20 } }, \
        { when: { video: { height: { min: 720 } } }, copy: true, title: HD } ] }
        """

    @Test func firstEntryOfChooseWhoseConditionHoldsApplies() throws {
        let (_, first, _) = try decide(Self.ladder, on: .file(.video(1920, 1080)))
        #expect(first?.count == 1 && first?[0].action.isCopy == false && first?[0].isUnconditional == true)
        let (_, second, reasons) = try decide(Self.ladder, on: .file(.video()))
        #expect(second?.count == 1 && second?[0].action.isCopy == true && second?[0].title?.value == "HD")
        #expect(reasons.notes == ["video: entry 2 of `choose` applies: video track 0: `height` is 720"])
    }

    @Test func chooseWithoutMatchIsAnError() throws {
        let (snippet, rules, reasons) = try decide(Self.ladder, on: .file(.video(640, 360)))
        #expect(rules == nil)
        #expect(
            snippet.messages(reasons.diagnostics) == [
                "no-such-track at choose: no entry of `choose` applies: entry 1: video track 0: `height` is 360 (required: at least 1080); entry 2: video track 0: `height` is 360 (required: at least 720)"
            ])
        let optional = Self.ladder.replacing("{ video: first,", with: "{ video: first, optional: true,")
        let both = optional + ", { audio: first, copy: true }"
        let (_, rest, notes) = try decide(both, on: .file(.video(640, 360), .audio()))
        #expect(rest?.map(\.mediaType) == [.audio] && notes.notes.count == 1)
    }

    @Test func lastEntryOfChooseWithoutConditionIsTheFallback() throws {
        let rules =
            "{ audio: all, choose: [ { when: { audio: { codec: opus } }, copy: true }, { encode: { codec: flac } } ] }"
        let (_, chosen, reasons) = try decide(rules, on: .file(.audio(0)))
        #expect(chosen?.map(\.action.isCopy) == [false])
        #expect(
            reasons.notes == [
                "audio: entry 2 of `choose` applies, not entry 1: audio track 0: `codec` is aac (required: opus)"
            ])
    }

    /// Returns the planned tracks of an output as `copy` or the encoder's codec, with the notes.
    private func plan(
        _ rule: String, on source: SourceDescription
    ) throws -> (tracks: [String], notes: [String]) {
        let snippet = try JobSnippet(rule: rule, to: "o.mkv")
        let decision = OutputPlanner(
            job: snippet.job, output: snippet.output,
            product: try #require(OutputPlanner.Product(snippet.output.kind)),
            container: try snippet.container, input: ResolvedInput(.file, source),
            destination: try #require(DestinationPath("/o.mkv")),
            as: try #require(snippet.output.destination),
            prober: FakeProber(.order(nil)), files: AddedFiles()
        ).decide()
        let output = try #require(decision.value?.output, "\(decision.reasons.messages)")
        return (
            output.tracks.map { track in
                if case .encode(let encoding) = track.action { encoding.codec } else { "copy" }
            }, output.notes
        )
    }

    /// Each selected track is copied or encoded; their order stays.
    @Test func copyWhereDecidesForEachTrack() throws {
        let source = SourceDescription.file(
            .audio(0, codec: "aac"), .audio(1, codec: "mp3"), .audio(2, codec: "aac", layout: "5.1"),
            .audio(3, codec: "aac"), container: SourceDescription.matroska)
        let (tracks, notes) = try plan(
            "{ audio: all, copy: { where: { codec: aac, not: { channels: 6 } } }, encode: { codec: flac } }",
            on: source)
        #expect(tracks == ["copy", "flac", "flac", "copy"])
        #expect(
            notes.prefix(4) == [
                "audio track 0 meets `where`: `codec` is aac, `channels` is 2",
                "audio track 1 doesn't meet `where`: `codec` is mp3 (required: aac)",
                "audio track 2 doesn't meet `where`: `channels` is 6, which `not` excludes",
                "audio track 3 meets `where`: `codec` is aac, `channels` is 2",
            ])
    }
}
