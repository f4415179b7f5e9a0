import Diagnostics
import struct JobSpec.Expectation
import LibAV
import TestSupport
import Testing

@testable import JobPlan
@testable import JobSpec
@testable import Media
@testable import PlanWork

/// The evaluation of expectations on measured values.
@Suite struct ExpectationEvaluatorTests {
    /// Measurements by value. A measurement without a value fails the test.
    private final class Values: SubjectMeasurements {
        var loudness: Loudness?
        var silence: MediaTime?
        var black: MediaTime?
        var similarity: SimilarityMeter.Outcome?
        var damage: (any Error)?
        private(set) var calls: [String] = []

        private func value<T>(_ name: String, _ value: T?) throws -> T {
            calls.append(name)
            return try #require(value, "unexpected measurement: \(name)")
        }
        func loudness(of track: AssetTrack) throws -> Loudness { try value("loudness", loudness) }
        func longestSilence(of track: AssetTrack) throws -> MediaTime { try value("silence", silence) }
        func longestBlack(of track: AssetTrack) throws -> MediaTime { try value("black", black) }
        func similarity(_ metric: SimilarityMetric, of track: AssetTrack) throws -> SimilarityMeter.Outcome {
            try value("similarity", similarity)
        }
        func decodeAll() throws {
            calls.append("decodes")
            if let damage { throw damage }
        }
    }

    private static let video = TrackDescription.video {
        $0.sampleCount = 250
    }

    private func evaluator(
        _ checks: [Expectation.Check], size: Int64 = 0, hasDecoded: Bool = false,
        source: InputPlan.Source = .file, isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws -> ExpectationEvaluator {
        let snippet = try JobSnippet(rule: "{ video: first, copy: true }")
        var output = OutputPlan.media([.planned(.video())], of: snippet)
        output.id = "hd"
        output.expectations = checks.map { Expectation(check: $0, location: snippet.job.id.range) }
        let task = OutputTask(
            job: "one", file: "jobs.yaml",
            input: InputPlan(job: snippet.job, ResolvedInput(source, .file(.video())), PlannedExtent()),
            output: output)
        return ExpectationEvaluator(
            task: task, subject: task.input.assetSource, size: size, hasDecoded: hasDecoded,
            environment: MediaEnvironment(), isCancelled: isCancelled)
    }

    /// Returns the measured text of each check; unmet ones begin with `!`.
    private func evaluate(
        _ checks: Expectation.Check..., tracks: [TrackDescription] = [video, .audio()], size: Int64 = 0,
        hasDecoded: Bool = false, by values: Values = Values()
    ) throws -> [String] {
        let contents = AssetContents.read(try tracks.map { try .read($0) })
        let results = try evaluator(checks, size: size, hasDecoded: hasDecoded).evaluate(contents, by: values)
        #expect(results.map(\.expectation.check) == checks && results.allSatisfy { $0.output == "hd" })
        return results.map { ($0.holds ? "" : "!") + $0.measured }
    }

    // MARK: Contents

    @Test(arguments: [
        (10.0, 0.0, true), (10.5, 0.5, true), (9.5, 0.5, true), (10.501, 0.5, false), (9.499, 0.5, false),
    ])
    func duration_hasATolerance(_ expected: Double, _ within: Double, _ holds: Bool) throws {
        #expect(
            try evaluate(.duration(is: s(expected), within: s(within))) == [(holds ? "" : "!") + "10 s"])
    }

    @Test func frames_areCounted() throws {
        #expect(try evaluate(.frames(250), .frames(249)) == ["250", "!250"])
        #expect(try evaluate(.frames(250), tracks: [.audio()]) == ["!no video track"])
        #expect(try evaluate(.frames(0), tracks: [.video()]) == ["!no video track"])
    }

    @Test func size_isAMaximum() throws {
        #expect(try evaluate(.size(max: 1000), size: 1000) == ["1.0 kB, 1000 bytes"])
        #expect(try evaluate(.size(max: 999), size: 1000) == ["!1.0 kB, 1000 bytes"])
    }

