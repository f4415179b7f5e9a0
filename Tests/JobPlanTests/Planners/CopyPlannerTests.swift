import Diagnostics
import FileSystem
import JobSpec
import LibAV
import TestSupport
import Testing

@testable import JobPlan
@testable import Media

/// The planned copy of a track, for tests.
struct PlannedCopy {
    let snippet: JobSnippet
    let decision: Decision<CopyPlanner.Result>
    let prober: FakeProber

    /// Plans the copy of a track, according to the first rule of the job.
    init(
        _ track: TrackDescription, _ snippet: JobSnippet, ranges: [TimeRange] = [],
        of source: InputPlan.Source = .file, in format: String = SourceDescription.movie,
        widened: Int? = nil, _ prober: FakeProber = FakeProber()
    ) throws {
        guard case .copy(let place, let otherwise) = snippet.rule.action else {
            throw ProgramError(message: "no copy")
        }
        self.snippet = snippet
        self.prober = prober
        decision = CopyPlanner(
            job: snippet.job, output: snippet.output, container: try snippet.container, source: source,
            prober: prober, description: .file(track, container: format), ranges: ranges, location: place,
            otherwise: otherwise, widenedTrack: widened
        ).decide(track)
    }

    var findings: [String] { snippet.findings(decision.reasons) }
    var notes: [String] { decision.reasons.notes }
    var isWhole: Bool { if case .copy? = decision.value { true } else { false } }
    var cut: SmartCut? { if case .smartCut(let cut)? = decision.value { cut } else { nil } }

    /// Action in place of the copy, with the reason; nil if the track is copied.
    var fallback: (action: TrackRule.Action, why: String)? {
        if case .fallBack(let action, let why)? = decision.value { (action, why) } else { nil }
    }
}

/// A track is copied as a whole if the container supports it. Otherwise the rule's `copy` is an error.
@Suite struct CopyPlannerTests {
    private func copy(
        _ track: TrackDescription, _ type: String = "video", to container: String = "mp4", keys: String = "",
        of source: InputPlan.Source = .file, in format: String = SourceDescription.movie,
        prober: FakeProber = FakeProber()
    ) throws -> PlannedCopy {
        try PlannedCopy(
            track,
            JobSnippet(rule: "{ \(type): first, copy: true }", "container: \(container)", keys, to: "o.x"),
            of: source, in: format, prober)
    }

    /// A track whose timestamps the container stores is copied without a probe.
    @Test(arguments: [
        (TrackDescription.video(), "video", "mp4"), (.audio(), "audio", "mkv"),
        (.other(codec: "subrip"), "subtitle", "mkv"),
        (.other(3, .data, codec: "gpmd"), "data", "mp4"),
        (.video { $0.dolbyVisionProfile = 5 }, "video", "mkv"),
        (.video { $0.sideData = [.state(.hiddenBeginning)] }, "video", "mp4"),
        (.audio(codec: "pcm_s16le", over: span(0.005, 10)), "audio", "wav"),
        (.audio(codec: "pcm_s16le", over: span(0.5, 10)), "audio", "mov"),
    ])
    func supportedTracksAreCopied(_ track: TrackDescription, _ type: String, _ container: String) throws {
        let copy = try copy(track, type, to: container)
        #expect(copy.isWhole && copy.findings == [] && copy.notes == [], "\(copy.decision)")
        #expect(copy.prober.requests == [])
    }

