import Diagnostics
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

@testable import JobPlan

/// Tests the predicted frames, samples and time ranges of output tracks.
@Suite struct ExpectationPlannerTests {
    private func expectation(
        _ track: TrackDescription, _ action: TrackPlan.Action = .copy, in container: String = "mp4",
        _ ranges: TimeRange...
    ) throws -> TrackPlan.Expectation {
        ExpectationPlanner(track: track, action: action, container: try .required(container))
            .expectation(of: ranges)
    }

    private static func encoded(
        _ track: TrackDescription, _ change: (inout TrackPlan.Encoding) -> Void = { _ in }
    )
        -> TrackPlan.Action
    {
        track.mediaType == .video
            ? .encoded(track, as: "h264", by: "libx264", change)
            : .encoded(track, as: "flac", by: "flac", change)
    }

    @Test func wholeVideoHasTheFramesOfItsSource() throws {
        let rated = try expectation(.video())
        #expect(rated.frames == 250 && rated.timeRange == span(0, 10) && rated.samples == nil)
        let counted = try expectation(.video { $0.sampleCount = 123 })
        #expect(counted.frames == 123 && counted.isExact)
        let unknown = try expectation(.video(rate: nil))
        #expect(unknown.frames == nil && !unknown.isExact)
    }

    /// The frame shown at the start of a range is its first frame; the last frame ends with the range.
    @Test(arguments: [
        (span(1, 3), 50, span(0, 2)), (span(0.5, 1.5), 26, span(0, 1)), (span(0.99, 1), 1, span(0, 0.01)),
        (span(9.9, 10), 3, span(0, 0.1)), (span(1.01, 1.02), 1, span(0, 0.01)),
    ])
    func rangesContainThePresentedFrames(_ range: TimeRange, _ frames: Int, _ shown: TimeRange) throws {
        let expected = try expectation(.video(), Self.encoded(.video()), range)
        #expect(expected.frames == frames && expected.timeRange == shown && expected.isExact)
    }

    /// Counts are estimates for a variable frame rate; at a requested rate, frames are counted from 0.
    @Test func frameCountsAreEstimatedIfTheRateChanges() throws {
        let variable = TrackDescription.video { $0.hasConstantFrameRate = false }
        #expect(try !expectation(variable, .copy, span(1, 3)).isExact)
        let action = Self.encoded(.video()) { $0.video?.frameRate = Rational(50, 1) }
        let faster = try expectation(.video(), action, span(1, 3))
        #expect(faster.frames == 100 && !faster.isExact)
        #expect(try expectation(.video(), action, span(1, 1.001)).frames == 1)
    }

    /// At a requested rate, a track that starts after zero is extended to zero by repeating its first frame.
    @Test func requestedRatesBeginAtZero() throws {
        let late = TrackDescription.video(over: span(1, 5))
        let action = Self.encoded(late) { $0.video?.frameRate = Rational(25, 1) }
        let whole = try expectation(late, action)
        #expect(whole.timeRange == span(0, 5) && whole.frames == 125)
        let part = try expectation(late, action, in: "mp4", span(0, 3))
        #expect(part.timeRange == span(0, 3) && part.frames == 75)
        #expect(try expectation(late, action, in: "mp4", span(0, 0.5)).timeRange.duration == .zero)
    }

    /// A track that starts after zero keeps its offset, unless the container has no timestamps.
    @Test func startOffsetsAreKept() throws {
        let late = TrackDescription.audio(1, over: span(0.5, 10))
        #expect(try expectation(late).timeRange == span(0.5, 10))
        #expect(try expectation(late, .copy, span(0, 2)).timeRange == span(0.5, 2))
        #expect(try expectation(late, .copy, span(1, 2)).timeRange == span(0, 1))
        let flac = try expectation(late, Self.encoded(late), in: "flac", span(0, 2))
        #expect(flac.timeRange == span(0, 2) && flac.samples == 96_000)
    }