    @Test func properties_areThoseOfTheFirstTrack() throws {
        let tracks: [TrackDescription] = [
            .cover(0), .video(1280, 720, index: 1), .video(640, 360, index: 2),
            .audio(3) { $0.language = "ger" },
        ]
        #expect(
            try evaluate(
                .property(.video, name: .codec, value: "h264"),
                .property(.video, name: .width, value: "1280"),
                .property(.video, name: .height, value: "360"),
                .property(.video, name: .pixelFormat, value: "yuv420p"),
                .property(.audio, name: .sampleRate, value: "44100"),
                .property(.audio, name: .channels, value: "stereo"),
                // A language has several codes.
                .property(.audio, name: .language, value: "de"),
                .property(.audio, name: .language, value: "eng"),
                .property(.video, name: .language, value: "eng"), tracks: tracks)
                == [
                    "h264", "1280", "!720", "yuv420p", "!48000", "stereo", "ger", "!ger", "!unknown",
                ])
        #expect(
            try evaluate(.property(.audio, name: .codec, value: "aac"), tracks: [.video()]) == ["!no audio"])
    }

    /// The rate follows from the number of frames; a range may contain one frame more than its duration implies.
    @Test(arguments: [
        (250, "25", true), (251, "25", true), (249, "25", true), (252, "25", false), (248, "25", false),
        (300, "30000/1001", true), (250, "nonsense", false), (250, "-25", false),
    ])
    func frameRate_isMeasured(_ count: Int, _ expected: String, _ holds: Bool) throws {
        let track = TrackDescription.video(rate: Rational(30, 1)) { $0.sampleCount = count }
        let found = try evaluate(.property(.video, name: .frameRate, value: expected), tracks: [track])
        #expect(found[0].hasPrefix("!") != holds, "\(found)")
    }

    // MARK: Measurements

    @Test func loudness_isMeasuredOnce() throws {
        let values = Values()
        values.loudness = Loudness(integrated: -16.04, truePeak: -1.04, range: 5)
        #expect(
            try evaluate(
                .loudness(is: -16, within: 0.05), .loudness(is: -16, within: 0.03), .truePeak(max: -1),
                .truePeak(max: -1.1), by: values)
                == ["-16.0 LUFS", "!-16.0 LUFS", "-1.0 dBTP", "!-1.0 dBTP"])
        #expect(values.calls == ["loudness"])
        #expect(
            try evaluate(.loudness(is: -16, within: 99), .truePeak(max: 99), tracks: [.video()])
                == ["!no audio", "!no audio"])
    }

    @Test func silenceAndBlack_areMaxima() throws {
        let values = Values()
        (values.silence, values.black) = (s(2), s(0.5))
        #expect(
            try evaluate(
                .silence(max: s(2)), .silence(max: s(1.999)), .black(max: s(0.5)), .black(max: .zero),
                by: values) == ["2 s", "!2 s", "0.5 s", "!0.5 s"])
        #expect(
            try evaluate(.silence(max: s(9)), tracks: [.video()])
                + evaluate(.black(max: s(9)), tracks: [.audio()]) == ["!no audio", "!no video track"])
    }

    @Test func similarity_isAMinimum() throws {
        let values = Values()
        values.similarity = .value(0.98765)
        #expect(
            try evaluate(.similarity(.ssim, min: 0.98765), .similarity(.ssim, min: 0.988), by: values) == [
                "0.9877", "!0.9877",
            ])
        values.similarity = .value(40.123)
        #expect(try evaluate(.similarity(.psnr, min: 40), by: values) == ["40.12 dB"])
        values.similarity = .value(.infinity)
        #expect(try evaluate(.similarity(.psnr, min: 60), by: values) == ["no difference"])
        values.similarity = .counts(source: 10, output: 9)
        #expect(
            try evaluate(.similarity(.ssim, min: 0), by: values) == [
                "!unknown: the output has 9 frames, its source 10"
            ])
        #expect(try evaluate(.similarity(.ssim, min: 0), tracks: [.audio()]) == ["!no video track"])
    }

    @Test func decodes_requiresNoDamage() throws {
        let values = Values()
        #expect(try evaluate(.decodes, by: values) == ["decodes completely"] && values.calls == ["decodes"])
        #expect(try evaluate(.decodes, hasDecoded: true, by: values) == ["decodes completely"])
        #expect(values.calls == ["decodes"])
        values.damage = ProgramError(message: "packet 7 is damaged")
        #expect(try evaluate(.decodes, by: values) == ["!packet 7 is damaged"])
        values.damage = CancellationError()
        #expect(throws: CancellationError.self) { try evaluate(.decodes, by: values) }
    }

    @Test func cancellation_endsTheEvaluation() throws {
        let evaluator = try evaluator([.size(max: 1)], isCancelled: { true })
        #expect(throws: CancellationError.self) { try evaluator.evaluate(.read([]), by: Values()) }
    }

    /// Messages state what was expected and measured.
    @Test func result_isDescribed() throws {
        let expectation = Expectation(check: .frames(9), location: .startOfFile("jobs.yaml"))
        var result = ExpectationResult(expectation: expectation, measured: "8", holds: false, output: nil)
        #expect(result.message == "expected \(expectation.check.text), measured 8")
        result.output = "hd"
        #expect(result.message == "hd: expected \(expectation.check.text), measured 8")
        #expect(result.summary == "\(expectation.check.subject): 8 (expected \(expectation.check.bound))")
        result.expectation.check = .decodes
        #expect(result.summary == "8")
    }

    // MARK: Media

    /// `DecodedMeasurements` decode the subject: here a test signal, which has no difference from itself.
    @Test func decodedMeasurements_readTheSubject() throws {
        let pattern = TestPattern(
            name: "smpte", width: 64, height: 48, frameRate: Rational(25, 1), duration: s(1),
            toneFrequency: 1000)
        let results = try evaluator(
            [
                .duration(is: s(1), within: .zero), .silence(max: .zero), .black(max: .zero), .decodes,
                .loudness(is: -70, within: 0), .similarity(.psnr, min: 60),
            ], source: .pattern(pattern)
        ).evaluate()
        #expect(results.map(\.holds) == [true, true, true, true, false, true], "\(results.map(\.measured))")
        // Without expectations, the subject isn't opened.
        #expect(try evaluator([]).evaluate().isEmpty)
    }

    /// Results of the filters are finite and within the limits that replies of workers must keep.
    @Test(arguments: [
        (SimilarityMetric.psnr, Double.infinity, 200.0), (.psnr, 42.5, 42.5), (.ssim, 1.0000001, 1),
        (.ssim, -0.01, 0),
        (.psnr, .nan, 0),
    ])
    func similarity_isFinite(_ metric: SimilarityMetric, _ value: Double, _ expected: Double) {
        let similarity = MeasuredSimilarity(metric: metric, value: value)
        #expect(similarity.value == expected && similarity.isValid)
    }
}
