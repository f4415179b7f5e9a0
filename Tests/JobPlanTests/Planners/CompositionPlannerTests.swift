import Diagnostics
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

@testable import JobPlan

/// Tests the planning of compositions: the time ranges of clips, layers and audio items, and the format of the result.
@Suite struct CompositionPlannerTests {
    private static let sources: [String: SourceDescription] = [
        "a.mp4": .file(.video(), .audio()) {
            $0.chapters = [AssetChapter(timeRange: span(0, 10), title: "all")]
        },
        "b.mp4": .file(.video(640, 480, over: span(0, 4)), .audio(over: span(0, 4))),
        "late.mp4": .file(.video(over: span(1, 4))),
        "sound.wav": .file(.audio(0, codec: "pcm_s16le", rate: 44_100, layout: "mono", over: span(0, 3))),
        "old.mp4": .file(.video { $0.isDecodable = false }),
        "text.mkv": .file(.video(), .other(1, codec: "ass"), .other(2, codec: "hdmv_pgs_subtitle")),
    ]

    private func decide(
        _ composition: String,
        cadence: FrameCadence? = FrameCadence(frameRate: Rational(25, 1), isConstant: true),
        fonts: [String] = ["/usr/share/fonts/DejaVuSans.ttf"], isPrecise: Bool = true
    ) throws -> (decision: Decision<ComposedSource>, findings: [String]) {
        let snippet = try JobSnippet(
            rule: "{ video: first, encode: { codec: h264 } }", "composition: \(composition)", asset: "",
            to: "o.mkv")
        guard case .composition(let spec) = snippet.job.asset.source else {
            throw ProgramError(message: "no composition")
        }
        let planner = CompositionPlanner(
            spec, prober: FakeProber(.cadence(cadence)), fonts: FontFinder(paths: fonts),
            stretchesPrecisely: isPrecise
        ) { asset, _, _ in
            guard case .file(let name) = asset.source, let description = Self.sources[name.value] else {
                var reasons = Reasons()
                reasons.error(.sourceUnreadable, "no such source", at: asset.range)
                return Decision(nil, reasons)
            }
            return Decision(
                ResolvedSource(
                    source: .file("/" + name.value), description: description, isStill: false))
        }
        let decision = planner.decide()
        return (decision, snippet.findings(decision.reasons))
    }

    private func clips(_ decision: Decision<ComposedSource>) -> [TimeRange]? {
        decision.value?.composition.clips.map(\.placement.timeRange)
    }

    /// Clips follow each other. Size, rate and audio format come from the first clip; each source is listed once.
    @Test func clipsFollowEachOther() throws {
        let (decision, findings) = try decide("[ a.mp4, b.mp4, a.mp4 ]")
        let planned = try #require(decision.value)
        let composition = planned.composition
        #expect(clips(decision) == [span(0, 10), span(10, 14), span(14, 24)] && findings == [])
        #expect(composition.sources == [.file("/a.mp4"), .file("/b.mp4")] && composition.duration == s(24))
        #expect(composition.canvas?.size == PixelSize(width: 1280, height: 720))
        #expect(composition.canvas?.frameRate == Rational(25, 1))
        #expect(composition.audioFormat == CompositionAudioFormat(sampleRate: 48_000, layout: .stereo))
        #expect(composition.audio.map(\.placement.timeRange) == clips(decision))
        #expect(composition.chapters.map(\.timeRange) == [span(0, 10), span(14, 24)])
        #expect(planned.clipChapters?.map(\.title) == ["a", "b", "a"] && planned.unused.isEmpty)
    }

    /// Ranges, speeds, gaps and joins determine the positions of clips.
    @Test(
        arguments: [
            ("[ { asset: a.mp4, range: { start: 2s, end: 5s } }, b.mp4 ]", [span(0, 3), span(3, 7)], 7),
            ("[ { asset: a.mp4, speed: 2 }, b.mp4 ]", [span(0, 5), span(5, 9)], 9),
            ("[ a.mp4, { gap: 1s }, b.mp4 ]", [span(0, 10), span(11, 15)], 15),
            ("[ a.mp4, { join: dissolve, overlap: 1s }, b.mp4 ]", [span(0, 10), span(9, 13)], 13),
        ] as [(String, [TimeRange], Double)])
    func itemsDetermineThePositions(_ items: String, _ expected: [TimeRange], _ duration: Double) throws {
        let (decision, findings) = try decide(items)
        #expect(clips(decision) == expected && decision.value?.composition.duration == s(duration))
        #expect(findings == [])
    }

