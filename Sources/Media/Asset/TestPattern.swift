public import LibAV

/// A generated source: video from one of libavfilter's test sources, with an optional sine tone.
public struct TestPattern: Hashable, Codable, Sendable {
    /// Name of the test pattern, one of `sources`.
    public var name: String
    /// Width in pixels.
    public var width: Int
    /// Height in pixels.
    public var height: Int
    /// Frames per second.
    public var frameRate: Rational
    /// Duration of the pattern.
    public var duration: MediaTime
    /// Frequency of the tone in Hz; nil for no audio.
    public var toneFrequency: Int?

    /// Creates a pattern; `toneFrequency` is nil for no audio.
    public init(
        name: String, width: Int, height: Int, frameRate: Rational, duration: MediaTime, toneFrequency: Int?
    ) {
        self.name = name
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.duration = duration
        self.toneFrequency = toneFrequency
    }

    /// The available test patterns, and their libavfilter sources.
    public static let sources: [(name: String, filter: String)] = [
        ("smpte", "smptebars"), ("smptehd", "smptehdbars"), ("pal75", "pal75bars"), ("pal100", "pal100bars"),
        ("testsrc", "testsrc2"), ("black", "color"),
    ]

    /// Sample rate of the tone, in Hz.
    package static let toneSampleRate: Int32 = 48_000

    var videoSteps: [FilterStep] {
        let filter = TestPattern.sources.first { $0.name == name }?.filter ?? "smptebars"
        var source = FilterStep(filter, ["size": "\(width)x\(height)", "rate": "\(frameRate)"])
        if filter == "color" { source.options.append(MetadataEntry(key: "color", value: "black")) }
        return [source, FilterStep("format", ["pix_fmts": "yuv420p"])]
    }

    var audioSteps: [FilterStep] {
        [
            FilterStep(
                "sine",
                [
                    "frequency": "\(toneFrequency ?? 1000)", "sample_rate": "\(TestPattern.toneSampleRate)",
                    "samples_per_frame": "1024",
                ]),
            FilterStep("aformat", ["sample_fmts": "s16", "channel_layouts": "mono"]),
        ]
    }

    var frameCount: Int64 { duration.ticks(in: frameRate.inverted, rounding: .up) }
    var sampleCount: Int64 { duration.ticks(in: Rational(1, TestPattern.toneSampleRate)) }
}
