internal import LibAV

/// Decoded sound of a range in the form asked for, exact to the sample.
///
/// Times become sample positions on the asset's time line. What lies before time zero, before the range or
/// past the edit list's end is cut; gaps inside become silence, overlaps are cut, so that the sound stays
/// where it belongs. A track that begins late is vended late, not filled.
final class AudioProducer: SampleProducer {
    private let frames: any FrameStream
    private let context: ProducerContext
    private let settings: AudioOutputSettings

    /// The rate that positions are counted in: the first frame's, which for HE-AAC is twice the header's.
    private var rate: Int32 = 0
    private var start: Int64 = 0
    /// Nothing before is heard.
    private var lowest: Int64 = 0
    private var end: Int64?
    private var zero: Int64 = 0
    private var tolerance: Int64 = 0
    /// The position where the next sample is expected.
    private var position: Int64?
    private var firstPosition: Int64 = 0

    /// What the source's sound is now, and what goes into the resampler.
    private var source: AudioFormat?
    private var input: AudioFormat?
    /// A frame whose turn came while the old resampler's rest came out.
    private var resampled: Frame?
    private var output: AudioFormat?
    private var resampler: Resampler?
    private var filter: AudioFilterStage?
    /// Samples taken in and vended, for an exact end.
    private var taken: Int64 = 0
    private var vended: Int64 = 0
    private var isDraining = false
    private var isFinished = false
    private var pendingSilence: Int64 = 0
    private var pendingFrame: Frame?
    var droppedSamples: Int { frames.droppedSamples }
    private var ownChange: MediaTime?
    var formChange: MediaTime? { ownChange ?? frames.formChange }

    init(frames: any FrameStream, context: ProducerContext, settings: AudioOutputSettings) {
        self.frames = frames
        self.context = context
        self.settings = settings
        filter = settings.filters.map { AudioFilterStage(chain: $0) }
    }

    func next() throws -> SampleSupply {
        while !isFinished {
            if let frame = resampled.take() {
                if let sample = try resample(frame) { return .sample(sample) }
                continue
            }
            if let frame = try filter?.receive() {
                if let sample = try resample(frame) { return .sample(sample) }
                continue
            }
            if pendingSilence > 0 {
                if let sample = try silence() { return .sample(sample) }
                continue
            }
            if let frame = pendingFrame.take() {
                if let sample = try convert(frame) { return .sample(sample) }
                continue
            }
            if isDraining {
                if let filter, !filter.isFinished {
                    try filter.finish()
                    continue
                }
                return SampleSupply(try drained())
            }
            let frame = try Frame()
            switch try frames.next(into: frame) {
            case .frame: try place(frame)
            case .pending: return .pending
            case .ended: isDraining = true
            }
        }
        return .ended
    }

    private func prepare(_ frame: borrowing Frame) {
        rate = frame.sampleRate
        let unit = Rational(1, rate)
        zero = context.timeZero.ticks(in: unit)
        start = context.start.ticks(in: unit)
        let editStart = context.isComposed ? nil : context.track.editStart
        lowest = max(0, start, editStart?.ticks(in: unit) ?? 0)
        end = [context.end, context.isComposed ? nil : context.track.editEnd].compactMap {
            $0?.ticks(in: unit)
        }
        .min()
        // Decoded samples follow one another better than rounded time stamps say (Matroska's milliseconds:
        // real files stray by 10 ms and come back); what strays further is a real gap or overlap.
        let isCoarse = frames.timeBase.double >= 0.000_5
        tolerance = max(2 * frames.timeBase.rescale(1, to: unit), Int64(rate) * (isCoarse ? 15 : 2) / 1000)
    }

