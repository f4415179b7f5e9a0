package import Diagnostics
package import JobSpec
package import LibAV
package import Media

/// The similarity of a finished track to the encoder's input, for which `crf` is searched.
package struct TargetQuality: Codable, Hashable, Sendable {
    package var metric: SimilarityMetric
    package var pool: SimilarityPool
    /// SSIM from 0 to 1, or PSNR in dB.
    package var value: Double
    /// Accepted difference from `value`.
    package var within: Double
    /// Minimum `crf`, in thousandths.
    package var lowest: Int
    /// Maximum `crf`, in thousandths.
    package var highest: Int
    /// Smallest change of `crf`, in thousandths.
    package var step: Int
    /// Change of `crf` that halves the bit rate.
    package var stepsPerHalf: Double
    /// `crf` of the first probe, in thousandths.
    package var first: Int
    /// Ranges of the source that probes encode; empty for the whole range that the output reads.
    package var windows: [TimeRange]
    /// Location of `quality` in the job file.
    package var location: SourceRange

    /// Duration of a window in seconds.
    static let windowSeconds = 0.8
    /// Start of a window that isn't measured, in seconds: the keyframe raises the similarity of the first frames.
    static let settlingSeconds = 0.4

    /// Maximum number of windows.
    package static let maximumWindows = 32

    /// Creates the target of an encoding; nil if the encoder has no constant quality. `ranges` are the ranges of the source
    /// that the output reads, in order; their limits and all frames are at multiples of `tick`.
    package init?(
        _ spec: Located<QualitySpec>, encoder: EncoderModel, ranges: [TimeRange], tick: Rational
    ) {
        guard let constant = encoder.rate.constantQuality else { return nil }
        let quality = spec.value
        (metric, pool) = (quality.metric, quality.pool)
        (value, within) = (quality.value, quality.within)
        // At 0, encoders are lossless or choose a value themselves.
        let bounds = quality.crf ?? max(1, constant.minimum) * 1000...constant.maximum * 1000
        (lowest, highest) = (bounds.lowerBound, bounds.upperBound)
        step = constant.isWhole ? 1000 : 250
        stepsPerHalf = constant.stepsPerHalf
        first = min(highest, max(lowest, constant.defaultValue * 1000))
        windows = Self.windows(in: ranges, tick: tick)
        location = spec.range
    }

    /// Returns windows that are distributed evenly over the ranges, at multiples of `tick`; none if they would be a large part
    /// of the ranges.
    package static func windows(in ranges: [TimeRange], tick: Rational) -> [TimeRange] {
        let total = ranges.reduce(0) { $0 + $1.duration.seconds }
        guard total > 30 else { return [] }
        // The error of the estimate depends on their number, and hardly on their duration.
        let count = min(maximumWindows, max(8, Int(min(total, 1e6) / 10)))
        return (0..<count).compactMap { index in
            var offset = (Double(index) + 0.5) * total / Double(count) - windowSeconds / 2
            for range in ranges {
                let length = range.duration.seconds
                if offset < length {
                    let duration = min(windowSeconds, length)
                    guard let start = whole(max(0, min(offset, length - duration)), tick),
                        let ticks = whole(duration, tick)
                    else { return nil }
                    return TimeRange(
                        start: range.start + MediaTime(ticks: start, timeBase: tick),
                        duration: MediaTime(ticks: max(1, ticks), timeBase: tick))
                }
                offset -= length
            }
            return nil
        }
    }

    /// Returns windows that start at most their duration after the last keyframe before them, except where that isn't in the
    /// same one of some ranges, or in the window before. Without ranges, all keyframes are possible.
    ///
    /// The frames between keyframe and window are decoded in vain. Frames directly after keyframes of a source aren't
    /// representative: in two compilations of 130 and 145 s, their SSIM exceeded the mean by 0.002 to 0.015 with libx264 at
    /// `crf` 29 and 40; in windows that start at most a second after them, by 0 to 0.0035.
    package static func windows(
        _ windows: [TimeRange], near keyFrames: [MediaTime?], in ranges: [TimeRange]
    ) -> [TimeRange] {
        var end = MediaTime.zero
        return zip(windows, keyFrames).map { window, keyFrame in
            let range = ranges.first { $0.start <= window.start && window.start < $0.end }
            // Windows are in the order of the ranges, which need not be that of the source.
            if window.start < end { end = range?.start ?? .zero }
            let earliest = max(end, range?.start ?? .zero)
            var start = window.start
            if let keyFrame, keyFrame >= earliest {
                start = min(start, keyFrame + window.duration)
            }
            end = start + window.duration
            return TimeRange(start: start, duration: window.duration)
        }
    }

    /// Every fourth window, for the first probes; none if there are no windows.
    package var fewWindows: [TimeRange] {
        windows.indices.filter { $0 % 4 == 2 }.map { windows[$0] }
    }

    /// Returns the starts of some windows that aren't measured, on the time line of the windows one after the other.
    package static func settling(in windows: [TimeRange]) -> [TimeRange] {
        var start = MediaTime.zero
        return windows.map { window in
            defer { start = start + window.duration }
            return TimeRange(
                start: start, duration: min(window.duration, MediaTime(seconds: settlingSeconds)))
        }
    }

    /// Returns the number of ticks in a duration in seconds, rounded down but for the error of floating-point numbers; nil if
    /// it is out of range.
    private static func whole(_ seconds: Double, _ tick: Rational) -> Int64? {
        Int64(exactly: (seconds / tick.double + 1e-6).rounded(.down))
    }

    /// The target for the user, such as `ssim 0.985 (mean, within 0.002)`.
    package var description: String {
        "\(metric.rawValue) \(metric.text(value)) (\(pool.rawValue), within \(metric.text(within)))"
    }

    /// The search for the user, such as `crf 0 to 51, probed in 16 windows of 1.25 s`.
    package var search: String {
        let extent =
            windows.isEmpty
            ? "the whole range" : "\(counted(windows.count, "window")) of \(Self.windowSeconds) s"
        return "crf \(ThousandthsText.text(lowest)) to \(ThousandthsText.text(highest)), probed in \(extent)"
    }
}

