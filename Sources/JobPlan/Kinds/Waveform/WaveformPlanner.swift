internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The planner of a waveform output, which determines the number of samples per pixel.
struct WaveformPlanner {
    let spec: WaveformSpec
    let track: TrackPlan
    let encoder: EncoderConfiguration

    /// Maximum number of pixels of a data file, and of the data read for an image.
    private static let most: Int64 = 20_000_000
    /// Number of measured parts per column of an image, so that each column begins at the correct position to within
    /// one part.
    private static let parts: Int64 = 32

    /// Number of samples from 0 on, including silence before the track's start.
    private var samples: Int64 {
        max(
            track.expected.samples ?? 0,
            track.expected.timeRange.end.ticks(in: Rational(1, max(1, encoder.sampleRate))))
    }

    func decide() -> Decision<WaveformPlan> {
        var reasons = Reasons()
        guard let format = spec.format else { return Decision(nil, reasons) }
        let samplesPerPixel =
            format.isDrawn
            ? max(1, samples / (Int64(spec.size.width) * Self.parts))
            : Int64(spec.samplesPerPixel?.value ?? 256)
        let channels = Int64(spec.splitsChannels ? max(1, encoder.channelLayout?.channels ?? 1) : 1)
        if !format.isDrawn, samples / samplesPerPixel > Self.most / channels {
            reasons.error(
                .invalidValue,
                "the waveform would have \(samples / samplesPerPixel) pixels for \(counted(channels, "channel")); at most \(Self.most) in all channels are allowed",
                at: spec.samplesPerPixel?.range ?? spec.range,
                help: "use `samples_per_pixel: \(samples / (Self.most / channels) + 1)` or more")
        }
        return Decision(
            reasons.hasErrors
                ? nil
                : WaveformPlan(
                    format: format, size: spec.size,
                    reading: WaveformReader.Settings(
                        samplesPerPixel: Int(samplesPerPixel), splitsChannels: spec.splitsChannels,
                        measuresPower: format.isDrawn && spec.measure == .rms),
                    bits: spec.bits, background: spec.background, color: spec.color, measure: spec.measure,
                    location: spec.range), reasons)
    }

    /// Returns the approximate size of the file in bytes.
    func bytes(of plan: WaveformPlan) -> Int64 {
        let channels = Int64(plan.reading.splitsChannels ? encoder.channelLayout?.channels ?? 2 : 1)
        let values = 2 * channels * (samples / Int64(max(1, plan.reading.samplesPerPixel)))
        return switch plan.format {
        case .json: values * (plan.bits == .eight ? 4 : 6) + 120
        case .dat: values * Int64(plan.bits.rawValue / 8) + 24
        case .svg: Int64(plan.size.width) * channels * 20 + 300
        case .png: Int64(plan.size.width) * Int64(plan.size.height) / 20 + 1000
        }
    }
}

extension OutputPlanner {
    mutating func setWaveform(_ spec: WaveformSpec, of plan: inout OutputPlan) {
        guard let track = plan.tracks.first, case .encode(var encoding) = track.action else { return }
        let planner = WaveformPlanner(spec: spec, track: track, encoder: encoding.encoder)
        guard let waveform = reasons.take(planner.decide()) else { return }
        encoding.settings.removeAll { $0.key == "codec" }
        plan.tracks[0].action = .encode(encoding)
        plan.kind = .waveform(waveform)
        plan.expectedDuration = .zero
        plan.expectedSize = planner.bytes(of: waveform)
    }
}
