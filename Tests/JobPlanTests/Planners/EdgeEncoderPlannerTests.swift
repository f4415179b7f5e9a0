import Diagnostics
import JobSpec
import LibAV
import TestSupport
import Testing

@testable import JobPlan
@testable import Media

/// The encoder between copied frames: `encode` beside `copy` applies if its frames match the copied ones.
@Suite struct EdgeEncoderPlannerTests {
    private func planner(_ encode: String) throws -> EdgeEncoderPlanner {
        let snippet = try JobSnippet(
            rule: "{ video: first, copy: true\(encode.isEmpty ? "" : ", encode: { \(encode) }") }",
            "range: { end: 4s }", "cut: smart")
        guard case .copy(_, let otherwise) = snippet.rule.action else {
            throw ProgramError(message: "no copy")
        }
        return EdgeEncoderPlanner(
            otherwise: otherwise, container: try .required("mp4"), timeZero: .zero, ranges: [span(0, 4)],
            prober: FakeProber())
    }

    private static let source = TrackDescription.video { $0.pixelAspectRatio = Rational(1, 1) }

    @Test func withoutEncodingThereIsNone() throws {
        let planner = try planner("")
        #expect(try planner.decide(Self.source) == nil && planner.ignoredKeys == [])
    }

    @Test func matchingEncodingIsUsed() throws {
        let encoder = try #require(try planner("codec: h264, crf: 12").decide(Self.source))
        #expect(encoder.encoder == "libx264" && encoder.width == 1280 && encoder.pixelFormat == .yuv420p)
        #expect(encoder.options.contains(MetadataEntry(key: "crf", value: "12")))
    }

    @Test(arguments: [
        ("codec: hevc", "the codec of `encode` is hevc, that of the packets h264"),
        ("codec: h264, size: 640x360", "`encode` changes size or format, but the copied frames keep theirs"),
        (
            "codec: h264, pixel_format: yuv444p",
            "`encode` changes size or format, but the copied frames keep theirs"
        ),
    ])
    func otherFramesAreAnObstacle(_ encode: String, _ reason: String) throws {
        let planner = try planner(encode)
        #expect(throws: SmartCut.Obstacle.edges(reason)) { try planner.decide(Self.source) }
    }

    @Test func keysWithoutEffectAreListed() throws {
        let planner = try planner(
            "codec: h264, bitrate: 2M, profile: high, b_frames: 2, keyframe_interval: 2s")
        #expect(planner.ignoredKeys == ["`profile`", "`b_frames`", "`keyframe_interval`"])
        let chunked = try self.planner("codec: h264, crf: 12, parallel: 2")
        #expect(chunked.ignoredKeys == ["`parallel`"])
        #expect(try chunked.decide(Self.source)?.chunk == nil)
        #expect(try self.planner("codec: h264, parallel: off").ignoredKeys == [])
    }
}

/// The encoding in place of a copy that isn't possible.
@Suite struct CopyFallbackTests {
    private func fallback(_ rule: Rule?, _ cut: CutMode, encode: String = ", encode: { codec: h264 }") throws
        -> CopyFallback?
    {
        let snippet = try JobSnippet(
            rule: "{ video: first, copy: true\(encode) }", "range: { end: 4s }", "cut: \(cut.rawValue)")
        guard case .copy(_, let otherwise) = snippet.rule.action else {
            throw ProgramError(message: "no copy")
        }
        var sink = DiagnosticSink()
        if let rule { sink.error(rule, "the reason", at: snippet.rule.selection.range) }
        return CopyFallback(otherwise, after: sink, cut: cut)
    }

    @Test func aCopyWithoutEncodingHasNone() throws {
        #expect(try fallback(.copyRange, .smartOrExact, encode: "") == nil)
    }

    /// With `smart`, `encode` applies to the edges only; a codec that the container can't store is another matter.
    @Test func smartCutsAreNotEncodedAsAWhole() throws {
        #expect(try fallback(.copyRange, .smart) == nil)
        #expect(try fallback(.containerCodec, .smart)?.why == "the reason")
        #expect(try fallback(.copyRange, .smartOrExact)?.why == "the reason")
        #expect(try fallback(nil, .smartOrExact)?.why == "it can't be copied")
    }
}
