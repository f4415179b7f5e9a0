import Diagnostics
import JobSpec
import LibAV
import TestSupport
import Testing

@testable import JobPlan
@testable import Media

/// Tests copies of ranges, which are cut at keyframes or have re-encoded edges.
@Suite struct CopyPlannerRangeTests {
    private func copy(
        _ cut: String, ranges: [TimeRange] = [span(1, 5)], of track: TrackDescription = .video(),
        encode: String = "", to container: String = "mp4", widened: Int? = nil, prober: FakeProber
    ) throws -> PlannedCopy {
        let type = track.mediaType.rawValue
        let otherwise = encode.isEmpty ? "" : ", encode: { \(encode) }"
        return try PlannedCopy(
            track,
            JobSnippet(
                rule: "{ \(type): first, copy: true\(otherwise) }", "range: { start: 1s, end: 5s }",
                cut.isEmpty ? "" : "cut: \(cut)", "container: \(container)", to: "o.x"),
            ranges: ranges, widened: widened, prober)
    }

    private static func possible(_ change: (inout CutPossibilities) -> Void = { _ in }) -> FakeProber {
        var found = CutPossibilities()
        change(&found)
        return FakeProber(.cut(found))
    }

    /// `exact` requires a range that starts at a keyframe and ends where a copy can end.
    @Test(arguments: [
        (
            CutScan.Problem.startsInsideGroup(before: s(0), after: s(2)),
            "copied frames must begin at a keyframe, but there is none at 1 s"
        ),
        (
            .hasLeadingFrames,
            "the keyframe at 1 s is followed by frames that refer to earlier ones (open GOP)"
        ),
        (.endsInsideGroup(next: s(6)), "frames before 5 s refer to later ones, so a copy can't end there"),
    ])
    func exactRangesMustSuitTheKeyframes(_ problem: CutScan.Problem, _ message: String) throws {
        let prober = Self.possible { ($0.problem, $0.problemWithoutLeading) = (problem, problem) }
        let copy = try copy("", prober: prober)
        #expect(copy.findings == ["copy-range at { start: 1s, end: 5s }"])
        #expect(copy.decision.reasons.messages == [message] && copy.decision.value == nil)
        #expect(
            prober.requests.map(\.subject) == [
                .cut(track: 0, range: span(1, 5), damagePolicy: .fail, edges: .none)
            ])
        #expect(try self.copy("", prober: Self.possible()).isWhole)
    }

    /// With `keyframe`, leading frames are dropped, and a range that was extended for the track needs no check.
    @Test func keyframeRangesDropLeadingFrames() throws {
        #expect(try copy("keyframe", prober: Self.possible { $0.problem = .hasLeadingFrames }).isWhole)
        let widened = try copy("keyframe", widened: 0, prober: FakeProber())
        #expect(widened.isWhole && widened.prober.requests == [])
    }

    /// Returns a prober of ranges that require re-encoded edges, which it reports only on request.
    private static func broken() -> FakeProber {
        FakeProber { request in
            var found = CutPossibilities()
            found.problem = .startsInsideGroup(before: nil, after: nil)
            if case .cut(_, _, _, .none) = request.subject { return .success(.cut(found)) }
            found.smart = .cut(head: 5, tail: 3)
            return .success(.cut(found))
        }
    }

    @Test func smartCutsReencodeTheEdges() throws {
        let prober = Self.broken()
        let copy = try copy("smart", prober: prober)
        #expect(copy.cut == .cut(head: 5, tail: 3) && copy.findings == [])
        guard case .cut(_, _, _, .encoded(nil))? = prober.requests.first?.subject else {
            return #expect(Bool(false), "\(prober.requests)")
        }
        // A range that needs no re-encoded edges is copied completely.
        #expect(try self.copy("smart", prober: Self.possible()).isWhole)
    }

    /// `smart` rejects a range that can't be cut; `smart-or-exact` re-encodes it, with the reason.
    @Test(arguments: [SmartCut.Obstacle.nothingToCopy, .dolbyVision, .edits])
    func obstaclesAreErrorsOrFallbacks(_ obstacle: SmartCut.Obstacle) throws {
        let prober = Self.possible {
            ($0.problem, $0.obstacle) = (.startsInsideGroup(before: nil, after: nil), obstacle)
        }
        let refused = try copy("smart", prober: prober)
        #expect(refused.findings == ["copy-range at { start: 1s, end: 5s }"])
        let message = "video track 0 doesn't support a smart cut: \(obstacle)"
        #expect(refused.decision.reasons.messages == [message])
        let fallback = try #require(try copy("smart-or-exact", prober: prober).fallback)
        #expect(fallback.why == message)
        guard case .encodeVideo(let spec) = fallback.action else { return #expect(Bool(false)) }
        #expect(spec.codec.value.name == "h264" && spec.rateControl?.value == .crf(12_000))
    }

    /// For a codec without near-lossless settings, the fallback requires `encode`.
    @Test func fallbacksOfOtherCodecsNeedEncode() throws {
        let prober = Self.possible {
            ($0.problem, $0.obstacle) = (.startsInsideGroup(before: nil, after: nil), .codec("mpeg4"))
        }
        let track = TrackDescription.video(codec: "mpeg4")
        #expect(
            try copy("smart-or-exact", of: track, prober: prober).findings == [
                "copy-range at { start: 1s, end: 5s }"
            ])
        let encoded = try copy("smart-or-exact", of: track, encode: "codec: h264, crf: 30", prober: prober)
        guard case .encodeVideo(let spec)? = encoded.fallback?.action else { return #expect(Bool(false)) }
        #expect(spec.rateControl?.value == .crf(30_000))
        // With `smart`, `encode` applies to the edges only.
        #expect(try copy("smart", of: track, encode: "codec: h264", prober: prober).fallback == nil)
    }

    /// Edges have the codec, size and format of the copied frames. Keys that don't apply to edges are noted.
    @Test func encodeConfiguresTheEdges() throws {
        let prober = Self.broken()
        let copy = try copy(
            "smart", encode: "codec: h264, crf: 20, b_frames: 2, profile: high", prober: prober)
        #expect(copy.cut != nil)
        guard case .cut(_, _, _, .encoded(let encoder?))? = prober.requests.first?.subject else {
            return #expect(Bool(false), "\(prober.requests)")
        }
        #expect(encoder.options.contains(MetadataEntry(key: "crf", value: "20")))
        #expect(
            copy.notes == [
                "the re-encoded edges of video track 0 use the settings of the source; ignored: `profile`, `b_frames`"
            ])
        for encode in ["codec: hevc", "codec: h264, size: x360", "codec: h264, pixel_format: yuv444p"] {
            let wrong = try self.copy("smart", encode: encode, prober: Self.broken())
            #expect(wrong.findings == ["copy-range at { start: 1s, end: 5s }"], "\(encode)")
        }
    }

    @Test func unreadableSourcesAreErrors() throws {
        #expect(try copy("", prober: .failing()).findings == ["source-unreadable at copy"])
        #expect(
            try copy("smart", ranges: [span(1, 2), span(3, 4)], prober: .failing()).findings == [
                "source-unreadable at copy"
            ])
    }

    /// Several ranges form one cut. Without `smart`, it has no edges.
    @Test func joinedRangesAreOneCut() throws {
        let ranges = [span(1, 2), span(3, 4)]
        let whole = try copy("", ranges: ranges, prober: Self.possible { $0.smart = .cut() })
        #expect(whole.cut == .cut() && whole.findings == [])
        #expect(whole.prober.requests.map(\.subject) == [.joinedCut(track: 0, ranges: ranges, encoder: nil)])
        let broken = try copy("", ranges: ranges, prober: Self.broken())
        #expect(broken.findings == ["copy-range at { start: 1s, end: 5s }"] && broken.cut == nil)
        #expect(try copy("smart", ranges: ranges, prober: Self.broken()).cut == .cut(head: 5, tail: 3))
    }

    /// The error names the cause of the cut: the range or the limit.
    @Test(arguments: [
        ("range: { start: 1s, end: 5s }", "the range is here", "{ start: 1s, end: 5s }"),
        ("limit: { duration: 4s }", "`limit` is here", "4s"),
    ])
    func causesOfACutAreLocated(_ keys: String, _ note: String, _ text: String) throws {
        let snippet = try JobSnippet(rule: "{ audio: first, copy: true }", keys, to: "o.mkv")
        let copy = try PlannedCopy(.audio(), snippet, ranges: [span(0, 4)])
        let notes = copy.decision.reasons.diagnostics.diagnostics[0].notes
        #expect(notes.map(\.message) == [note] && notes.compactMap(\.range).map(snippet.text) == [text])
    }

    /// Copied audio is exact to the sample only with an edit list, or if every sample is a packet.
    @Test(arguments: [
        ("mp4", "", "aac", 1, true, false), ("mkv", "", "aac", 1, false, false),
        ("mkv", "keyframe", "aac", 1, true, true), ("mkv", "smart", "aac", 1, true, true),
        ("mp4", "", "aac", 2, false, false), ("mp4", "smart", "aac", 2, true, true),
        ("mkv", "", "pcm_s16le", 1, true, false), ("mov", "", "pcm_s16le", 2, true, false),
    ])
    func copiedAudioIsCutAtPackets(
        _ container: String, _ cut: String, _ codec: String, _ count: Int, _ isCopied: Bool, _ isNoted: Bool
    ) throws {
        let ranges = Array([span(1, 2), span(3, 4)].prefix(count))
        let copy = try copy(
            cut, ranges: ranges, of: .audio(codec: codec), to: container, prober: FakeProber())
        #expect(copy.isWhole == isCopied)
        #expect(copy.findings == (isCopied ? [] : ["copy-range at copy"]))
        #expect(
            copy.notes
                == (isNoted
                    ? [
                        "audio track 1 is cut between packets: up to one packet is missing at each end of a range"
                    ] : []))
    }
}
