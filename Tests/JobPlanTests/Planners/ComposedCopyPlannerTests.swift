import Diagnostics
import ExactStrings
import JobSpec
import LibAV
import TestSupport
import Testing

@testable import JobPlan
@testable import Media

/// Copies of a composition's clips and audio items: those that fit together are copied, also those that other jobs have
/// yet to publish.
@Suite struct ComposedCopyPlannerTests {
    /// Plans the copy of a composition of two clips of 10 s. The job `first` publishes the second, if it is awaited.
    private func decide(
        _ own: SourceDescription, cut: String = "smart", in container: String = "mp4", audio: Bool = false,
        gap: Double = 0, keys: String = "", encode: String = "", isAwaited: Bool = true,
        prober: FakeProber = FakeProber()
    ) throws -> (decision: Decision<ComposedCopyPlanner.Result>, findings: [String]) {
        let type = audio ? "audio" : "video"
        let snippet = try JobSnippet(
            rule: "{ \(type): first, copy: true\(encode) }", "composition: [ a.mp4, b.mp4 ]", "cut: \(cut)",
            "container: \(container)", keys, asset: "", to: "o.x")
        guard case .copy(let place, let otherwise) = snippet.rule.action else {
            throw ProgramError(message: "no copy")
        }
        let first = SourceDescription.file(.video(), .audio())
        var composition = Composition()
        (composition.sources, composition.duration) = ([.file("/a.mp4"), .file("/b.mp4")], s(20 + gap))
        composition.canvas = Canvas(
            size: PixelSize(width: 1280, height: 720), frameRate: Rational(25, 1))
        composition.audioFormat = CompositionAudioFormat(sampleRate: 48_000, layout: .stereo)
        for (index, start) in [0.0, 10 + gap].enumerated() {
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
        }
        guard case .composition(let spec) = snippet.job.asset.source else {
            throw ProgramError(message: "no composition")
        }
        var composed = ComposedSource(composition, spec: spec)
        if isAwaited { composed.awaited = [JobOutput(job: "first", output: nil, path: "/b.mp4")] }
        composed.descriptions = ["/a.mp4".exact: first, "/b.mp4".exact: own]
        composed.clipLocations = spec.sequence.map { item in
            if case .clip(let clip) = item { clip.location } else { place }
        }
        composed.audioLocations = composed.clipLocations
        let track = audio ? TrackDescription.audio() : .video(codec: "rawvideo")
        let decision = ComposedCopyPlanner(
            composed: composed, job: snippet.job, output: snippet.output, container: try snippet.container,
            ranges: keys.contains("range") ? [span(1, 2)] : [], location: place, otherwise: otherwise,
            prober: prober
        ).decide(track)
        return (decision, snippet.findings(decision.reasons))
    }

    // MARK: Published clips

