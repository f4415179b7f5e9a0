import ExactStrings
import JobSpec
import LibAV
import TestSupport
import Testing

@testable import JobPlan
@testable import Media

/// Conditions on sources (`when`).
@Suite struct ConditionEvaluatorTests {
    /// 10 s with two video tracks, French and English audio, and subtitles.
    private static let source = SourceDescription.file(
        .video(1920, 1080, codec: "hevc", format: "yuv420p10le", rate: Rational(30_000, 1001)) {
            $0.profile = "Main 10"
            $0.color = .hdr
            $0.bitRate = 6_000_400
            $0.transform = .quarter
        },
        .video(640, 360, index: 1) { $0.isInterlaced = true },
        .audio(2, layout: "5.1") { $0.language = "fra" },
        .audio(3, codec: "mp3", rate: 44_100) { $0.language = "eng" },
        .other(4))

    private func evaluate(
        _ condition: String, on source: SourceDescription = source, as input: InputPlan.Source = .file,
        _ prober: FakeProber = FakeProber()
    ) throws -> ConditionFinding {
        let job = try JobSnippet(rule: "{ video: first, copy: true }", "when: \(condition)").job
        let evaluator = ConditionEvaluator(ResolvedInput(input, source), prober: prober)
        return try evaluator.evaluate(try #require(job.when))
    }

    private static let conditions: [(condition: String, holds: Bool, text: String)] = [
        ("{ duration: 10s }", true, "`duration` is 10 s"),
        ("{ duration: { max: 9.999s } }", false, "`duration` is 10 s (required: at most 9.999s)"),
        ("{ duration: [ 5s, \"0:10\" ] }", true, "`duration` is 10 s"),
        ("{ size: { min: 1MB, max: 1MB } }", true, "`size` is 1000000 bytes"),
        ("{ size: { min: 1MiB } }", false, "`size` is 1000000 bytes (required: at least 1MiB)"),
        // 1 MB in 10 s.
        ("{ bit_rate: { max: 800k } }", true, "`bit_rate` is 800k"),
        ("{ bit_rate: { max: 799.999k } }", false, "`bit_rate` is 800k (required: at most 799.999k)"),
        ("{ container: mov }", true, "`container` is mp4"),
        ("{ container: [ mkv, ts ] }", false, "`container` is mp4 (required: mkv or ts)"),
        (
            "{ video: { codec: hevc, profile: main 10 } }", true,
            "video track 0: `codec` is hevc, `profile` is Main 10"
        ),
        ("{ video: { height: { min: 360, max: 400 } } }", true, "video track 1: `height` is 360"),
        (
            "{ video: { width: 1920, height: 360 } }", false,
            "video track 0: `height` is 1080 (required: 360); video track 1: `width` is 640 (required: 1920)"
        ),
        ("{ video: { frame_rate: 29.97 } }", true, "video track 0: `frame_rate` is 30000/1001"),
        ("{ video: { frame_rate: { max: 29 } } }", true, "video track 1: `frame_rate` is 25"),
        ("{ video: { bit_rate: { min: 6M } } }", true, "video track 0: `bit_rate` is 6000.4k"),
        ("{ video: { pixel_format: yuv420p10le } }", true, "video track 0: `pixel_format` is yuv420p10le"),
        (
            "{ video: { hdr: true, rotation: [ 90, 270 ] } }", true,
            "video track 0: `hdr` is true, `rotation` is 90"
        ),
        ("{ video: { interlaced: true } }", true, "video track 1: `interlaced` is true"),
        ("{ audio: { channels: { min: 5.1 } } }", true, "audio track 2: `channels` is 6"),
        (
            "{ audio: { channels: stereo, sample_rate: 44.1kHz } }", true,
            "audio track 3: `channels` is 2, `sample_rate` is 44100"
        ),
        // Two and three letters are the same language.
        ("{ audio: { language: fr } }", true, "audio track 2: `language` is fra"),
        (
            "{ audio: { language: deu, count: 0 } }", true,
            "the number of audio tracks that meet the conditions is 0"
        ),
        ("{ audio: { count: { max: 1 } } }", false, "the number of audio tracks is 2 (required: at most 1)"),
        ("{ subtitle: { language: und } }", true, "subtitle track 4: `language` is und"),
        ("{ not: { video: { hdr: true } } }", false, "video track 0: `hdr` is true, which `not` excludes"),
        ("{ not: { duration: { min: 5s }, container: mkv } }", true, "`container` is mp4"),
        (
            "{ duration: { min: 5s }, not: { size: { min: 2MB } } }", true,
            "`duration` is 10 s, `size` is 1000000 bytes"
        ),
    ]

    @Test(arguments: conditions)
    func conditionsAreEvaluated(_ condition: String, holds: Bool, text: String) throws {
        let finding = try evaluate(condition)
        #expect(finding.outcome == (holds ? .holds : .fails))
        #expect(finding.text == text)
    }

    @Test func missingTracksFail() throws {
        let finding = try evaluate("{ subtitle: { codec: subrip } }", on: .file(.video()))
        #expect(finding == ConditionFinding(outcome: .fails, facts: "the source has no subtitle"))
    }

    /// A value that no container declares doesn't meet a condition.
    @Test func unknownValuesFail() throws {
        let source = SourceDescription.file(.video(rate: nil))
        let finding = try evaluate("{ video: { frame_rate: { max: 30 } } }", on: source)
        #expect(finding.outcome == .fails)
        #expect(finding.text == "video track 0: `frame_rate` is unknown (required: at most 30)")
    }

    /// Only a bit rate that the container doesn't declare is measured, and only if no other condition fails.
    @Test func undeclaredBitRatesAreMeasured() throws {
        let prober = FakeProber(.byteCount(1_250_000))
        let finding = try evaluate("{ video: { codec: h264, bit_rate: { max: 1M } } }", as: .file, prober)
        #expect(finding.outcome == .holds)
        #expect(finding.facts == "video track 1: `codec` is h264, `bit_rate` is 1000k")
        #expect(prober.requests.map(\.subject) == [.byteCount(track: 1)])
    }

    /// Nor does a composition of outputs that don't exist.
    @Test func compositionsOfOutputsThatDontExistAreUnknown() throws {
        let job = try JobSnippet(rule: "{ video: first, copy: true }", "when: { duration: { min: 5s } }").job
        let when = try #require(job.when)
        let output = SourceDescription.file(.video()) { $0.isDurationExact = false }
        var composed = ComposedSource(Composition())
        composed.descriptions = ["/w.mp4".exact: output]
        func outcome() throws -> ConditionFinding.Outcome {
            let input = ResolvedInput(
                .composition(Composition(), identities: [""]), .file(.video()), composed: composed)
            return try ConditionEvaluator(input, prober: FakeProber()).evaluate(when).outcome
        }
        #expect(try outcome() == .holds)
        composed.awaited = [JobOutput(job: "web", output: nil, path: "/w.mp4")]
        #expect(try outcome() == .unknown)
        composed.descriptions = ["/w.mp4".exact: .file(.video())]
        #expect(try outcome() == .holds)
    }

    /// A bit rate is measured once, and a size beyond all numbers has the greatest one.
    @Test func bitRatesAreMeasuredOnce() throws {
        let prober = FakeProber(.byteCount(.max))
        let job = try JobSnippet(
            rule: "{ video: first, copy: true }",
            "when: { video: { bit_rate: { min: 1000M } }, not: { size: 1 } }"
        ).job
        let source = SourceDescription.file(.video()) { $0.fileSize = .max }
        let input = ResolvedInput(.file, source)
        for _ in 0..<3 {
            let finding = try ConditionEvaluator(input, prober: prober).evaluate(try #require(job.when))
            #expect(finding.outcome == .holds)
        }
        #expect(prober.requests.count == 1)
        #expect(try evaluate("{ bit_rate: { max: 1000M } }", on: source).outcome == .fails)
    }

    /// The plan of a job determines some properties of its output; a condition on others is evaluated later.
    @Test func propertiesOfOutputsThatDontExistAreUnknown() throws {
        let awaited = InputPlan.Source.job(id: "web", path: "/w.mp4")
        #expect(try evaluate("{ video: { codec: hevc } }", as: awaited).outcome == .holds)
        #expect(try evaluate("{ video: { codec: av1 } }", as: awaited).outcome == .fails)
        for condition in [
            "{ container: mkv }", "{ video: { interlaced: true } }", "{ video: { hdr: false } }",
        ] {
            #expect(try evaluate(condition, as: awaited).outcome == .unknown, "\(condition)")
        }
        // The bit rate of an output that is encoded isn't that of its source.
        #expect(try evaluate("{ video: { bit_rate: { max: 9M } } }", as: awaited).outcome == .unknown)
        // Estimates don't decide.
        let estimated = SourceDescription.file(.video { $0.hasConstantFrameRate = false }) {
            $0.isDurationExact = false
        }
        for condition in ["{ duration: { min: 5s } }", "{ video: { frame_rate: { max: 30 } } }"] {
            #expect(try evaluate(condition, on: estimated, as: awaited).outcome == .unknown, "\(condition)")
        }
        let source = SourceDescription.file(.video()) { $0.fileSize = 0 }
        #expect(try evaluate("{ size: { max: 1MB } }", on: source, as: awaited).outcome == .unknown)
        #expect(try evaluate("{ not: { size: { max: 1MB } } }", on: source, as: awaited).outcome == .unknown)
        #expect(
            try evaluate("{ size: { max: 1MB }, video: { codec: av1 } }", on: source, as: awaited).outcome
                == .fails)
    }
}
