import Diagnostics
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

@testable import JobPlan

/// Planning of output tracks: copies, encodings and conversions, and the properties that they preserve.
@Suite struct TrackPlannerTests {
    private func decide(
        _ track: TrackDescription, _ rule: String, in container: String = "mp4", range: TimeRange? = nil,
        mix: AudioMix? = nil, prober: FakeProber = FakeProber(trials: .valid)
    ) throws -> (decision: Decision<TrackPlan>, findings: [String]) {
        let snippet = try JobSnippet(
            rule: "{ \(track.mediaType.rawValue): first, \(rule) }",
            range.map { "range: { start: \($0.start)s, end: \($0.end)s }" } ?? "", "container: \(container)",
            to: "o.x")
        let planner = TrackPlanner(
            job: snippet.job, output: snippet.output, container: try snippet.container,
            input: ResolvedInput(.file, .file(track)), extent: PlannedExtent(range: range), prober: prober)
        let decision = planner.decide(track, by: snippet.rule, mix: mix, at: 2)
        return (decision, snippet.findings(decision.reasons))
    }

    @Test func copiesKeepTheTrack() throws {
        let track = TrackDescription.audio { ($0.language, $0.disposition) = ("eng", ["default"]) }
        let (decision, findings) = try decide(track, "copy: true", prober: FakeProber())
        let plan = try #require(decision.value)
        #expect(plan.action == .copy && plan.source == track && plan.expected.timeRange == span(0, 10))
        #expect(plan.metadata == [MetadataEntry(key: "language", value: "eng")])
        #expect(plan.disposition == ["default"] && plan.fallbackReason == nil && findings == [])
        #expect(decision.reasons.lines == ["audio aac 48000 Hz stereo (eng) copied: as track 2"])
    }

    @Test func encodingsAreValidatedByADryOpen() throws {
        let prober = FakeProber(trials: .valid)
        let (decision, findings) = try decide(.video(), "encode: { codec: h264 }", prober: prober)
        let plan = try #require(decision.value)
        guard case .encode(let encoding) = plan.action else { return #expect(Bool(false), "\(plan.action)") }
        #expect(encoding.codec == "h264" && plan.expected.frames == 250 && findings == [])
        #expect(decision.reasons.lines == ["video h264 1280x720 encoded: as track 2, h264"])
        #expect(
            prober.requests.map(\.subject) == [.trial(SettingsValidation.encoder(encoding.encoder).cacheKey)])
    }