    /// Returns a prober to which the audio of both clips has a format.
    private func sounding(_ rates: Int32...) throws -> FakeProber {
        let formats = try rates.map { rate in
            var composition = Composition()
            (composition.duration, composition.audioFormat) = (
                s(1), CompositionAudioFormat(sampleRate: rate, layout: .stereo)
            )
            return AudioPacketFormat(try #require(composition.contents().tracks.first))
        }
        return FakeProber { request in
            guard case .audioFormat(track: 1) = request.subject else { return nil }
            return .success(
                .audioFormat(request.path == "/a.mp4" ? formats.first ?? nil : formats.last ?? nil))
        }
    }

    private func joined(_ decision: Decision<ComposedCopyPlanner.Result>) throws -> JoinedAudio {
        guard case .audio(let audio)? = decision.value else {
            throw ProgramError(message: decision.reasons.messages.joined(separator: ", "))
        }
        return audio
    }

    /// Intervals without audio of more than 0.1 s are noted; the time range includes them.
    @Test(arguments: [(2.0, true), (0.05, false)]) func gapsInTheSourcesAreNoted(
        _ late: Double, _ isNoted: Bool
    ) throws {
        let own = SourceDescription.file(.video(), .audio(over: span(late, 10)))
        let (decision, _) = try decide(own, audio: true, isAwaited: false, prober: try sounding(48_000))
        let audio = try joined(decision)
        let (from, to) = (PlanText.time(s(10)), PlanText.time(s(10 + late)))
        let note = "the copied audio has a gap from \(from) to \(to), where the sources have no audio"
        #expect(audio.notes == (isNoted ? [note] : []) && audio.timeRange == span(0, 20))
        #expect(decision.reasons.notes.contains(note) == isNoted)
    }

    @Test func audioItemsOfOneFormatAreJoined() throws {
        let own = SourceDescription.file(.video(), .audio())
        let prober = try sounding(48_000)
        let (decision, findings) = try decide(own, audio: true, isAwaited: false, prober: prober)
        let audio = try joined(decision)
        #expect(audio.like == .audio() && audio.timeRange == span(0, 20) && !audio.isExact && findings == [])
        #expect(
            decision.reasons.notes == [
                "audio track 1 is cut between packets: up to one packet is missing where a clip begins or ends"
            ])
        #expect(prober.requests.map(\.path) == ["/a.mp4", "/b.mp4"])
        let apart = try decide(own, audio: true, gap: 2, isAwaited: false, prober: try sounding(48_000))
        #expect(apart.findings == ["copy-range at b.mp4"])
        #expect(
            apart.decision.reasons.messages == [
                "audio item 1 can't be copied: there is a gap from 10 s to 12 s, which copied packets can't represent"
            ])
    }

    /// Each item that can't be copied is an error at the item; `encode` is the fallback, but not for `cut: smart`, which
    /// requires copied packets.
    @Test func audioThatDoesNotFitIsRefusedAtTheItem() throws {
        let own = SourceDescription.file(.video(), .audio())
        let (decision, findings) = try decide(
            own, audio: true, isAwaited: false, prober: try sounding(48_000, 44_100))
        #expect(findings == ["copy-range at b.mp4"] && decision.value == nil)
        let reason = "audio item 1 can't be copied: its sample rate is 44100 Hz, the others' is 48000 Hz"
        #expect(decision.reasons.messages == [reason])
        for (cut, isEncoded) in [("smart", false), ("smart-or-exact", true), ("exact", true)] {
            let (decision, _) = try decide(
                own, cut: cut, audio: true, encode: ", encode: { codec: aac }", isAwaited: false,
                prober: try sounding(48_000, 44_100))
            guard case .fallBack(_, let why)? = decision.value else {
                #expect(!isEncoded && decision.value == nil, "\(cut)")
                continue
            }
            #expect(isEncoded && why == reason)
            #expect(decision.reasons.notes == ["audio track 1 is re-encoded: \(reason)"])
        }
        let exact = try decide(own, cut: "exact", audio: true, isAwaited: false, prober: try sounding(48_000))
        #expect(exact.findings == ["copy-range at copy"])
    }

    /// Clips without packets to copy are errors at the clips; `smart-or-exact` encodes them.
    @Test func clipsThatDoNotFitAreRefusedAtTheClip() throws {
        var nothing = CutPossibilities()
        nothing.obstacle = .nothingToCopy
        let own = SourceDescription.file(.video(640, 480), .audio())
        let prober = FakeProber(.cut(nothing))
        let (decision, findings) = try decide(own, isAwaited: false, prober: prober)
        #expect(findings == ["copy-range at a.mp4", "copy-range at b.mp4"] && decision.value == nil)
        #expect(
            decision.reasons.messages.last
                == "clip 1 can't be copied: its frames are 640x480, the composition's are 1280x720")
        // Packets of a clip that differs already are not read.
        #expect(prober.requests.map(\.path) == ["/a.mp4"])
        let other = try decide(
            own, cut: "smart-or-exact", isAwaited: false, prober: FakeProber(.cut(nothing)))
        guard case .fallBack(_, let why)? = other.decision.value else {
            return #expect(Bool(false), "\(other.findings)")
        }
        #expect(why == "the clips can't be copied: the formats of the clips differ")
    }

    /// A part of a composition can't be copied, and `keyframe` would move its clips.
    @Test(arguments: [
        ("smart", "range: { start: 1s, end: 2s }", "{ start: 1s, end: 2s }"), ("keyframe", "", "keyframe"),
    ])
    func onlyWholeCompositionsAreCopied(_ cut: String, _ keys: String, _ location: String) throws {
        let (decision, findings) = try decide(.file(.video(), .audio()), cut: cut, keys: keys)
        #expect(decision.value == nil && findings == ["copy-range at \(location)"])
    }

    /// The description of a composition follows from its value; an asset of it has the same.
    @Test func compositionsAreDescribedWithoutTheirSources() throws {
        var composition = Composition()
        composition.sources = [.file("/nowhere.mp4")]
        (composition.duration, composition.canvas) = (
            s(3), Canvas(size: PixelSize(width: 320, height: 240), frameRate: Rational(30, 1))
        )
        composition.audioFormat = CompositionAudioFormat(sampleRate: 44_100, layout: .mono)
        composition.clips = [
            VideoClip(
                placement: ClipPlacement(
                    source: 0, track: 0, sourceRange: span(0, 3), timeRange: span(0, 3)),
                settings: VideoOutputSettings())
        ]
        let description = SourceDescription(try composition.contents())
        #expect(description.tracks.map(\.mediaType) == [.video, .audio] && description.duration == s(3))
        #expect(description.tracks[0].sampleCount == 90 && description.isDurationExact)
        let loaded = try Asset(.composition(composition), environment: MediaEnvironment()).loadSynchronously()
        #expect(SourceDescription(loaded) == description)
    }

    // MARK: Clips of other jobs

    private func predicted(_ decision: Decision<ComposedCopyPlanner.Result>) -> TrackDescription? {
        if case .predicted(let track)? = decision.value { track } else { nil }
    }

    @Test(arguments: [false, true]) func copiesOfPredictedClipsAreDeterminedLater(_ audio: Bool) throws {
        let (decision, findings) = try decide(.file(.video(), .audio()), audio: audio)
        #expect(predicted(decision)?.codec == (audio ? "aac" : "h264") && findings == [])
        let label = audio ? "audio track 1" : "video track 0"
        #expect(
            decision.reasons.notes == [
                "which parts of \(label) are copied is determined once first has run"
            ])
    }

    /// Codec and size of a clip must be those of the others, unless what differs may be re-encoded.
    @Test(arguments: [
        (TrackDescription.video(codec: "hevc"), "its codec is hevc, the others' is h264"),
        (.video(640, 480), "its frames are 640x480, the composition's are 1280x720"),
    ])
    func differencesOfPredictedClipsAreErrors(_ own: TrackDescription, _ difference: String) throws {
        let (decision, findings) = try decide(.file(own, .audio()))
        #expect(decision.value == nil && findings == ["copy-range at b.mp4"])
        #expect(decision.reasons.messages == ["clip 1 can't be copied: \(difference)"])
        #expect(predicted(try decide(.file(own, .audio()), cut: "smart-or-exact").decision) != nil)
    }

    @Test func audioOfPredictedClipsMustHaveOneFormat() throws {
        let other = SourceDescription.file(.video(), .audio(rate: 44_100))
        #expect(try decide(other, audio: true).findings == ["copy-range at b.mp4"])
    }

    @Test func containersMustHoldTheirCodec() throws {
        let vp9 = SourceDescription.file(.video(codec: "vp9"), .audio())
        #expect(try decide(vp9, in: "mp4").findings.count == 1)
        let (decision, findings) = try decide(.file(.video(), .audio()), in: "webm")
        #expect(decision.value == nil && findings == ["container-codec at copy"])
    }
}