    @Test func encodedAudioIsExactToTheSample() throws {
        let whole = try expectation(.audio(), Self.encoded(.audio()))
        #expect(whole.samples == 480_000 && whole.isExact && whole.frames == nil)
        let resampled = Self.encoded(.audio()) { $0.encoder.sampleRate = 44_100 }
        #expect(try expectation(.audio(), resampled, span(1, 3)).samples == 88_200)
        #expect(try expectation(.audio(), .copy, span(1, 3)).samples == nil)
        // A sample at the end of a range belongs to it if the sample starts in it.
        let odd = TimeRange(start: .zero, duration: MediaTime(value: 1001, timescale: 30_000))
        #expect(try expectation(.audio(), Self.encoded(.audio()), odd).samples == 1602)
    }

    @Test func rangesBeyondTheTrackAreEmpty() throws {
        let short = TrackDescription.audio(1, over: span(0, 2))
        #expect(try expectation(short, .copy, span(3, 5)).timeRange.duration == .zero)
        #expect(try expectation(short, .copy, span(1, 5)).timeRange == span(0, 1))
    }

    /// Joined ranges follow each other; a range without samples is a gap.
    @Test func joinedRangesAreSummed() throws {
        let video = try expectation(.video(), Self.encoded(.video()), span(6, 8), span(1, 2))
        #expect(video.frames == 75 && video.timeRange == span(0, 3) && video.isExact)
        let audio = try expectation(.audio(), Self.encoded(.audio()), span(6, 8), span(1, 2))
        #expect(audio.samples == 144_000 && !audio.isExact)
        let short = try expectation(.audio(1, over: span(0, 2)), .copy, span(5, 6), span(1, 2))
        #expect(short.timeRange == span(1, 2))
    }

    @Test func smartCutsCountTheirFrames() throws {
        let action = TrackPlan.Action.smartCut(.cut(head: 5, copied: 90, tail: 3))
        let expected = try expectation(.video { $0.hasConstantFrameRate = false }, action, span(1, 5))
        #expect(expected.frames == 98 && expected.isExact)
    }
}

/// Predicted descriptions of outputs, with which the jobs that read them are planned.
@Suite struct PredictedSourceTests {
    private func description(_ plan: TrackPlan, ranges: [TimeRange] = []) throws -> TrackDescription {
        let snippet = try JobSnippet(rule: "{ video: first, copy: true }")
        let extent = ranges.count > 1 ? PlannedExtent(joined: ranges) : PlannedExtent(range: ranges.first)
        let input = InputPlan(job: snippet.job, ResolvedInput(.file, .file(plan.source)), extent)
        let task = OutputTask(
            job: "one", file: "jobs.yaml", input: input, output: .media([plan], of: snippet))
        return try #require(SourceDescription(predictedBy: task).tracks.first)
    }

    /// If a range starts within a frame, its first frame is shorter than the others, so the rate isn't constant.
    @Test(
        arguments: [
            ([], true), ([span(1, 3)], true), ([span(1.01, 3)], false), ([span(1, 3.01)], true),
            ([span(1, 2), span(3, 4)], true), ([span(1, 2.01), span(3, 4)], false),
        ] as [([TimeRange], Bool)])
    func framesOfARangeHaveEqualDurations(_ ranges: [TimeRange], _ isConstant: Bool) throws {
        let track = TrackDescription.video()
        var plan = TrackPlan.planned(track, .encoded(track, as: "h264", by: "libx264"))
        plan.expected.isExact = true
        #expect(try description(plan, ranges: ranges).hasConstantFrameRate == isConstant)
        let rated = TrackPlan.planned(
            track, .encoded(track, as: "h264", by: "libx264") { $0.video?.frameRate = Rational(25, 1) })
        #expect(try description(rated, ranges: ranges).hasConstantFrameRate)
    }

    /// An encoded track has the encoder's format and the output's tags.
    @Test func encodingsHaveTheEncodersFormat() throws {
        let track = TrackDescription.video(codec: "ffv1") { $0.language = "eng" }
        var plan = TrackPlan.planned(
            track,
            .encoded(track, as: "h264", by: "libx264") { ($0.encoder.width, $0.encoder.height) = (640, 360) })
        plan.metadata = [MetadataEntry(key: "handler_name", value: "Main")]
        let found = try description(plan)
        #expect(found.codec == "h264" && found.width == 640 && found.height == 360 && found.isDecodable)
        #expect(found.language == nil && found.title == "Main" && found.index == 0)
        let copied = try description(.planned(track))
        #expect(copied.codec == "ffv1" && copied.timeRange == span(0, 10))
    }
}

