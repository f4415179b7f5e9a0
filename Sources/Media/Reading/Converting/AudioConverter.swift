internal import DequeModule
internal import LibAV

/// Converts audio to the requested format (libswresample). The output has exactly the duration of the input. Input
/// times count from the start of the range, output times are on the asset's time line.
final class AudioConverter: FrameStage {
    private let settings: AudioOutputSettings
    private let start: MediaTime
    /// Whether silence is appended if filters returned fewer samples than they received.
    private let isFilled: Bool

    /// Formats of the resampler's input and output.
    private var input: AudioFormat?
    private var output: AudioFormat?
    private var resampler: Resampler?
    /// Time of the first sample, and its time base.
    private var first: (time: Int64, unit: Rational)?
    /// Number of samples returned so far, at the output's rate.
    private var returnedSamples: Int64 = 0
    /// End of the source; nil until it is known, which is before the first frame if filters buffer all frames.
    private var sourceEnd: MediaTime?
    /// Number of samples to return in total; nil until it is known.
    private var target: Int64? {
        guard let first, let sourceEnd, resampler != nil || isFilled else { return nil }
        return first.unit.rescale(sourceEnd.ticks(in: first.unit) - first.time, to: timeBase)
    }
    private var hasFinished = false
    private var ready = UniqueDeque<Frame>()

    init(settings: AudioOutputSettings, start: MediaTime, isFilled: Bool) {
        self.settings = settings
        self.start = start
        self.isFilled = isFilled
    }

    var timeBase: Rational { Rational(1, max(1, output?.sampleRate ?? 1)) }

    func push(_ frame: consuming Frame, in timeBase: Rational) throws {
        if first == nil { first = (frame.pts, timeBase) }
        let format = AudioFormat(
            sampleFormat: frame.sampleFormat, sampleRate: frame.sampleRate,
            layout: frame.channelLayout.specified)
        if format != input { try change(to: format) }
        guard resampler != nil else { return ready.append(frame) }
        guard let converted = try resampler?.convert(frame), converted.sampleCount > 0 else { return }
        ready.append(converted)
    }

    /// Replaces the resampler after a change of the input format; samples buffered in the old resampler are returned
    /// first.
    private func change(to format: AudioFormat) throws {
        if let rest = try resampler?.drain(), rest.sampleCount > 0 { ready.append(rest) }
        input = format
        let wanted =
            output
            ?? AudioFormat(
                sampleFormat: settings.sampleFormat ?? format.sampleFormat,
                sampleRate: settings.sampleRate ?? format.sampleRate,
                layout: (settings.layout ?? format.layout).specified)
        output = wanted
        resampler = nil
        if wanted != format { resampler = try Resampler.open(from: format, to: wanted) }
    }

    func sourceEnds(at end: MediaTime) { sourceEnd = end }

    func finish(at end: MediaTime?) { hasFinished = true }

    func pull() throws -> Frame? {
        while let frame = ready.popFirst() {
            guard isFilled, let target else { return stamped(frame) }
            // Samples that a filter appends after the source's end are dropped.
            let remaining = target - returnedSamples
            guard remaining > 0 else { continue }
            if Int64(frame.sampleCount) > remaining { frame.narrow(start: 0, count: Int(remaining)) }
            return stamped(frame)
        }
        guard hasFinished, let output, let target, target > returnedSamples else { return nil }
        let missing = target - returnedSamples
        if let rest = try resampler?.drain(), rest.sampleCount > 0 {
            if Int64(rest.sampleCount) > missing { rest.narrow(start: 0, count: Int(missing)) }
            return stamped(rest)
        }
        return stamped(try Frame.silence(output, samples: Int32(min(missing, 4096))))
    }

    private func stamped(_ frame: consuming Frame) -> Frame {
        let begin = first.map { $0.unit.rescale($0.time, to: timeBase) } ?? 0
        frame.pts = begin + start.ticks(in: timeBase) + returnedSamples
        frame.duration = Int64(frame.sampleCount)
        returnedSamples += frame.duration
        return frame
    }
}
