import Diagnostics
import FileSystem
import JobSpec
import LibAV
import Media
import Publishing
import TestSupport
import Testing

@testable import JobPlan

/// Tests the planning of whole outputs: the selection of tracks, and properties of all tracks together.
@Suite struct OutputPlannerTests {
    private static let source = SourceDescription.file(
        .video { $0.bitRate = 800_000 }, .audio { ($0.language, $0.bitRate) = ("eng", 128_000) },
        .audio(2, codec: "ac3") { $0.language = "deu" }
    ) {
        $0.metadata = [MetadataEntry(key: "title", value: "T")]
        $0.chapters = [AssetChapter(timeRange: span(0, 10), title: "all")]
    }

    /// Returns a prober that accepts all settings. `hasEvents`: whether subtitle tracks contain events.
    private static func prober(hasEvents: Bool = true) -> FakeProber {
        FakeProber { request in
            switch request.subject {
            case .trial: .success(.verdict(.valid))
            case .subtitleEvents: .success(.presence(hasEvents))
            default: nil
            }
        }
    }

    private func decide(
        _ rules: String, _ keys: String..., description: SourceDescription = source,
        of source: InputPlan.Source = .file, to destination: String = "o.mkv", cover: CoverImage? = nil,
        prober: FakeProber = prober()
    ) throws -> (decision: Decision<(input: InputPlan, output: OutputPlan)>, findings: [String]) {
        let snippet = try JobSnippet(
            rule: rules.isEmpty ? nil : rules, keys.joined(separator: "\n    "), to: destination)
        let written = try #require(snippet.output.destination)
        let path = try #require(DestinationPath("/" + written.path.value))
        let decision = OutputPlanner(
            job: snippet.job, output: snippet.output,
            product: try #require(OutputPlanner.Product(snippet.output.kind)),
            container: try snippet.container,
            input: ResolvedInput(source, description), destination: path, as: written, prober: prober,
            files: AddedFiles(
                cover: cover.map { CoverPlan(path: "/art.jpg", image: $0, location: written.path.range) })
        ).decide()
        return (decision, snippet.findings(decision.reasons))
    }