extension TrackPlan.Encoding {
    /// Sets `crf` of the encoder, in thousandths.
    mutating func take(crf: Int) {
        guard let model = encoder.model else { return }
        if case .option(let key)? = model.rate.constantQuality?.option {
            encoder.options.removeAll { $0.key == key }
        }
        model.set(.crf(crf), in: &encoder)
    }
}

extension OutputPlan {
    /// Quality that a track of the finished file must meet, with the index of the track; nil without one.
    package var targetQuality: (quality: TargetQuality, track: Int)? {
        firstEncoded(with: \.targetQuality).map { ($0.value, $0.track) }
    }
}

extension JobPlan {
    /// Returns the plan with other values of `crf` of the tracks with a target quality, in thousandths by output index.
    package func with(crfs: [Int: Int]) -> JobPlan {
        changing(crfs, ofTracksWith: \.targetQuality) { $0.take(crf: $1) }
    }

    /// Returns the plan of a probe: the track of an output with a target quality alone, encoded in some windows; the whole of it
    /// without windows.
    package func probe(of output: Int, crf: Int, in windows: [TimeRange]) -> JobPlan? {
        guard let (_, track) = outputs[output].targetQuality else { return nil }
        var plan = with(crfs: [output: crf])
        var only = plan.outputs[output].tracks[track]
        (only.transform, only.metadata) = (nil, [])
        plan.outputs[output].tracks = [only]
        plan.outputs[output].container = ContainerType.matroska.name
        plan.outputs[output].kind = .media(MediaPlan())
        if !windows.isEmpty {
            plan.outputs[output].expectedDuration = windows.reduce(.zero) { $0 + $1.duration }
            let input = outputs[output].input
            plan.inputs[input].range = nil
            plan.inputs[input].joinedRanges = windows
        }
        return plan
    }

    /// Whether the work requires a scratch file: for a first pass or for probes.
    package var needsScratch: Bool { hasTwoPasses || outputs.contains { $0.targetQuality != nil } }
}
