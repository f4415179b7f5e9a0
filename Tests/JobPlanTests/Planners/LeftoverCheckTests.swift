import Diagnostics
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

@testable import JobPlan

/// Source tracks that no rule selects are dropped, and reported as `leftover` requests.
@Suite struct LeftoverCheckTests {
    private static let description = SourceDescription.file(
        .video(), .audio(), .other(2, codec: "subrip"), .cover(3), .other(4, .data) { $0.isTimecode = true },
        .audio(5, codec: "none"))

    private func decide(_ leftover: String, chosen: [Int] = [0, 1]) throws -> (Reasons, [String]) {
        let snippet = try JobSnippet(
            rule: "{ video: first, copy: true }", leftover.isEmpty ? "" : "leftover: \(leftover)")
        let reasons = LeftoverCheck.decide(snippet.output, of: Self.description, chosen: chosen)
        return (reasons, snippet.findings(reasons))
    }

    /// Covers and the timecode have separate ledger entries; a track of an unknown format has a specific reason.
    @Test(
        arguments: [
            ("", []), ("drop", []),
            ("warn", ["warning leftover-track at warn", "warning leftover-track at warn"]),
            ("error", ["leftover-track at error", "leftover-track at error"]),
        ] as [(String, [String])])
    func unselectedTracksAreReportedAsConfigured(_ leftover: String, _ expected: [String]) throws {
        let (reasons, findings) = try decide(leftover)
        #expect(findings == expected)
        #expect(
            reasons.lines == [
                "subtitle subrip dropped: no rule selects it",
                "audio unknown codec 48000 Hz stereo dropped: its format is unknown; it can only be selected by index",
            ])
        if !expected.isEmpty {
            #expect(reasons.messages[0] == "no rule selects track 2 of the source: subtitle subrip")
        }
    }

    @Test func nothingIsReportedIfAllTracksAreSelected() throws {
        let (reasons, findings) = try decide("error", chosen: [0, 1, 2, 5])
        #expect(reasons.ledger.isEmpty && findings == [])
    }

    /// Tracks that a composition doesn't use are reported unless the job file omits them explicitly.
    @Test func unusedTracksOfCompositionsAreReportedAtTheirLocation() throws {
        let snippet = try JobSnippet(rule: "{ video: first, copy: true }", "leftover: error")
        let place = snippet.rule.range
        let left = [true, false].map {
            ComposedSource.UnusedTrack(
                owner: "clip 0, a.mp4", track: "track 2", reason: "no key selects it", isUnstated: $0,
                location: place)
        }
        let reasons = LeftoverCheck.decide(snippet.output, of: left)
        #expect(
            reasons.lines == Array(repeating: "clip 0, a.mp4: track 2 dropped: no key selects it", count: 2))
        #expect(snippet.findings(reasons) == ["leftover-track at error"])
        #expect(reasons.diagnostics.diagnostics[0].notes.map(\.range) == [place])
    }
}

/// Subtitle styles that the output's codec can't represent are listed as dropped.
@Suite struct SubtitleLossesTests {
    @Test(
        arguments: [
            ("ass", SubtitleCodec.ass, []), ("subrip", .webvtt, []), ("mov_text", .srt, []),
            ("ass", .srt, ["styles: srt supports only bold, italic, underlined text, fonts and colors"]),
            ("ass", .movText, ["styles: mov_text supports only bold, italic and underlined text"]),
            ("webvtt", .srt, ["cue positions: srt doesn't support WebVTT cue settings"]),
            ("webvtt", .webvtt, []),
        ] as [(String, SubtitleCodec, [String])])
    func stylesThatTheCodecLacksAreLost(_ source: String, _ codec: SubtitleCodec, _ lost: [String]) {
        #expect(SubtitleLosses.of(source, as: codec).map { "\($0.item): \($0.reason)" } == lost)
    }
}
