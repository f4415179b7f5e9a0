import Diagnostics
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

@testable import JobPlan

/// The section of a source that an output reads, as determined by `range`, `cut` and `limit`.
@Suite struct ExtentPlannerTests {
    private func decide(
        _ keys: String..., of source: InputPlan.Source = .file, copied: TrackDescription? = nil,
        prober: FakeProber = FakeProber(), _ change: (inout SourceDescription) -> Void = { _ in }
    ) throws -> (decision: Decision<PlannedExtent>, findings: [String]) {
        let snippet = try JobSnippet(rule: "{ video: first, copy: true }", keys.joined(separator: "\n    "))
        let decision = ExtentPlanner(
            job: snippet.job, output: snippet.output, source: source,
            description: .file(.video(), .audio(), with: change), prober: prober
        ).decide(video: .video(), copied: copied)
        return (decision, snippet.findings(decision.reasons))
    }

    /// Times are absolute, relative to the end, percentages, chapters or frames.
    @Test(arguments: [
        ("{ start: 2s, end: 5s }", span(2, 5)), ("{ start: 2s }", span(2, 10)), ("{ end: 4s }", span(0, 4)),
        ("{ start: 2s, duration: 3s }", span(2, 5)), ("{ start: 25%, end: -1s }", span(2.5, 9)),
        ("{ start: -3s, end: end }", span(7, 10)), ("{ start: chapter:2 }", span(6, 10)),
        ("{ end: 10.001s }", span(0, 10)),
    ])
    func rangesAreResolved(_ range: String, _ expected: TimeRange) throws {
        let (decision, findings) = try decide("range: \(range)") {
            $0.chapters = [
                AssetChapter(timeRange: span(0, 6), title: nil),
                AssetChapter(timeRange: span(6, 10), title: nil),
            ]
        }
        #expect(decision.value?.range == expected && decision.value?.joined == [] && findings == [])
        #expect(decision.reasons.notes == [])
    }

    @Test(arguments: [
        ("{ start: 10s }", "invalid-range at 10s"), ("{ end: 11s }", "invalid-range at 11s"),
        ("{ start: 5s, end: 50% }", "invalid-range at 50%"),
        ("{ start: 60%, end: 4s }", "invalid-range at 4s"),
        ("{ start: 9s, duration: 2s }", "invalid-range at 2s"), ("{ start: -11s }", "invalid-range at -11s"),
        ("{ start: chapter:1 }", "invalid-range at chapter:1"), ("{ duration: end }", "invalid-value at end"),
        ("{ duration: -1s }", "invalid-value at -1s"), ("{ end: 10.002s }", "invalid-range at 10.002s"),
    ])
    func impossibleRangesAreErrors(_ range: String, _ finding: String) throws {
        let (decision, findings) = try decide("range: \(range)")
        #expect(decision.value == nil && findings == [finding], "\(decision.reasons.messages)")
    }

    /// A range may exceed a duration that the header only estimates by 100 ms.
    @Test func estimatedDurationsHaveMoreTolerance() throws {
        let (decision, _) = try decide("range: { end: 10.1s }") { $0.isDurationExact = false }
        #expect(decision.value?.range == span(0, 10))
        let (_, findings) = try decide("range: { end: 10.101s }") { $0.isDurationExact = false }
        #expect(findings == ["invalid-range at 10.101s"])
    }

    @Test func severalRangesAreJoinedInTheirOrder() throws {
        let (decision, _) = try decide("range: [ { start: 6s, end: 8s }, { start: 1s, end: 2s } ]")
        let extent = try #require(decision.value)
        #expect(extent.range == nil && extent.joined == [span(6, 8), span(1, 2)])
        #expect(extent.span(of: .file(.video())) == s(3))
        #expect(try decide().decision.value?.ranges == [])
    }