    /// Keys of the composition override the format of the first clip.
    @Test func keysOverrideTheFormatOfTheFirstClip() throws {
        let (decision, _) = try decide(
            "{ sequence: [ a.mp4 ], size: 640x360, frame_rate: 50, sample_rate: 44100, channels: mono }")
        let composition = try #require(decision.value).composition
        #expect(composition.canvas?.size == PixelSize(width: 640, height: 360))
        #expect(composition.canvas?.frameRate == Rational(50, 1))
        #expect(composition.audioFormat == CompositionAudioFormat(sampleRate: 44_100, layout: .mono))
        let silent = try decide("[ { asset: a.mp4, audio: none } ]").decision
        #expect(silent.value?.composition.audioFormat == nil && silent.value?.composition.audio == [])
        #expect(silent.value?.unused.map(\.isUnstated) == [false])
    }

    /// Without `frame_rate`, the rate is one that shows every frame of the first clip; a variable rate causes a warning
    /// at the clip.
    @Test func variableRatesCauseAWarning() throws {
        let cadence = FrameCadence(frameRate: Rational(60, 1), isConstant: false, omittedFrames: 2)
        let (decision, findings) = try decide("[ a.mp4 ]", cadence: cadence)
        #expect(decision.value?.composition.canvas?.frameRate == Rational(60, 1))
        #expect(findings == ["warning variable-rate at a.mp4"])
        #expect(try decide("{ sequence: [ a.mp4 ], frame_rate: 30 }", cadence: cadence).findings == [])
    }

    /// Each error is located at the item or at its key.
    @Test(arguments: [
        ("[ a.mp4, { join: dissolve, overlap: 4s }, b.mp4 ]", "invalid-range at 4s", "the join lasts 4 s"),
        (
            "[ a.mp4, { join: dissolve, overlap: 3s }, b.mp4, { join: dissolve, overlap: 3s }, a.mp4 ]",
            "invalid-range at 3s",
            "the joins at the start and the end of the preceding clip overlap: together they last 6 s, but the clip lasts 4 s"
        ),
        ("[ { asset: a.mp4, range: { start: 11s } } ]", "invalid-range at 11s", "the range begins at 11 s"),
        (
            "[ { asset: a.mp4, range: { start: 1s, end: 19s } } ]", "invalid-range at 19s",
            "the range ends at 19 s"
        ),
        ("[ { asset: a.mp4, video: 1 } ]", "no-such-track at 1", "no video track of the asset matches"),
        (
            "[ { asset: a.mp4, audio: { language: deu } } ]", "no-such-track at { language: deu }",
            "no audio track of the asset matches"
        ),
        (
            "[ { asset: a.mp4, duration: 3s } ]", "conflicting-keys at 3s",
            "`duration` is only supported for images"
        ),
        (
            "[ { asset: text.mkv, subtitle: { language: fra } } ]", "no-such-track at { language: fra }",
            "no subtitle track of the asset matches"
        ),
        (
            "[ { asset: text.mkv, subtitle: 1 } ]", "cannot-decode at 1",
            "subtitle track 2 of the asset contains images"
        ),
        ("[ old.mp4 ]", "cannot-decode at old.mp4", "video track 0: this build has no decoder for h264"),
        (
            "[ { asset: a.mp4, video: none, audio: none } ]",
            "no-such-track at [ { asset: a.mp4, video: none, audio: none } ]",
            "the composition has neither video nor audio"
        ),
        (
            "{ sequence: [ a.mp4 ], layers: [ { text: T, at: 10s } ] }", "invalid-range at 10s",
            "the layer begins at 10 s"
        ),
        (
            "{ sequence: [ a.mp4 ], layers: [ { text: T, at: 9s, duration: 2s } ] }", "invalid-range at 2s",
            "the layer ends at 11 s, but the composition ends at 10 s"
        ),
        (
            "{ sequence: [ a.mp4 ], layers: [ { text: T, at: 1s, until: 19s } ] }", "invalid-range at 19s",
            "the layer ends at 19 s, but the composition ends at 10 s"
        ),
        (
            "{ sequence: [ a.mp4 ], layers: [ { text: T, font: No Such } ] }", "invalid-value at No Such",
            "the font `No Such` is not installed"
        ),
        (
            "{ sequence: [ a.mp4 ], size: 128x96, layers: [ { text: T, size: 385 } ] }",
            "invalid-value at 385",
            "`size: 385` is too large for frames of 128x96; it must be at most 384"
        ),
        (
            "{ sequence: [ a.mp4 ], layers: [ { subtitle: a.mp4 } ] }", "no-such-track at a.mp4",
            "no subtitle track of the asset matches"
        ),
        (
            "{ sequence: [ a.mp4 ], layers: [ { subtitle: text.mkv, track: 3 } ] }",
            "no-such-track at text.mkv",
            "no subtitle track of the asset matches"
        ),
        (
            "{ sequence: [ a.mp4 ], layers: [ { subtitle: text.mkv, font: No Such } ] }",
            "invalid-value at No Such", "the font `No Such` is not installed"
        ),
        (
            "{ sequence: [ a.mp4 ], layers: [ { subtitle: text.mkv, at: 99s } ] }", "invalid-range at 99s",
            "the layer begins at 99 s"
        ),
        (
            "{ sequence: [ sound.wav ], layers: [ { text: T } ] }", "no-such-track at { text: T }",
            "layers require a clip with video"
        ),
        (
            "{ sequence: [ a.mp4 ], audio: [ { asset: late.mp4 } ] }", "no-such-track at late.mp4",
            "no audio track of the source matches"
        ),
        (
            "{ sequence: [ a.mp4 ], audio: [ { asset: sound.wav, fade_in: 4s } ] }", "invalid-range at 4s",
            "the fade lasts 4 s, but the audio lasts 3 s"
        ),
        (
            "{ sequence: [ a.mp4 ], audio: [ { asset: sound.wav, at: 10s } ] }", "invalid-range at 10s",
            "the audio begins at 10 s"
        ),
        (
            "{ sequence: [ { id: mute, asset: late.mp4 } ], audio: [ { asset: sound.wav, duck: { under: mute } } ] }",
            "no-such-track at mute", "`mute` has no audio to duck under"
        ),
        (
            "{ sequence: [ a.mp4 ], audio: [ { id: x, asset: sound.wav, at: y.end }, { id: y, asset: sound.wav, at: x.end } ] }",
            "dependency-cycle at x.end", "circular placement: the audio item is anchored to `x`"
        ),
    ])
    func impossibleItemsAreErrors(_ composition: String, _ finding: String, _ message: String) throws {
        let (decision, findings) = try decide(composition)
        #expect(decision.value == nil && findings == [finding])
        #expect(decision.reasons.messages.first?.hasPrefix(message) == true, "\(decision.reasons.messages)")
    }

