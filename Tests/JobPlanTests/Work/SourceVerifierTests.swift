import JobPlan
import LibAV
import Testing

@testable import Media
@testable import PlanWork

/// The verification that a source contains what its index states.
@Suite struct SourceVerifierTests {
    private static let video = TrackPlan.planned(.video { $0.sampleCount = 250 })
    private static let aac = TrackPlan.planned(
        .audio(), .encoded(.audio(), as: "aac", by: "aac"))

    /// Returns the report of a track of 10 s with the given numbers.
    private func report(
        _ appended: Int, end: Double = 10, dropped: Int = 0, hidden: Int = 0, filled: Int = 0,
        leading: Int = 0
    ) -> TrackReport {
        var damage = DamageTally.Count()
        damage.leading = leading
        var report = TrackReport(samples: appended, end: s(end), damage: damage)
        (report.droppedSamples, report.hiddenSamples, report.filledSamples) = (dropped, hidden, filled)
        return report
    }

    private func problem(
        _ planned: TrackPlan, _ report: TrackReport, _ policy: DamagePolicy = .fail, isCheck: Bool = false
    ) -> String? {
        SourceVerifier(damagePolicy: policy, isCheck: isCheck).problem(planned, report)
    }

    // MARK: Exact indices

    @Test func frames_mustMatchTheIndex() {
        #expect(Self.video.expected.isExact && Self.video.expected.frames == 250)
        #expect(problem(Self.video, report(250)) == nil)
        // Frames that an edit list hides are appended in addition; leading and dropped frames are missing from them.
        #expect(problem(Self.video, report(252, hidden: 2)) == nil)
        #expect(problem(Self.video, report(247, dropped: 1, leading: 2)) == nil)
        for count in [249, 251, 0] {
            #expect(
                problem(Self.video, report(count))
                    == "source track 0 is truncated or damaged: it contains \(count) frames, its index states 250"
            )
            #expect(problem(Self.video, report(count), .skip) == nil)
        }
    }

    /// Audio may end up to a tenth of a second early.
    @Test func samples_mayEndSlightlyEarly() {
        #expect(Self.aac.expected.isExact && Self.aac.expected.samples == 480_000)
        #expect(problem(Self.aac, report(475_200, end: 9.9)) == nil)
        #expect(
            problem(Self.aac, report(475_199, end: 9.8))
                == "source track 1 is truncated or damaged: it contains 475199 samples, its index states 480000"
        )
        // Silence that was inserted counts, and so do timestamps up to the end.
        #expect(problem(Self.aac, report(400_000, end: 9, filled: 75_200)) == nil)
        #expect(problem(Self.aac, report(1000, end: 10)) == nil)
        #expect(problem(Self.aac, report(0, end: 0), .skip) == nil)
        // The number of packets of copied audio isn't predicted.
        #expect(problem(.planned(.audio()), report(3, end: 0.1)) == nil)
    }

    // MARK: Estimates

    private static func guessed(_ duration: Double, _ change: (inout TrackDescription) -> Void = { _ in })
        -> TrackPlan
    {
        .planned(
            .video(over: span(0, duration)) {
                $0.isExact = false
                change(&$0)
            })
    }

    /// Without an index, the end may differ from the header by a second or a twentieth, in a check by half a second.
    @Test(arguments: [
        (10.0, 9.0, false, true), (10, 8.999, false, false), (10, 11, false, true),
        (10, 11.001, false, false),
        (100, 95, false, true), (100, 94.999, false, false), (10, 9.5, true, true), (10, 9.499, true, false),
        (100, 99.499, true, false), (10, 10.501, true, false),
    ])
    func end_mayDifferFromTheHeader(
        _ declared: Double, _ end: Double, _ isCheck: Bool, _ isAccepted: Bool
    ) throws {
        let found = problem(Self.guessed(declared), report(1, end: end), isCheck: isCheck)
        #expect((found == nil) == isAccepted)
        guard let found else { return }
        #expect(
            end < declared
                ? found.hasPrefix("source track 0 is truncated or damaged: it ends at ")
                : found.hasSuffix("its timestamps are damaged"), "\(found)")
        // A missing end is only a warning if damage is skipped; wrong timestamps stay an error.
        let skipped = problem(Self.guessed(declared), report(1, end: end), .skip, isCheck: isCheck)
        #expect((skipped == nil) == (end < declared))
    }

    @Test func trackWithoutOwnDuration_mayEndAnywhere() {
        let planned = Self.guessed(10) { $0.hasOwnDuration = false }
        #expect(problem(planned, report(1, end: 1)) == nil && problem(planned, report(1, end: 99)) == nil)
    }

    // MARK: Timestamps

    /// More than one frame in a thousand whose times don't increase is an error, if frames are decoded.
    @Test(arguments: [(3000, 3, true), (3000, 4, false), (100, 1, true), (100, 2, false)])
    func droppedFrames_areLimited(_ appended: Int, _ dropped: Int, _ isAccepted: Bool) {
        let source = TrackDescription.video(over: span(0, 10)) { $0.isExact = false }
        let encoded = TrackPlan.planned(source, .encoded(source, as: "h264", by: "libx264"))
        let found = problem(encoded, report(appended, dropped: dropped))
        #expect((found == nil) == isAccepted)
        #expect(found?.contains("the times of \(dropped) of \(appended + dropped) frames") ?? true)
        #expect(problem(encoded, report(appended, dropped: dropped), .skip) == nil)
        #expect(problem(.planned(source), report(appended, dropped: dropped)) == nil)
    }

    // MARK: Checks

    /// A check requires samples of audio and video; subtitles may have none.
    @Test func check_ofEmptyTrack_fails() {
        for planned in [Self.guessed(0), .planned(.audio(over: span(0, 0)))] {
            #expect(problem(planned, report(0, end: 0)) == nil)
            for policy in [DamagePolicy.fail, .skip] {
                #expect(
                    problem(planned, report(0, end: 0), policy, isCheck: true)?.hasSuffix(
                        "it contains no samples in the range that is checked") == true)
            }
        }
        let text = TrackPlan.planned(.other(over: span(0, 0)) { $0.isExact = false })
        #expect(problem(text, report(0, end: 0), isCheck: true) == nil)
    }
}