    /// Cuts a frame to what is to be heard of it, and puts silence before it where there is a gap.
    private func place(_ frame: consuming Frame) throws {
        guard frame.sampleCount > 0, frame.sampleRate > 0 else { return }
        if rate == 0 { prepare(frame) }
        let count = Int64(frame.sampleCount) * Int64(rate) / Int64(frame.sampleRate)
        var from = position ?? 0
        if frame.pts != noTimestamp {
            let time =
                MediaTime(ticks: frame.pts, timeBase: frames.timeBase).ticks(in: Rational(1, rate)) - zero
            if position == nil || abs(time - from) > tolerance { from = time }
        }
        let known = position
        position = from + count
        var head: Int64 = 0
        if let known, hasBegun {
            let unit = Rational(1, rate)
            try TimeBounds.checkStep(
                from: MediaTime(ticks: known, timeBase: unit), to: MediaTime(ticks: from, timeBase: unit),
                track: context.track)
            if from > known {
                pendingSilence = min(from, end ?? from) - known
            } else {
                head = known - from
            }
        }
        head = max(head, lowest - from)
        let tail = max(0, from + count - (end ?? Int64.max))
        if let end, from >= end { isDraining = true }
        if let end, from + count >= end { isDraining = true }
        guard head < count - tail, frame.sampleRate == rate || head == 0 && tail == 0 else {
            position = max(position ?? Int64.min, known ?? Int64.min)
            return
        }
        if !hasBegun {
            hasBegun = true
            firstPosition = from + max(0, head)
        }
        position = max(from + count, known ?? Int64.min)
        if head > 0 || tail > 0 {
            frame.narrow(start: Int(max(0, head)), count: Int(count - tail - max(0, head)))
        }
        pendingFrame = consume frame
    }
    private var hasBegun = false

    private func silence() throws -> SampleBuffer? {
        guard let source else {
            pendingSilence = 0
            return nil
        }
        let run = min(pendingSilence, 4096)
        pendingSilence -= run
        return try convert(try Frame.silence(source, samples: Int32(run)))
    }

    private func convert(_ frame: consuming Frame) throws -> SampleBuffer? {
        let form = AudioFormat(
            sampleFormat: frame.sampleFormat, sampleRate: frame.sampleRate,
            layout: frame.channelLayout.specified)
        if let source, ownChange == nil,
            source.sampleRate != form.sampleRate || source.layout != form.layout
        {
            ownChange = MediaTime(ticks: firstPosition - start + taken, timeBase: Rational(1, rate))
        }
        source = form
        taken += Int64(frame.sampleCount) * Int64(rate) / Int64(frame.sampleRate)
        guard let filter else { return try resample(frame) }
        try filter.send(frame)
        return nil
    }

    private func resample(_ frame: consuming Frame) throws -> SampleBuffer? {
        let format = AudioFormat(
            sampleFormat: frame.sampleFormat, sampleRate: frame.sampleRate,
            layout: frame.channelLayout.specified)
        var left: SampleBuffer?
        if format != input {
            // The source changed in mid-stream: what is inside the old converter comes out first.
            if resampler != nil, let rest = try resampler?.drain(), rest.sampleCount > 0 {
                left = vend(rest)
            }
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
        if left != nil {
            resampled = consume frame
            return left
        }
        guard resampler != nil else { return vend(frame) }
        guard let converted = try resampler?.convert(frame), converted.sampleCount > 0 else { return nil }
        return vend(converted)
    }

    /// The end: exactly as many samples as went in, at the output's rate.
    private func drained() throws -> SampleBuffer? {
        guard let output, resampler != nil || filter != nil else {
            isFinished = true
            return nil
        }
        let target = Rational(1, rate).rescale(taken, to: Rational(1, output.sampleRate))
        let missing = target - vended
        guard missing > 0 else {
            isFinished = true
            return nil
        }
        if resampler != nil, let rest = try resampler?.drain(), rest.sampleCount > 0 {
            if Int64(rest.sampleCount) > missing { rest.narrow(start: 0, count: Int(missing)) }
            return vend(rest)
        }
        return vend(try Frame.silence(output, samples: Int32(min(missing, 4096))))
    }

    private func vend(_ frame: consuming Frame) -> SampleBuffer {
        if filter != nil, isDraining, let output {
            // A filter's tail is none of the source's sound.
            let left = Rational(1, rate).rescale(taken, to: Rational(1, output.sampleRate)) - vended
            if Int64(frame.sampleCount) > left { frame.narrow(start: 0, count: Int(max(0, left))) }
        }
        let outputRate = output?.sampleRate ?? rate
        let unit = Rational(1, outputRate)
        let first = Rational(1, rate).rescale(firstPosition - start, to: unit) + context.start.ticks(in: unit)
        let pts = first + vended
        vended += Int64(frame.sampleCount)
        frame.pts = pts
        let count = Int64(frame.sampleCount)
        frame.duration = count
        return SampleBuffer(frame: frame, pts: pts, duration: count, timeBase: unit)
    }
}