/// Expectations that contradict the plan are errors.
@Suite struct ExpectationForecastTests {
    private func findings(
        _ expect: String, _ tracks: [TrackPlan], skips: Bool = false, limit: Int64? = nil
    ) throws -> (findings: [String], messages: [String]) {
        let snippet = try JobSnippet(rule: "{ video: first, copy: true }", "expect: \(expect)")
        let input = InputPlan(
            job: snippet.job, ResolvedInput(.file, .file(.video(), .audio())), PlannedExtent())
        var task = OutputTask(
            job: "one", file: "jobs.yaml", input: input,
            output: .media(tracks, of: snippet))
        task.output.media?.sizeLimit = limit
        if skips { task.input.damagePolicy = .skip }
        var sink = DiagnosticSink()
        ExpectationForecast(task).report(into: &sink)
        return (snippet.findings(sink), sink.diagnostics.map(\.message))
    }

    private static let video = TrackPlan.planned(.video { $0.sampleCount = 250 })
    private static let encoded = TrackPlan.planned(
        .audio(), .encoded(.audio(), as: "flac", by: "flac"))
    private static let opus = TrackPlan.planned(
        .audio(), .encoded(.audio(), as: "opus", by: "libopus"))

    /// A value that the plan determines must equal the expected one.
    @Test(arguments: [
        ("{ duration: 10s }", nil), ("{ duration: { is: 10.2s, within: 0s } }", nil),
        ("{ duration: { is: 11s, within: 1s } }", nil), ("{ duration: 12s }", "10 s"),
        ("{ frames: 250 }", nil),
        ("{ frames: 251 }", "250"), ("{ video: { codec: h264 } }", nil),
        ("{ video: { codec: hevc } }", "h264"),
        ("{ video: { width: 1920 } }", "1280"), ("{ video: { height: 720 } }", nil),
        // For a copy, only the packets determine the pixel format.
        ("{ video: { pixel_format: yuv444p } }", nil), ("{ audio: { codec: flac } }", nil),
        ("{ audio: { sample_rate: 44100 } }", "48000"), ("{ audio: { channels: mono } }", "stereo"),
        ("{ size: { max: 1kB } }", nil), ("{ decodes: true }", nil),
        ("{ loudness: { integrated: { is: -16, within: 1 } } }", nil),
    ])
    func contradictionsAreErrors(_ expect: String, _ found: String?) throws {
        let (findings, messages) = try findings(expect, [Self.video, Self.encoded])
        #expect(findings.count == (found == nil ? 0 : 1), "\(messages)")
        if let found {
            #expect(findings[0].hasPrefix("expectation-impossible at "))
            #expect(messages[0].hasSuffix("but the plan produces \(found)"), "\(messages)")
        }
    }

    /// Opus is always decoded at 48 kHz, regardless of the job's setting.
    @Test func expectedSampleRateOfOpusIsIgnored() throws {
        #expect(try findings("{ audio: { sample_rate: 44100 } }", [Self.opus]).findings == [])
    }

    /// If damage is skipped or a size limit is set, the duration isn't certain.
    @Test func shortenedOutputsHaveNoCertainDuration() throws {
        for expect in ["{ duration: 12s }", "{ frames: 251 }"] {
            #expect(try findings(expect, [Self.video], skips: true).findings == [])
            #expect(try findings(expect, [Self.video], limit: 1000).findings == [])
        }
    }

    @Test(arguments: [
        ("{ frames: 1 }", "no video"), ("{ video: { codec: h264 } }", "no video"),
        ("{ black: { max: 1s } }", "no video"), ("{ similarity: { ssim: { min: 0.9 } } }", "no video"),
    ])
    func expectationsOfMissingTracksAreErrors(_ expect: String, _ found: String) throws {
        let (_, messages) = try findings(expect, [Self.encoded])
        #expect(messages.count == 1 && messages[0].hasSuffix("but the plan produces \(found)"))
        let audio = try findings("{ silence: { max: 1s } }", [Self.video]).messages
        #expect(audio.count == 1 && audio[0].hasSuffix("but the plan produces no audio"))
    }
}
