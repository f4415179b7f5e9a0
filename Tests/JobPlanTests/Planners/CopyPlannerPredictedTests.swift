import Diagnostics
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

@testable import JobPlan

/// For copies of clips that other jobs publish, the properties that are known before publishing are checked.
@Suite struct CopyPlannerPredictedTests {
    /// Plans the copy of a composition with two clips, of which the job `first` publishes the second.
    private func decide(
        _ own: SourceDescription, cut: String = "smart", in container: String = "mp4", audio: Bool = false
    ) throws -> (decision: Decision<CopyPlanner.Result>, findings: [String]) {
        let type = audio ? "audio" : "video"
        let snippet = try JobSnippet(
            rule: "{ \(type): first, copy: true }", "composition: [ a.mp4, b.mp4 ]", "cut: \(cut)",
            "container: \(container)", asset: "", to: "o.x")
        guard case .copy(let place, _) = snippet.rule.action else { throw ProgramError(message: "no copy") }
        let first = SourceDescription.file(.video(), .audio())
        var composition = Composition()
        (composition.sources, composition.duration) = ([.file("/a.mp4"), .file("/b.mp4")], s(20))
        composition.canvas = Canvas(
            size: PixelSize(width: 1280, height: 720), frameRate: Rational(25, 1))
        composition.audioFormat = CompositionAudioFormat(sampleRate: 48_000, layout: .stereo)
        var composed = ComposedSource(composition)
        composed.awaited = [JobOutput(job: "first", output: nil, path: "/b.mp4")]
        composed.descriptions = ["/a.mp4": first, "/b.mp4": own]
        for (index, start) in [0.0, 10].enumerated() {
            let range = span(start, start + 10)
            composition.clips.append(
                VideoClip(
                    placement: ClipPlacement(
                        source: index, track: 0, sourceRange: span(0, 10), timeRange: range),
                    settings: VideoOutputSettings()))
            composition.audio.append(
                AudioClip(
                    placement: ClipPlacement(
                        source: index, track: 1, sourceRange: span(0, 10), timeRange: range),
                    volume: .full))
            composed.clipLocations.append(snippet.rule.range)
            composed.audioLocations.append(snippet.rule.range)
        }
        let track = audio ? TrackDescription.audio() : .video(codec: "rawvideo")
        let decision = CopyPlanner(
            job: snippet.job, output: snippet.output, container: try snippet.container,
            source: .composition(composition, identities: ["", ""]), prober: FakeProber(),
            description: .file(track), ranges: [], location: place, otherwise: nil, widenedTrack: nil,
            composed: composed
        ).decide(track)
        return (decision, snippet.findings(decision.reasons))
    }

    private func predicted(_ decision: Decision<CopyPlanner.Result>) -> TrackDescription? {
        if case .predicted(let track)? = decision.value { track } else { nil }
    }

    @Test(arguments: [false, true]) func copiesOfFutureClipsAreDeterminedLater(_ audio: Bool) throws {
        let (decision, findings) = try decide(.file(.video(), .audio()), audio: audio)
        #expect(predicted(decision)?.codec == (audio ? "aac" : "h264") && findings == [])
        let label = audio ? "audio track 1" : "video track 0"
        #expect(
            decision.reasons.notes == [
                "which parts of \(label) are copied is determined once first has run"
            ])
    }

    /// Codec and size of a clip must be those of the others, unless it may be re-encoded.
    @Test(arguments: [
        (TrackDescription.video(codec: "hevc"), "its codec is hevc, the others' is h264"),
        (.video(640, 480), "its frames are 640x480, the composition's are 1280x720"),
    ])
    func differencesOfFutureClipsAreErrors(_ own: TrackDescription, _ difference: String) throws {
        let (decision, findings) = try decide(.file(own, .audio()))
        #expect(decision.value == nil && findings == ["copy-range at { video: first, copy: true }"])
        #expect(decision.reasons.messages == ["clip 1 can't be copied: \(difference)"])
        #expect(predicted(try decide(.file(own, .audio()), cut: "smart-or-exact").decision) != nil)
    }

    @Test func audioOfFutureClipsMustHaveOneFormat() throws {
        let other = SourceDescription.file(.video(), .audio(rate: 44_100))
        #expect(try decide(other, audio: true).findings == ["copy-range at { audio: first, copy: true }"])
    }

    @Test func containersMustSupportThePredictedCodec() throws {
        let vp9 = SourceDescription.file(.video(codec: "vp9"), .audio())
        #expect(try decide(vp9, in: "mp4").findings.count == 1)
        let (decision, findings) = try decide(.file(.video(), .audio()), in: "webm")
        #expect(decision.value == nil && findings == ["container-codec at copy"])
    }
}