    /// Layers and audio items are anchored to clips and to each other; an item ends with its source.
    @Test func itemsAreAnchored() throws {
        let (decision, findings) = try decide(
            """
            { sequence: [ a.mp4, { id: b, asset: b.mp4 } ], layers: [ { asset: b.mp4, at: b.start-6s }, { text: T, until: b.start } ], \
            audio: [ { id: x, asset: sound.wav, at: 1s }, { asset: sound.wav, at: x.end+1s, loop: true, until: b.end-1s } ] }
            """)
        let composition = try #require(decision.value, "\(decision.reasons.messages)").composition
        #expect(composition.layers.map(\.timeRange) == [span(4, 8), span(0, 10)] && findings == [])
        #expect(composition.audio.suffix(2).map(\.placement.timeRange) == [span(1, 4), span(5, 13)])
        #expect(composition.audio.last?.isRepeated == true)
    }

    /// Fades and joins become volume envelopes; audio is ducked under an item or a clip.
    @Test func volumesFollowFadesAndJoins() throws {
        let (decision, _) = try decide(
            """
            { sequence: [ { id: a, asset: a.mp4 }, { join: dissolve, overlap: 1s }, b.mp4 ], \
            audio: [ { asset: sound.wav, fade_out: 1s, duck: { under: a, by: 20dB } } ] }
            """)
        let composition = try #require(decision.value).composition
        func points(_ index: Int) -> [String] {
            composition.audio[index].volume.points.map { "\($0.time) \($0.thousandths)" }
        }
        #expect(points(0) == ["9 1000", "10 0"] && points(1) == ["9 0", "10 1000"])
        #expect(points(2) == ["2 1000", "3 0"])
        #expect(composition.audio[2].ducking == Ducking(under: 0, billionths: 100_000_000))
    }

    /// Without `rubberband` another speed is noted, unless the clip has no audio.
    @Test(arguments: [
        ("[ { asset: a.mp4, speed: 2 } ]", false, true), ("[ { asset: a.mp4, speed: 2 } ]", true, false),
        ("[ a.mp4 ]", false, false), ("[ { asset: a.mp4, speed: 2, audio: none } ]", false, false),
    ])
    func impreciseSpeedsAreNoted(_ items: String, _ isPrecise: Bool, _ isNoted: Bool) throws {
        let notes = try decide(items, isPrecise: isPrecise).decision.reasons.notes
        #expect(notes.contains { $0.contains("`rubberband` is not available") } == isNoted)
    }

    /// A clip whose first frame begins more than 0.5 s after the clip starts with black, which is noted.
    @Test(arguments: [
        (0.3, "", false), (0.5, "", false), (0.8, "", true), (0.3, "lead_in: black", false),
        (0.8, "lead_in: hold", false),
    ])
    func lateFirstFramesAreNoted(_ late: Double, _ keys: String, _ isNoted: Bool) throws {
        let comma = keys.isEmpty ? "" : ", "
        let (decision, _) = try decide(
            "[ { asset: late.mp4\(comma)\(keys), range: { start: \(s(1 - late))s } } ]")
        let note =
            "clip 0 is black until its first frame, for \(late) s; `lead_in: hold` shows that frame instead"
        #expect(decision.reasons.notes == (isNoted ? [note] : []))
    }

