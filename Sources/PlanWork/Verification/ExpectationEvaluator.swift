internal import Diagnostics
internal import JobPlan
package import JobSpec
internal import LibAV
internal import Media

/// The result of evaluating an expectation.
public struct ExpectationResult: Codable, Sendable {
    /// Expectation from the job file.
    package var expectation: Expectation
    /// Measured value as text, with its unit.
    public var measured: String
    /// Whether the expectation is met.
    public var holds: Bool
    /// Id of the output; nil for the only output of a job.
    public var output: String?
    /// Measured similarity to the source; nil for other expectations, and if it can't be measured.
    package var similarity: MeasuredSimilarity? = nil

    /// Measured and expected value in one line.
    public var summary: String {
        if case .decodes = expectation.check { return measured }
        return "\(expectation.check.subject): \(measured) (expected \(expectation.check.bound))"
    }
    /// Error message that states the expected and the measured value.
    public var message: String {
        "\(output.map { "\($0): " } ?? "")expected \(expectation.check.text), measured \(measured)"
    }
}

/// The evaluation of a job's expectations, on a finished output before it is published or on the source of a check.
struct ExpectationEvaluator {
    let task: OutputTask
    private var plan: OutputPlan { task.output }
    /// The output, or the source of a check.
    let subject: Asset.Source
    /// Size of the subject's file in bytes.
    let size: Int64
    /// Section to measure; the default is the whole file.
    var extent = ReadingExtent()
    /// Whether the extent was already decoded without damage.
    var hasDecoded = false
    /// Environment in which the output and its source are opened.
    let environment: MediaEnvironment
    /// Polled during measurements; returning true cancels them.
    let isCancelled: @Sendable () -> Bool

    /// Evaluates all expectations, in the job file's order.
    func evaluate() throws -> [ExpectationResult] {
        guard !plan.expectations.isEmpty else { return [] }
        let asset = Asset(subject, timing: .precise, environment: environment)
        return try evaluate(
            asset.loadSynchronously(),
            by: DecodedMeasurements(
                task: task, asset: asset, extent: extent, environment: environment, isCancelled: isCancelled))
    }

    /// Evaluates all expectations on the subject's contents, and on measurements where these don't suffice.
    func evaluate(
        _ contents: AssetContents, by measurements: some SubjectMeasurements
    ) throws -> [ExpectationResult] {
        var loudness: Loudness?
        return try plan.expectations.map { expectation in
            if isCancelled() { throw CancellationError() }
            let found = try measure(expectation.check, contents, measurements, &loudness)
            return ExpectationResult(
                expectation: expectation, measured: found.text, holds: found.holds, output: plan.id,
                similarity: found.similarity)
        }
    }

    /// The result of a measurement.
    private struct Measured {
        /// The value as text.
        let text: String
        let holds: Bool
        var similarity: MeasuredSimilarity?

        init(_ text: String, _ holds: Bool) { (self.text, self.holds) = (text, holds) }
    }

    private func measure(
        _ check: Expectation.Check, _ contents: AssetContents, _ measurements: some SubjectMeasurements,
        _ loudness: inout Loudness?
    ) throws -> Measured {
        let video = contents.tracks(of: .video).first
        let audio = contents.tracks(of: .audio).first
        switch check {
        case .duration(let expected, let within):
            let off =
                contents.duration > expected
                ? contents.duration - expected : expected - contents.duration
            return Measured("\(contents.duration) s", off <= within)
        case .frames(let count):
            guard let found = video?.sampleCount else { return Measured("no video track", false) }
            return Measured("\(found)", found == count)
        case .size(let most): return Measured(PlanText.bytes(size) + ", \(size) bytes", size <= most)
        case .property(let type, let name, let value):
            guard let track = type == .video ? video : audio else {
                return Measured("no \(type.rawValue)", false)
            }
            let found = Self.property(name, of: track) ?? "unknown"
            if name == .frameRate, let rate = Self.measuredFrameRate(of: track) {
                return Measured(Self.text(rate), Self.isRate(rate, value, over: track.timeRange.duration))
            }
            // A container stores a language as one of its codes.
            let isEqual =
                name == .language
                ? LanguageCode.canonical(found) == LanguageCode.canonical(value) : found == value
            return Measured(found, isEqual)
        case .loudness(let expected, let within):
            guard let found = try measuredLoudness(audio, measurements, &loudness)?.integrated else {
                return Measured("no audio", false)
            }
            return Measured("\((found * 10).rounded() / 10) LUFS", abs(found - expected) <= within)
        case .truePeak(let most):
            guard let found = try measuredLoudness(audio, measurements, &loudness)?.truePeak else {
                return Measured("no audio", false)
            }
            return Measured("\((found * 10).rounded() / 10) dBTP", found <= most)
        case .silence(let most):
            guard let audio else { return Measured("no audio", false) }
            let longest = try measurements.longestSilence(of: audio)
            return Measured("\(longest) s", longest <= most)
        case .black(let most):
            guard let video else { return Measured("no video track", false) }
            let longest = try measurements.longestBlack(of: video)
            return Measured("\(longest) s", longest <= most)
        case .similarity(let metric, let least):
            guard let video else { return Measured("no video track", false) }
            switch try measurements.similarity(metric, of: video) {
            case .counts(let source, let output):
                return Measured("unknown: the output has \(output) frames, its source \(source)", false)
            case .value(let value):
                var measured = Measured(metric.text(value), value >= least)
                measured.similarity = MeasuredSimilarity(metric: metric, value: value)
                return measured
            }
        case .decodes:
            if hasDecoded { return Measured("decodes completely", true) }
            do {
                try measurements.decodeAll()
                return Measured("decodes completely", true)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                return Measured("\(error)", false)
            }
        }
    }

    private func measuredLoudness(
        _ track: AssetTrack?, _ measurements: some SubjectMeasurements, _ known: inout Loudness?
    ) throws -> Loudness? {
        guard let track else { return nil }
        if known == nil { known = try measurements.loudness(of: track) }
        return known
    }

    /// Returns the frame rate, computed from the number of frames and their times. libavformat may derive another rate
    /// from rounded timestamps, such as 1000/33 for 29.97 in Matroska.
    private static func measuredFrameRate(of track: AssetTrack) -> Double? {
        guard let count = track.sampleCount, count > 0, track.timeRange.duration > .zero else {
            return track.nominalFrameRate?.double
        }
        return Double(count) / track.timeRange.duration.seconds
    }

    private static func text(_ rate: Double) -> String { "\((rate * 1000).rounded() / 1000)" }

    /// Returns whether a measured frame rate matches the expected one. A range that begins or ends inside a frame has
    /// one frame more than its duration implies.
    private static func isRate(_ rate: Double, _ expected: String, over length: MediaTime) -> Bool {
        guard let expected = Language.frameRate.parse(expected) else { return false }
        return abs(rate - expected.double) * length.seconds <= 1.01
    }

    private static func property(_ name: Expectation.TrackProperty, of track: AssetTrack) -> String? {
        switch name {
        case .codec: track.format.codec
        case .profile: track.format.profile
        case .width: "\(track.format.width)"
        case .height: "\(track.format.height)"
        case .frameRate: track.nominalFrameRate?.description
        case .pixelFormat: track.format.pixelFormat.description
        case .sampleRate: "\(track.format.sampleRate)"
        case .channels: track.format.channelLayout?.specified.description
        case .language: track.languageCode
        }
    }
}