    @Test func subtitlesAreConverted() throws {
        let track = TrackDescription.other(codec: "ass")
        let (decision, findings) = try decide(
            track, "encode: { codec: mov_text }", range: span(2, 5), prober: FakeProber())
        let plan = try #require(decision.value)
        #expect(plan.action == .subtitle(.movText) && findings == [])
        #expect(plan.expected.timeRange == span(0, 3) && !plan.expected.isExact)
        #expect(
            decision.reasons.lines == [
                "styles dropped: mov_text supports only bold, italic and underlined text",
                "subtitle ass encoded: as track 2, mov_text",
            ])
    }

    /// HDR metadata is kept unless frames are tone-mapped; Dolby Vision is kept only in copied packets.
    @Test(
        arguments: [
            (.masteringDisplay, "copy: true", "mp4", "copied: kept"),
            (.masteringDisplay, "encode: { codec: h264 }", "mp4", "copied: kept"),
            (
                .contentLight, "encode: { codec: h264, color: sdr }", "mp4",
                "dropped: tone mapping invalidates HDR metadata"
            ),
            (.dolbyVision, "copy: true", "mp4", "copied: kept"),
            (.dolbyVision, "copy: true", "mov", "dropped: mov can't store it"),
            (
                .dolbyVision, "encode: { codec: h264 }", "mp4",
                "dropped: re-encoding drops Dolby Vision metadata"
            ),
            (SideDataKind(rawValue: "spherical"), "copy: true", "mp4", "dropped: not supported in outputs"),
            (
                .secondView, "encode: { codec: h264 }", "mp4",
                "dropped: libavcodec decodes only the first view"
            ),
        ] as [(SideDataKind, String, String, String)])
    func sideDataIsInTheLedger(
        _ kind: SideDataKind, _ rule: String, _ container: String, _ outcome: String
    ) throws {
        let track = TrackDescription.video { ($0.sideData, $0.color) = ([.sideData(kind)], .hdr) }
        let (decision, _) = try decide(track, rule, in: container)
        #expect(decision.reasons.lines.contains("side data \(kind) \(outcome)"), "\(decision.reasons.lines)")
        #expect(decision.value?.sideData == (outcome.hasPrefix("copied") ? [kind] : []))
    }

    /// Each error is located at the part of the rule that can't be applied.
    @Test(arguments: [
        (
            TrackDescription.video { $0.isDecodable = false }, "encode: { codec: h264 }", "mp4",
            "cannot-decode at first"
        ),
        (.audio { $0.isDecodable = false }, "encode: { codec: aac }", "mp4", "cannot-decode at first"),
        (.video(0, 0), "encode: { codec: h264 }", "mp4", "cannot-decode at first"),
        (
            .video { $0.dolbyVisionProfile = 5 }, "encode: { codec: h264 }", "mp4",
            "cannot-decode at { codec: h264 }"
        ),
        (.audio { $0.sampleRate = 0 }, "encode: { codec: flac }", "mkv", "cannot-decode at first"),
        (.other(codec: "hdmv_pgs_subtitle"), "encode: { codec: srt }", "mkv", "cannot-decode at srt"),
        (.video { $0.transform = .quarter }, "encode: { codec: h264 }", "mkv", "container-setting at mkv"),
        (.video { $0.transform = .quarter }, "copy: true", "mkv", "container-setting at mkv"),
    ])
    func impossibleRulesAreErrors(
        _ track: TrackDescription, _ rule: String, _ container: String, _ finding: String
    ) throws {
        let (decision, findings) = try decide(track, rule, in: container)
        #expect(decision.value == nil && findings == [finding], "\(decision.reasons.messages)")
    }

    @Test func rotationIsBakedOrStored() throws {
        let track = TrackDescription.video { $0.transform = .quarter }
        #expect(try decide(track, "encode: { codec: h264 }").decision.value?.transform == .quarter)
        let baked = try decide(track, "encode: { codec: h264, orientation: bake }", in: "mkv").decision.value
        #expect(baked != nil && baked?.transform == nil)
    }

    @Test func tracksWithoutSamplesInTheRangeAreErrors() throws {
        let (decision, findings) = try decide(
            .audio(1, over: span(0, 2)), "encode: { codec: aac }", range: span(5, 6))
        #expect(decision.value == nil && findings == ["invalid-range at { start: 5s, end: 6s }"])
        #expect(decision.reasons.messages == ["audio track 1 has no samples in this range"])
    }

    /// Settings that the encoder rejects are errors at `encode`; those that it ignores are errors at their key.
    @Test(
        arguments: [
            ("codec: h264", SettingsValidation.Outcome.problem("no"), "codec-setting at { codec: h264 }"),
            (
                "codec: h264, profile: high", .ignored(.init(setting: .profile, actual: "High 10")),
                "codec-setting at high"
            ),
            (
                "codec: h264, level: 3.1", .ignored(.init(setting: .level, actual: "4.0")),
                "codec-setting at 3.1"
            ),
            ("codec: h264", .ignored(.init(setting: .profile, actual: "High 10")), nil),
        ] as [(String, SettingsValidation.Outcome, String?)])
    func dryOpensValidateSettings(_ encode: String, _ verdict: SettingsValidation.Outcome, _ finding: String?)
        throws
    {
        let (decision, findings) = try decide(
            .video(), "encode: { \(encode) }", prober: FakeProber(trials: verdict))
        #expect(findings == [finding].compactMap(\.self) && (decision.value == nil) == (finding != nil))
    }

    /// Returns a prober whose encoder accepts bit rates up to `limit` at the source's sample rate, and any at another
    /// rate.
    private func limited(to limit: Int64, isHeeded: Bool) -> FakeProber {
        FakeProber { request in
            guard case .trial(.encoder(let encoder)) = request.subject else { return nil }
            guard encoder.sampleRate == 22_050, let rate = encoder.bitRate, rate > limit else {
                return .success(.verdict(.valid))
            }
            return .success(
                .verdict(
                    isHeeded
                        ? .problem("invalid bit rate")
                        : .ignored(.init(setting: .bitRate, actual: "\(limit)", bitRate: limit))))
        }
    }

    /// A bit rate above the limit for the source's sample rate is reduced with a warning, so that one setting is
    /// suitable for many sources. With a fixed rate and layout it is an error.
    @Test(arguments: [true, false])
    func bitRatesBeyondTheSourcesLimitAreClamped(_ isHeeded: Bool) throws {
        let prober = limited(to: 100_000, isHeeded: isHeeded)
        let source = TrackDescription.audio(rate: 22_050)
        let (decision, findings) = try decide(source, "encode: { codec: aac, bitrate: 320k }", prober: prober)
        guard case .encode(let encoding)? = decision.value?.action else { return #expect(Bool(false)) }
        // The encoder reports its limit, or the next common bit rate below it is found.
        let expected: Int64 = isHeeded ? 96_000 : 100_000
        #expect(encoding.encoder.bitRate == expected && findings == ["warning codec-limit at 320k"])
        #expect(encoding.settings.contains { $0.key == "bitrate" && $0.value == "\(expected)" })
        #expect(
            decision.reasons.messages == [
                "audio track 1: bitrate 320k exceeds the maximum of aac at 22050 Hz stereo; encoding at \(expected / 1000)k"
            ])
        let fixed = "encode: { codec: aac, bitrate: 320k, sample_rate: 22050, channels: stereo }"
        let refused = try decide(source, fixed, prober: limited(to: 100_000, isHeeded: isHeeded))
        #expect(refused.decision.value == nil)
        #expect(refused.findings.count == 1 && refused.findings[0].hasPrefix("codec-setting at "))
    }

    /// HDR without primaries or matrix is not tone-mapped, which is noted.
    @Test func unknownHDRMatrixIsNoted() throws {
        let track = TrackDescription.video {
            $0.color = .hdr
            $0.color.matrix = nil
        }
        let (decision, findings) = try decide(track, "encode: { codec: h264, color: sdr }")
        #expect(findings == [] && decision.value != nil)
        #expect(
            decision.reasons.notes.contains(
                "video track 0 is HDR without primaries or matrix, so it is not tone-mapped"))
    }

    @Test func fallbacksHaveTheirReason() throws {
        let (decision, findings) = try decide(
            .video(codec: "vp9"), "copy: true, encode: { codec: h264 }", in: "mov")
        #expect(decision.value?.fallbackReason?.hasPrefix("mov can't store vp9") == true && findings == [])
        #expect(decision.reasons.lines == ["video vp9 1280x720 encoded: as track 2, h264"])
    }
}