    @Test func outputsHaveTheTracksOfTheirRules() throws {
        let (decision, findings) = try decide(
            "{ audio: { language: deu }, encode: { codec: flac } }, { video: first, encode: { codec: h264 } }",
            "limit: { duration: 4s }")
        let (input, output) = try #require(decision.value)
        #expect(output.tracks.map(\.source.index) == [2, 0] && findings == [])
        #expect(
            output.expectedDuration == s(4) && input.range == span(0, 4) && output.destination == "/o.mkv")
        #expect(output.metadata == [MetadataEntry(key: "title", value: "T")] && output.isMedia)
        #expect(output.chapters.map(\.timeRange) == [span(0, 4)])
        let copies = try decide("{ video: first, copy: true }").decision.value?.output
        #expect(copies?.expectedSize == 1_000_000)
    }

    /// The ledger has an entry for each track, tag and chapter list of the source.
    @Test func ledgersAreComplete() throws {
        let (decision, _) = try decide("{ video: first, copy: true }")
        let ledger = try #require(decision.value).output.ledger
        #expect(ledger.map(\.track) == [0, 1, 2, nil, nil])
        #expect(ledger.map(\.outcome) == [.copied, .dropped, .dropped, .copied, .copied])
        #expect(ledger.allSatisfy { $0.reason != LedgerCollector.unnamed })
    }

    @Test(arguments: [
        ("{ video: 1, copy: true }", "no-such-track at 1"),
        ("{ audio: { language: fra }, copy: true }", "no-such-track at { language: fra }"),
        ("{ subtitle: first, copy: true }", "no-such-track at first"),
        ("{ subtitle: first, copy: true, optional: true }", "no-such-track at one"),
    ])
    func selectionsMustMatch(_ rules: String, _ finding: String) throws {
        let (decision, findings) = try decide(rules)
        #expect(decision.value == nil && findings == [finding], "\(decision.reasons.messages)")
    }

    /// An optional rule without a match is noted; an output that lacks audio because of it causes a warning.
    @Test func optionalRulesMayMatchNothing() throws {
        let video = "{ video: first, copy: true }"
        let (noted, none) = try decide("\(video), { subtitle: all, copy: true, optional: true }")
        #expect(none == [])
        #expect(noted.reasons.notes.contains("optional subtitle dropped: the source has no subtitle"))
        let (_, warned) = try decide("\(video), { audio: { language: fra }, copy: true, optional: true }")
        #expect(warned == ["warning no-such-track at { language: fra }"])
        let silent = SourceDescription.file(.video())
        let fra = "\(video), { audio: { language: fra }, copy: true, optional: true }"
        #expect(try decide(fra, description: silent).findings == [])
    }

    // MARK: Alternatives

    /// The first entry that matches a track is used, and noted. The source has English and German audio.
    @Test(
        arguments: [
            (
                "[ { language: fra }, { language: deu }, first ]", [2],
                "audio track 2 is selected by `language: deu`, entry 2 of 3"
            ),
            ("[ first ]", [1], nil),
            (
                "[ { language: eng }, { language: deu } ]", [1],
                "audio track 1 is selected by `language: eng`, entry 1 of 2"
            ),
            ("[ 5, all ]", [1, 2], "2 audio tracks are selected by `all`, entry 2 of 2"),
            (
                "[ { index: 1, language: eng }, { id: 3, codec: ac3 } ]", [2],
                "audio track 2 is selected by `id: 3, codec: ac3`, entry 2 of 2"
            ),
            (
                "[ { title: Director, disposition: [default, dub] }, { characteristic: audible } ]", [1, 2],
                "2 audio tracks are selected by `characteristic: audible`, entry 2 of 2"
            ),
        ] as [(String, [Int], String?)])
    func selection_withAlternatives_usesTheFirstThatMatches(
        _ selection: String, _ tracks: [Int], _ note: String?
    ) throws {
        let (decision, findings) = try decide("{ audio: \(selection), copy: true }")
        #expect(decision.value?.output.tracks.map(\.source.index) == tracks && findings == [])
        #expect(decision.value?.output.notes == [note].compactMap(\.self))
    }

    @Test func alternatives_withoutAMatch_areListed() throws {
        let has = "the source has 2 (0: aac (eng), 1: ac3 (deu))"
        let rule = "{ audio: [ { language: fra }, { codec: opus, title: T }, 7 ], copy: true"
        let (failed, findings) = try decide("\(rule) }")
        #expect(findings == ["no-such-track at [ { language: fra }, { codec: opus, title: T }, 7 ]"])
        let listed = "`language: fra`, `codec: opus, title: T` or `7`"
        #expect(failed.reasons.messages == ["no audio track matches \(listed): \(has)"])
        let video = "{ video: first, copy: true }"
        let (silent, warned) = try decide("\(video), \(rule), optional: true }")
        #expect(
            warned == ["warning no-such-track at [ { language: fra }, { codec: opus, title: T }, 7 ]"])
        #expect(
            silent.reasons.messages == [
                "the output has no audio: no track matches this optional selection, \(listed); \(has)"
            ])
        let subtitle = "{ subtitle: [ { language: fra }, first ], copy: true, optional: true }"
        #expect(
            try decide("\(video), \(subtitle)").decision.value?.output.notes == [
                "optional subtitle dropped: no track matches `language: fra` or `first`; the source has no subtitle"
            ])
    }

    /// An output depends on the selected track, not on the entry that selects it.
    @Test func digest_doesNotDependOnTheEntry() throws {
        func digest(_ selection: String) throws -> DigestValue {
            let (decision, _) = try decide("{ audio: \(selection), copy: true }")
            let (input, output) = try #require(decision.value)
            var task = try PlanDigestTests.task()
            (task.input, task.output) = (input, output)
            return try PlanDigest(task).value
        }
        let direct = try digest("{ language: deu }")
        #expect(try digest("[ { language: fra }, { language: deu } ]") == direct)
        #expect(try digest("[ { language: fra }, 7, 1, first ]") == direct)
        #expect(try digest("[ { language: fra }, first ]") != direct)
    }

    @Test func waveforms_mayHaveAlternatives() throws {
        let (waveform, findings) = try decide(
            "", "waveform: { audio: [ 5, { language: deu } ] }", to: "o.json")
        let plan = try #require(waveform.value, "\(waveform.reasons.messages)").output
        #expect(plan.tracks.map(\.source.index) == [2] && findings == [])
        #expect(plan.notes.first == "audio track 2 is selected by `language: deu`, entry 2 of 2")
    }

    @Test func singleTrackContainersRejectASecondTrack() throws {
        let all = try decide("{ audio: all, encode: { codec: flac } }", to: "o.flac")
        #expect(all.decision.value == nil && all.findings == ["container-codec at o.flac"])
        #expect(try decide("{ audio: all, mix: true, encode: { codec: flac } }", to: "o.flac").findings == [])
        #expect(try decide("{ audio: first, encode: { codec: flac } }", to: "o.flac").findings == [])
    }

    /// A text subtitle track requires an event in the selected range.
    @Test func subtitlesNeedEvents() throws {
        let description = SourceDescription.file(.video(), .other(1))
        let rules = "{ video: first, copy: true }, { subtitle: first, copy: true"
        let empty = Self.prober(hasEvents: false)
        #expect(try decide("\(rules) }", description: description).findings == [])
        #expect(
            try decide("\(rules) }", description: description, prober: empty).findings == [
                "no-such-track at first"
            ])
        let (optional, findings) = try decide(
            "\(rules), optional: true }", description: description, prober: empty)
        #expect(optional.value?.output.tracks.count == 1 && findings == [])
        #expect(optional.reasons.notes == ["optional subtitle track 1 dropped: it has no event"])
        #expect(optional.reasons.lines.contains("subtitle subrip dropped: it has no event"))
    }

    @Test(arguments: [
        ("{ audio: first, copy: true }", "limit: { size: 1MB }", "o.flac", "flac", "copy-range at 1MB"),
        (
            "{ audio: first, encode: { codec: opus } }", "limit: { size: 1MB }", "o.ogg", "aac",
            "container-setting at 1MB"
        ),
        ("{ audio: first, copy: true }", "limit: { size: 1MB }", "o.mkv", "aac", nil),
    ])
    func sizeLimitsNeedOpenEnds(
        _ rules: String, _ keys: String, _ destination: String, _ codec: String, _ finding: String?
    ) throws {
        let description = SourceDescription.file(.audio(0, codec: codec)) {
            $0.chapters = destination == "o.flac" ? [] : Self.source.chapters
        }
        let (decision, findings) = try decide(rules, keys, description: description, to: destination)
        #expect(findings == [finding].compactMap(\.self), "\(decision.reasons.messages)")
        if finding == nil {
            #expect(decision.value?.output.media?.sizeLimit == 1_000_000)
            #expect(
                decision.reasons.notes.last?.hasPrefix("stops before it exceeds 1.0 MB (`limit`)") == true)
        }
    }

    /// A cover counts toward the output's size, and must fit into its limit.
    @Test func coversHaveASize() throws {
        let image = CoverImage(
            codec: "mjpeg", width: 600, height: 400, pixelFormat: .yuv420p, size: 90_000,
            digest: String(repeating: "a", count: 64))
        let rules = "{ video: first, copy: true }"
        #expect(try decide(rules, cover: image).decision.value?.output.expectedSize == 1_090_000)
        let (decision, findings) = try decide(rules, "limit: { size: 80kB }", cover: image)
        #expect(decision.value == nil && findings == ["conflicting-keys at o.mkv"])
    }

    @Test func fileTimesRequireAFile() throws {
        let (rules, keys) = ("{ video: first, copy: true }", "metadata: { file_times: keep }")
        let (kept, none) = try decide(rules, keys)
        #expect(kept.value?.output.media?.keepsFileTimes == true && none == [])
        let remote = InputPlan.Source.file(path: "https://host/a.mp4", identity: .init(remoteSize: 1))
        #expect(try decide(rules, keys, of: remote).findings == ["container-setting at keep"])
    }

    @Test func threadsOfTheJobApplyToVideoEncoders() throws {
        let (decision, _) = try decide(
            "{ video: first, encode: { codec: h264 } }, { audio: first, encode: { codec: aac } }",
            "threads: 3")
        let threads = decision.value?.output.tracks.map { track -> Int in
            if case .encode(let encoding) = track.action { Int(encoding.encoder.threads) } else { -1 }
        }
        #expect(threads == [3, 0])
    }

    /// Images and waveforms have no container, duration or chapters.
    @Test func imagesAndWaveformsHaveOneTrack() throws {
        let (images, findings) = try decide(
            "", "images: { count: 2, size: 320x }", to: "\"o-${image.number}.jpg\"")
        let output = try #require(images.value, "\(images.reasons.messages)").output
        #expect(output.images?.stills.count == 2 && output.tracks.count == 1 && findings == [])
        #expect(
            output.destination == "/o-0001.jpg" && output.expectedDuration == .zero && output.chapters == [])
        #expect(output.tracks[0].expected.frames == 2)
        let (waveform, none) = try decide("", "waveform: {}", to: "o.json")
        let plan = try #require(waveform.value, "\(waveform.reasons.messages)").output
        guard case .waveform(let drawn) = plan.kind else { throw ProgramError(message: "not a waveform") }
        #expect(drawn.format == .json && plan.tracks.map(\.source.index) == [1] && none == [])
        let (missing, refused) = try decide("", "waveform: { audio: 5 }", to: "o.json")
        #expect(missing.value == nil && refused == ["no-such-track at 5"])
        let silent = try decide("", "waveform: {}", description: .file(.video()), to: "o.json").decision
            .reasons
        #expect(silent.messages == ["no audio track matches: the source has no audio"])
    }
}