    /// Each error is located at `copy`.
    @Test(arguments: [
        (TrackDescription.video(codec: "vp9"), "video", "mov", "container-codec", "mov can't store vp9"),
        (.other(3, .data, codec: "klv"), "data", "mp4", "container-codec", "mp4 can't store klv"),
        (
            .video { $0.sideData = [.state(.changingHeaders)] }, "video", "mp4", "container-codec",
            "headers of video track 0 change"
        ),
        (
            .video { $0.dolbyVisionProfile = 5 }, "video", "mp4", "container-codec",
            "Dolby Vision profile 5"
        ),
        (
            .audio(codec: "pcm_s16le", over: span(0.5, 10)), "audio", "wav", "copy-range",
            "has a gap from 0 s to 0.5 s"
        ),
        (
            .video { $0.sideData = [.state(.hiddenBeginning)] }, "video", "mkv", "container-codec",
            "mkv has no edit lists"
        ),
    ])
    func unsupportedTracksAreErrors(
        _ track: TrackDescription, _ type: String, _ container: String, _ rule: String, _ message: String
    ) throws {
        let copy = try copy(track, type, to: container)
        #expect(copy.decision.value == nil && copy.findings == ["\(rule) at copy"])
        #expect(
            copy.decision.reasons.messages.first?.contains(message) == true,
            "\(copy.decision.reasons.messages)")
    }

    @Test func generatedSourcesHaveNoPackets() throws {
        let sources: [InputPlan.Source] = [
            .pattern(
                TestPattern(
                    name: "smpte", width: 64, height: 48, frameRate: Rational(25, 1), duration: s(1),
                    toneFrequency: nil)),
            .images(ImageSequence(still: "/a.png", duration: s(1), frameRate: Rational(25, 1)), identity: ""),
        ]
        for source in sources {
            let copy = try copy(.video(), of: source)
            #expect(copy.findings == ["codec-setting at copy"])
            #expect(
                copy.decision.reasons.messages.first?.hasSuffix("can't be stream-copied; use `encode`")
                    == true)
        }
    }

    /// For AVI, which stores only decoding times, the probe of the packets decides.
    @Test func packetsNeedPresentationTimes() throws {
        for (saysTimes, expected) in [(true, []), (false, ["container-codec at copy"])] {
            let copy = try copy(.video(), in: "avi", prober: FakeProber(.presentationTimes(saysTimes)))
            #expect(copy.isWhole == saysTimes && copy.findings == expected)
            #expect(copy.prober.requests.map(\.subject) == [.presentationTimes(track: 0)])
        }
    }

    @Test(arguments: [
        (OrderProblem.unordered(at: s(2)), "the decoding times of video track 0 go back at 2 s"),
        (.hiddenBetween(at: s(3)), "video track 0 hides frames at 3 s"), (nil, nil),
    ])
    func timestampsMustAllowTheirOrder(_ problem: OrderProblem?, _ message: String?) throws {
        let track = TrackDescription.video { $0.sideData = [.state(.unordered)] }
        let copy = try copy(track, prober: FakeProber(.order(problem)))
        #expect(copy.prober.requests.map(\.subject) == [.order(track: 0)])
        #expect(copy.findings == (message == nil ? [] : ["source-order at copy"]))
        if let message {
            #expect(copy.decision.reasons.messages.first?.hasPrefix(message) == true)
        } else {
            #expect(copy.isWhole)
        }
    }

    /// Hidden frames require an edit list, which players ignore in fragmented files.
    @Test func hiddenFramesNeedEditLists() throws {
        let track = TrackDescription.video { $0.sideData = [.state(.hiddenInside)] }
        #expect(try copy(track, prober: FakeProber(.order(nil))).isWhole)
        let fragmented = try copy(track, keys: "fragment: 1s", prober: FakeProber(.order(nil)))
        #expect(fragmented.findings == ["container-codec at copy"])
        #expect(
            try copy(track, to: "mkv", prober: FakeProber(.order(nil))).findings == [
                "container-codec at copy"
            ])
    }

    /// With `copy`, `encode` applies if the track can't be copied, with the reason.
    @Test func encodeIsTheFallback() throws {
        let snippet = try JobSnippet(
            rule: "{ video: first, copy: true, encode: { codec: h264 } }", to: "o.mov")
        let copy = try PlannedCopy(.video(codec: "vp9"), snippet)
        let (action, why) = try #require(copy.fallback)
        guard case .encodeVideo(let spec) = action else { return #expect(Bool(false), "\(action)") }
        #expect(spec.codec.value.name == "h264" && why.hasPrefix("mov can't store vp9"))
        #expect(copy.notes == ["video track 0 is re-encoded: \(why)"] && copy.findings == [])
    }
}
