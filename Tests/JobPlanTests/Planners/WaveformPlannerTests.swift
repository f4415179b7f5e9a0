import Diagnostics
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

@testable import JobPlan

/// Tests the number of samples per pixel of waveforms, and its limits.
@Suite struct WaveformPlannerTests {
    private func decide(
        _ waveform: String, of track: TrackDescription = .audio(), to destination: String
    ) throws -> (planner: WaveformPlanner, decision: Decision<WaveformPlan>, findings: [String]) {
        let snippet = try JobSnippet("waveform: \(waveform)", to: destination)
        guard case .waveform(let spec) = snippet.output.kind else {
            throw ProgramError(message: "no waveform")
        }
        let plan = TrackPlan.planned(track, .encoded(track, as: "waveform", by: "pcm_s16le"))
        guard case .encode(let encoding) = plan.action else { throw ProgramError(message: "no encoding") }
        let planner = WaveformPlanner(spec: spec, track: plan, encoder: encoding.encoder)
        let decision = planner.decide()
        return (planner, decision, snippet.findings(decision.reasons))
    }

    /// With 480,000 samples, an image measures at least 32 sections per column, and data have 256 samples per pixel.
    @Test(arguments: [
        ("{}", "o.png", 480_000 / (1200 * 32)), ("{ size: 100x50 }", "o.svg", 150),
        ("{}", "o.json", 256), ("{ samples_per_pixel: 1000 }", "o.dat", 1000),
    ])
    func samplesPerPixelFitTheFormat(_ waveform: String, _ destination: String, _ expected: Int) throws {
        let (_, decision, findings) = try decide(waveform, to: destination)
        let plan = try #require(decision.value)
        #expect(plan.reading.samplesPerPixel == expected && findings == [])
        #expect(!plan.reading.splitsChannels && !plan.reading.measuresPower)
    }

    /// A source shorter than the image has one sample per section.
    @Test func shortSourcesHaveOneSamplePerPart() throws {
        let (_, decision, _) = try decide("{}", of: .audio(1, over: span(0, 0.1)), to: "o.png")
        #expect(decision.value?.reading.samplesPerPixel == 1)
    }

    @Test func powerIsMeasuredForImages() throws {
        #expect(try decide("{ measure: rms }", to: "o.png").decision.value?.reading.measuresPower == true)
        #expect(
            try decide("{ split_channels: true }", to: "o.png").decision.value?.reading.splitsChannels == true
        )
    }

    /// At most 20 million pixels in all channels are allowed; the help contains the smallest allowed
    /// `samples_per_pixel`.
    @Test func largeDataAreErrors() throws {
        let day = TrackDescription.audio(1, over: span(0, 86_400))
        let keys = "{ samples_per_pixel: 300, split_channels: true }"
        let (_, decision, findings) = try decide(keys, of: day, to: "o.json")
        #expect(decision.value == nil && findings == ["invalid-value at 300"])
        #expect(decision.reasons.messages[0].hasSuffix("at most 20000000 in all channels are allowed"))
        // 86,400 s · 48,000 Hz / 10 million pixels per channel = 414.72.
        #expect(decision.reasons.diagnostics.diagnostics[0].help == "use `samples_per_pixel: 415` or more")
        let fitting = "{ samples_per_pixel: 415, split_channels: true }"
        #expect(try decide(fitting, of: day, to: "o.json").findings == [])
        #expect(try decide("{}", of: day, to: "o.png").findings == [])
        #expect(
            try decide("{}", of: .audio(1, over: span(0, 200_000)), to: "o.dat").findings == [
                "invalid-value at {}"
            ])
    }

    /// A `dat` file has a header of 24 bytes, and two values per pixel.
    @Test func sizesAreEstimated() throws {
        let (planner, decision, _) = try decide("{ bits: 8 }", to: "o.dat")
        let plan = try #require(decision.value)
        #expect(planner.bytes(of: plan) == 24 + 2 * (480_000 / 256))
        for name in ["o.png", "o.svg", "o.json"] {
            let (planner, decision, _) = try decide("{}", to: name)
            #expect(planner.bytes(of: try #require(decision.value)) > 0)
        }
    }
}

