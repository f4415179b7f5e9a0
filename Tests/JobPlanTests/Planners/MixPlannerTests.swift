import Diagnostics
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

@testable import JobPlan

/// Tests the format, the volumes and the errors of a mix.
@Suite struct MixPlannerTests {
    private static let low = TrackDescription.audio(0, rate: 44_100, layout: "mono", over: span(1, 8)) {
        ($0.language, $0.isLossless) = ("eng", true)
    }
    private static let high = TrackDescription.audio(1, layout: "5.1") { $0.language = "fra" }

    private func decide(
        _ mix: String, selection: String = "all", _ tracks: [TrackDescription] = [low, high]
    ) throws -> (decision: Decision<(mix: AudioMix, sum: TrackDescription)>, findings: [String]) {
        let snippet = try JobSnippet(
            rule: "{ audio: \(selection), mix: \(mix), encode: { codec: aac } }", to: "o.mkv")
        let decision = MixPlanner(
            spec: snippet.rule.mix, tracks: tracks, source: .file(Self.low, Self.high),
            duration: s(10)
        ).decide()
        return (decision, snippet.findings(decision.reasons))
    }

    /// The mix has the highest sample rate, the most channels, and the range from the first start to the last end.
    @Test func sumHasTheBestFormatOfItsTracks() throws {
        let (decision, findings) = try decide("true")
        let (mix, sum) = try #require(decision.value)
        #expect(mix.sampleRate == 48_000 && mix.layout.description == "5.1")
        #expect(mix.inputs == [.init(track: 0, volume: .full), .init(track: 1, volume: .full)])
        #expect(sum.sampleRate == 48_000 && sum.channelLayout?.description == "5.1" && sum.index == 0)
        #expect(sum.timeRange == span(0, 10) && sum.sampleFormat == .planarFloat)
        #expect(!sum.isLossless && sum.sampleCount == nil && findings == [])
        #expect(decision.reasons.notes == ["2 audio tracks are mixed; the sum may clip"])
        #expect(try decide("true", [Self.low]).decision.reasons.notes == [])
    }

    @Test func volumesBelongToTheirTracks() throws {
        let (decision, _) = try decide(
            "[ { audio: 1, volume: [ { at: 0s, value: 0 }, { at: 50%, value: 1 } ] }, { audio: { language: eng }, volume: 0.5 } ]"
        )
        let inputs = try #require(decision.value).mix.inputs
        #expect(inputs[0].volume.points == [.init(time: .zero, thousandths: 500)])
        #expect(
            inputs[1].volume.points == [
                .init(time: .zero, thousandths: 0), .init(time: s(5), thousandths: 1000),
            ])
    }

    @Test(arguments: [
        ("[ { audio: 5, volume: 1 } ]", "no-such-track at 5"),
        (
            "[ { audio: 0, volume: 1 }, { audio: { language: eng }, volume: 1 } ]",
            "conflicting-keys at { language: eng }"
        ),
        ("[ { audio: 0, volume: [ { at: 11s, value: 1 } ] } ]", "invalid-range at 11s"),
        ("[ { audio: 0, volume: [ { at: -11s, value: 1 } ] } ]", "invalid-range at -11s"),
        ("[ { audio: 0, volume: [ { at: 25f, value: 1 } ] } ]", "invalid-value at 25f"),
        ("[ { audio: 0, volume: [ { at: 5s, value: 1 }, { at: 5s, value: 0 } ] } ]", "invalid-range at 5s"),
        ("[ { audio: 0, volume: [ { at: 50%, value: 1 }, { at: 4s, value: 0 } ] } ]", "invalid-range at 4s"),
    ])
    func impossibleVolumesAreErrors(_ mix: String, _ finding: String) throws {
        let (decision, findings) = try decide(mix)
        #expect(decision.value == nil && findings == [finding])
    }

    @Test func volumes_mayHaveAlternatives() throws {
        let (decision, findings) = try decide(
            "[ { audio: [ { language: deu }, { language: fra }, first ], volume: 0.5 } ]")
        let inputs = try #require(decision.value).mix.inputs
        #expect(inputs[1].volume.points == [.init(time: .zero, thousandths: 500)] && findings == [])
        #expect(
            decision.reasons.notes == [
                "`volume`: audio track 1 is selected by `language: fra`, entry 2 of 3",
                "2 audio tracks are mixed; the sum may clip",
            ])
        let (failed, missing) = try decide("[ { audio: [ { language: deu }, 5 ], volume: 0.5 } ]")
        #expect(missing == ["no-such-track at [ { language: deu }, 5 ]"])
        #expect(failed.reasons.messages == ["no audio track matches `language: deu` or `5`"])
    }

    /// A point of a volume envelope may be at the end of the output.
    @Test func volumePointsMayBeAtTheEnd() throws {
        let (decision, findings) = try decide(
            "[ { audio: 0, volume: [ { at: 0s, value: 1 }, { at: end, value: 0 } ] } ]")
        #expect(decision.value?.mix.inputs[0].volume.points.map(\.time) == [.zero, s(10)] && findings == [])
    }

    @Test func volumeOfATrackThatIsNotMixedIsAnError() throws {
        let (_, findings) = try decide("[ { audio: 1, volume: 1 } ]", selection: "first", [Self.low])
        #expect(findings == ["no-such-track at 1"])
    }

    /// Inputs are downmixed separately, unless filters apply to the sum.
    @Test func inputsAreDownmixedSeparately() throws {
        let (mix, sum) = try #require(try decide("true").decision.value)
        func layout(_ change: (inout TrackPlan.Encoding) -> Void) -> String {
            mix.poorer(for: .encoded(sum, as: "aac", by: "aac", change)).layout.description
        }
        #expect(layout { $0.encoder.channelLayout = .stereo } == "stereo")
        #expect(layout { _ in } == "5.1")
        #expect(
            layout {
                $0.encoder.channelLayout = .stereo
                $0.audio?.filters = FilterChain([.volume("1dB")])
            } == "5.1")
    }
}