    /// `limit` shortens the selected range, which is noted.
    @Test(
        arguments: [
            ("limit: { duration: 3s }", "", [span(0, 3)]), ("limit: { duration: 50% }", "", [span(0, 5)]),
            ("limit: { duration: 3s }", "range: { start: 2s }", [span(2, 5)]),
            ("limit: { duration: 3s }", "range: { start: 2s, end: 4s }", [span(2, 4)]),
            ("limit: { duration: 11s }", "", []),
            (
                "limit: { duration: 3s }", "range: [ { start: 0s, end: 2s }, { start: 5s, end: 9s } ]",
                [span(0, 2), span(5, 6)]
            ),
            (
                "limit: { duration: 2s }", "range: [ { start: 0s, end: 2s }, { start: 5s, end: 9s } ]",
                [span(0, 2)]
            ),
        ] as [(String, String, [TimeRange])])
    func limitsEndTheRangeEarlier(_ limit: String, _ range: String, _ expected: [TimeRange]) throws {
        let (decision, findings) = try decide(limit, range)
        #expect(decision.value?.ranges == expected && findings == [])
        let whole = try decide(range).decision.value?.ranges
        #expect(decision.reasons.notes.count == (whole == expected ? 0 : 1), "\(decision.reasons.notes)")
        #expect(
            decision.reasons.notes.allSatisfy { $0.hasPrefix("stops after ") && $0.hasSuffix(" s (`limit`)") }
        )
    }

    private static func between(_ start: Double?, _ end: Double?) -> FakeProber {
        var found = CutPossibilities()
        found.problemWithoutLeading = .startsInsideGroup(before: nil, after: nil)
        (found.outwardStart, found.outwardEnd) = (start.map { s($0) }, end.map { s($0) })
        return FakeProber(.cut(found))
    }

    /// `keyframe` extends the range to positions at which the first copied video track can start and end.
    @Test func keyframeRangesAreWidened() throws {
        let keys = ["range: { start: 1.5s, end: 5s }", "cut: keyframe"]
        let (decision, _) = try decide(keys[0], keys[1], copied: .video(), prober: Self.between(1, 6))
        let extent = try #require(decision.value)
        #expect(extent.range == span(1, 6) && extent.requested == span(1.5, 5) && extent.widenedTrack == 0)
        let (kept, _) = try decide(keys[0], keys[1], copied: .video(), prober: FakeProber(.cut(nil)))
        #expect(kept.value?.range == span(1.5, 5) && kept.value?.requested == nil)
        #expect(try decide(keys[0], keys[1]).decision.value?.range == span(1.5, 5))
    }

    @Test func eachJoinedRangeIsWidened() throws {
        let (decision, _) = try decide(
            "range: [ { start: 1.5s, end: 2s }, { start: 4s, end: 5s } ]", "cut: keyframe", copied: .video(),
            prober: Self.between(1, 6))
        #expect(decision.value?.joined == [span(1, 6), span(1, 6)])
        #expect(
            decision.reasons.notes == [
                "range 1 (1.5 s to 2 s) is widened to keyframes",
                "range 2 (4 s to 5 s) is widened to keyframes",
            ])
    }

    /// An extended range must not exceed `limit`; the error is at `cut`.
    @Test func widenedRangesRespectTheLimit() throws {
        let (_, findings) = try decide(
            "range: { start: 1.5s, end: 5s }", "cut: keyframe", "limit: { duration: 2s }", copied: .video(),
            prober: Self.between(1, 6))
        #expect(findings == ["copy-range at keyframe"])
    }

    @Test func unreadableSourcesAreErrors() throws {
        let (decision, findings) = try decide(
            "range: { start: 1s }", "cut: keyframe", copied: .video(), prober: .failing())
        #expect(findings == ["source-unreadable at keyframe"])
        #expect(decision.reasons.messages == ["/a.mp4: no such file"])
        #expect(
            try decide("range: { start: 25f }", prober: .failing()).findings == ["source-unreadable at 25f"])
    }

    /// The cut of a file that another job publishes is planned once the file exists.
    @Test func cutsOfPredictedFilesAreDeterminedLater() throws {
        let (decision, findings) = try decide(
            "range: { start: 1s }", "cut: smart", of: .job(id: "first", path: "/b.mp4"), copied: .video())
        #expect(decision.value?.range == span(1, 10) && findings == [])
        #expect(
            decision.reasons.notes == ["the cut is determined once the job first has published its output"])
    }
}

/// Tests the extension of a range to keyframes.
@Suite struct RangeWidenerTests {
    /// Returns a prober of a track with keyframes at multiples of `group` seconds.
    private func prober(group: Double) -> FakeProber {
        FakeProber { request in
            guard case .cut(_, let range, _, _) = request.subject else { return nil }
            var found = CutPossibilities()
            let (start, end) = (range.start.seconds / group, range.end.seconds / group)
            guard start != start.rounded() || end != end.rounded() else { return .success(.cut(found)) }
            found.problemWithoutLeading = .startsInsideGroup(before: nil, after: nil)
            found.outwardStart = s(start.rounded(.down) * group)
            found.outwardEnd = end.rounded(.up) * group < 10 ? s(end.rounded(.up) * group) : nil
            return .success(.cut(found))
        }
    }

    private func widened(_ range: TimeRange, limit: MediaTime? = nil, group: Double = 2) throws -> TimeRange?
    {
        try RangeWidener(
            track: .video(), path: "/a.mp4", end: s(10), damagePolicy: .fail, prober: prober(group: group)
        ).widened(range, limit: limit)
    }

    @Test(
        arguments: [
            (span(2, 4), nil), (span(2.5, 3), span(2, 4)), (span(2, 5), span(2, 6)), (span(3, 4), span(2, 4)),
            // After the last keyframe, the range ends with the source.
            (span(8.5, 9), span(8, 10)),
        ] as [(TimeRange, TimeRange?)])
    func rangesGrowToKeyframes(_ range: TimeRange, _ expected: TimeRange?) throws {
        #expect(try widened(range) == expected)
    }

    /// If the extended range would exceed the limit, it ends at an earlier keyframe.
    @Test func rangesEndEarlierForTheLimit() throws {
        #expect(try widened(span(2, 5), limit: s(4)) == span(2, 6))
        #expect(try widened(span(2, 5), limit: s(3)) == span(2, 4))
        // No keyframe is within the limit.
        #expect(try widened(span(2.5, 3), limit: s(1))?.duration ?? .zero > s(1))
    }

    @Test func unreadableSourcesThrow() {
        #expect(throws: SourceProblem("no such file")) {
            try RangeWidener(
                track: .video(), path: "/a.mp4", end: s(10), damagePolicy: .fail, prober: FakeProber.failing()
            ).widened(span(1, 2), limit: nil)
        }
    }
}