    /// Tracks that aren't used are listed: text subtitles are kept, styles and image subtitles are dropped.
    @Test func clipsLayersAndAudioItems_mayHaveAlternatives() throws {
        let (decision, findings) = try decide(
            """
            { sequence: [ a.mp4, { asset: b.mp4, video: [ { codec: hevc }, first ], audio: [ 0 ] }, \
            { asset: text.mkv, subtitle: [ { language: fra }, { codec: ass } ] } ], \
            layers: [ { asset: a.mp4, video: [ 1, 0 ] }, { subtitle: text.mkv, track: [ { codec: srt }, first ] } ], \
            audio: [ { asset: sound.wav, audio: [ { language: eng }, { codec: pcm_s16le } ] } ] }
            """)
        #expect(findings == [])
        #expect(
            decision.reasons.notes == [
                "clip 1: video track 0 is selected by `first`, entry 2 of 2",
                "clip 2: subtitle track 1 is selected by `codec: ass`, entry 2 of 2",
                "an audio item: audio track 0 is selected by `codec: pcm_s16le`, entry 2 of 2",
                "a layer: video track 0 is selected by `0`, entry 2 of 2",
                "a layer: subtitle track 1 is selected by `first`, entry 2 of 2",
            ])
    }

    /// The message of a selection that matches nothing lists its alternatives.
    @Test(arguments: [
        (
            "[ { asset: a.mp4, audio: [ { language: fra }, 3 ] } ]",
            "no audio track of the asset matches `language: fra` or `3`"
        ),
        (
            "[ { asset: text.mkv, subtitle: [ 5, 6, 7 ] } ]",
            "no subtitle track of the asset matches `5`, `6` or `7`"
        ),
        (
            "{ sequence: [ a.mp4 ], layers: [ { asset: sound.wav, video: [ 1, first ] } ] }",
            "the asset has no video track that matches `1` or `first`"
        ),
        (
            "{ sequence: [ a.mp4 ], layers: [ { subtitle: a.mp4, track: [ 1, first ] } ] }",
            "no subtitle track of the asset matches `1` or `first`"
        ),
        (
            "{ sequence: [ a.mp4 ], audio: [ { asset: late.mp4, audio: [ 1, first ] } ] }",
            "no audio track of the source matches `1` or `first`"
        ),
    ])
    func alternatives_withoutAMatch_areListed(_ composition: String, _ message: String) throws {
        #expect(try decide(composition).decision.reasons.messages == [message])
    }

    @Test func unusedTracksAreListed() throws {
        let (decision, findings) = try decide("[ text.mkv ]")
        let planned = try #require(decision.value)
        #expect(planned.composition.subtitles.count == 1 && findings == [])
        #expect(planned.unused.map(\.reason).contains("its subtitles are images"))
        #expect(planned.unused.contains { $0.track.hasPrefix("styles of track 1") && !$0.isUnstated })
    }
}

/// Tests of the search for fonts.
@Suite struct FontFinderTests {
    private let fonts = FontFinder(paths: [
        "/f/DejaVuSans-Bold.ttf", "/f/NotoSans-Regular.otf", "/z/NotoSans-Regular.ttf", "/f/README.txt",
        "/f/folder",
    ])

    @Test(arguments: [
        ("DejaVu Sans Bold", "/f/DejaVuSans-Bold.ttf"), ("noto sans", "/f/NotoSans-Regular.otf"),
        ("Noto Sans Regular", "/f/NotoSans-Regular.otf"), ("README", nil), ("DejaVu Sans", nil),
    ])
    func namesMatchFiles(_ name: String, _ path: String?) {
        #expect(fonts.file(of: name) == path)
    }

    /// Fonts are searched in the folders of fonts and beneath them, nowhere else.
    @Test func fontsAreFoundOnTheDisk() {
        let disk = FakeDisk(
            "/usr/share/fonts/truetype/deep/A.ttf", "/usr/local/share/fonts/B.otf", "/usr/share/C.ttf",
            "/usr/share/fonts/D.txt")
        let fonts = FontFinder(on: disk)
        #expect(fonts.file(of: "a") == "/usr/share/fonts/truetype/deep/A.ttf")
        #expect(fonts.file(of: "b") == "/usr/local/share/fonts/B.otf")
        #expect(fonts.file(of: "c") == nil && fonts.file(of: "d") == nil)
    }

    @Test func helpListsFonts() {
        #expect(fonts.help == "installed fonts: DejaVuSans-Bold, NotoSans-Regular")
        #expect(FontFinder(paths: []).help == "no fonts are installed (Debian: fonts-dejavu-core)")
    }
}