/// Tests the estimated sizes of outputs.
@Suite struct SizeEstimateTests {
    private static let video = TrackDescription.video { $0.bitRate = 800_000 }
    private static let audio = TrackDescription.audio { $0.bitRate = 128_000 }

    private func encoded(
        _ track: TrackDescription, _ encoder: String, _ change: (inout TrackPlan.Encoding) -> Void = { _ in }
    ) -> TrackPlan {
        .planned(track, .encoded(track, as: encoder, by: encoder, change))
    }

    /// Copies have the source's bit rate, encodes the requested one.
    @Test func knownBitRatesAreMultipliedByTheDuration() {
        #expect(SizeEstimate.bytes(of: [.planned(Self.video)]) == 1_000_000)
        #expect(SizeEstimate.bytes(of: [.planned(Self.video), .planned(Self.audio)]) == 1_160_000)
        let requested = encoded(Self.video, "libx264") { $0.encoder.bitRate = 400_000 }
        #expect(SizeEstimate.bytes(of: [requested]) == 500_000)
        #expect(SizeEstimate.bytes(of: [.planned(Self.video, .read(decodes: true))]) == 0)
        #expect(SizeEstimate.bytes(of: []) == 0)
    }

    /// The size of a copy with an unknown bit rate isn't estimated; a subtitle track counts as a small size.
    @Test func unknownBitRatesHaveNoEstimate() {
        #expect(SizeEstimate.bytes(of: [.planned(.video())]) == nil)
        #expect(SizeEstimate.bytes(of: [.planned(Self.video), .planned(.audio())]) == nil)
        #expect(SizeEstimate.bytes(of: [.planned(.other())]) == 125)
    }

    /// At constant quality, six steps of H.264's CRF halve the size, and the estimate is at most four times the
    /// source's size.
    @Test func constantQualityDependsOnTheScale() throws {
        func bytes(_ crf: String, rate: Int64 = 0) throws -> Int64 {
            var track = TrackDescription.video()
            track.bitRate = rate
            return try #require(
                SizeEstimate.bytes(of: [
                    encoded(track, "libx264") { $0.encoder.options = [MetadataEntry(key: "crf", value: crf)] }
                ]))
        }
        let reference = try bytes("23")
        // 0.08 bits per pixel.
        #expect(reference == Int64(1280 * 720 * 25 * 10) / 100)
        #expect(try bytes("29") == reference / 2 && bytes("17") == reference * 2)
        // Each step has the same effect.
        for crf in 12..<34 {
            let ratio = Double(try bytes("\(crf)")) / Double(try bytes("\(crf + 1)"))
            #expect(abs(ratio - 1.1225) < 0.001)
        }
        #expect(try bytes("17", rate: 100_000) == 500_000)
    }

    @Test func losslessAudioIsSmallerThanItsSamples() throws {
        let flac = try #require(SizeEstimate.bytes(of: [encoded(.audio(format: "s16"), "flac")]))
        #expect(flac > 480_000 && flac < 480_000 * 4)
        #expect(SizeEstimate.bytes(of: [encoded(.audio(format: "s16"), "pcm_s16le")]) == 1_920_000)
    }

    /// First-pass statistics take 200 bytes per frame and two bytes per macroblock.
    @Test func twoPassesWriteStatistics() {
        let once = encoded(Self.video, "libx264")
        let twice = encoded(Self.video, "libx264") { $0.hasTwoPasses = true }
        #expect(SizeEstimate.passStatistics(of: [once]) == 0)
        #expect(SizeEstimate.passStatistics(of: [twice]) == 250 * (200 + 2 * 80 * 45))
    }
}
