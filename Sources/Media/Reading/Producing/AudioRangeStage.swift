internal import LibAV

/// Trims audio to a range with sample accuracy; output times count from the start of the range.
///
/// Times are converted to sample positions on the asset's time line. Samples before time zero, before the range, or
/// past the end of the edit list are dropped. Gaps are filled with silence and overlapping samples dropped, so that the
/// audio stays in sync. If the track begins after the range's start, its first sample has that later time, and no
/// silence precedes it.
final class AudioRangeStage: FrameStage {
    private let context: ProducerContext

    /// Sample rate of positions: that of the first frame, which for HE-AAC is twice the header's.
    private var rate: Int32 = 0
    private var start: Int64 = 0
    /// First position to keep; earlier samples are dropped.
    private var lowest: Int64 = 0
    private var rangeEnd: Int64?
    private var zero: Int64 = 0
    private var tolerance: Int64 = 0
    /// The position at which the next sample is expected.
    private var position: Int64?
    private var firstPosition: Int64 = 0
    private var hasBegun = false

    /// Format of the frame that was returned last.
    private var format: AudioFormat?
    /// Number of samples returned, in units of `rate`.
    private var returnedSamples: Int64 = 0
    private var pendingSilence: Int64 = 0
    private var pendingFrame: Frame?
    private(set) var isSatisfied = false
    private(set) var formatChange: MediaTime?

    init(_ context: ProducerContext) { self.context = context }

    var timeBase: Rational { Rational(1, max(1, rate)) }
    var end: MediaTime? {
        rate > 0 ? MediaTime(ticks: firstPosition - start + returnedSamples, timeBase: timeBase) : nil
    }

    func pull() throws -> Frame? {
        if pendingSilence > 0 {
            // Without a first frame, the format of the silence is unknown.
            if let format {
                let run = min(pendingSilence, 4096)
                pendingSilence -= run
                return stamped(try Frame.silence(format, samples: Int32(run)))
            }
            pendingSilence = 0
        }
        guard let frame = pendingFrame.take() else { return nil }
        return stamped(frame)
    }

    func finish(at end: MediaTime?) {}

    private func stamped(_ frame: consuming Frame) -> Frame {
        let current = AudioFormat(
            sampleFormat: frame.sampleFormat, sampleRate: frame.sampleRate,
            layout: frame.channelLayout.specified)
        let time = firstPosition - start + returnedSamples
        if let format, formatChange == nil,
            format.sampleRate != current.sampleRate || format.layout != current.layout
        {
            formatChange = MediaTime(ticks: time, timeBase: timeBase)
        }
        format = current
        frame.pts = time
        frame.duration = Int64(frame.sampleCount) * Int64(rate) / Int64(frame.sampleRate)
        returnedSamples += frame.duration
        return frame
    }

    private func prepare(_ frame: borrowing Frame, in timeBase: Rational) {
        rate = frame.sampleRate
        let unit = Rational(1, rate)
        zero = context.timeZero.ticks(in: unit)
        start = context.start.ticks(in: unit)
        let editStart = context.isComposed ? nil : context.track.editStart
        lowest = max(0, start, editStart?.ticks(in: unit) ?? 0)
        rangeEnd = [context.end, context.isComposed ? nil : context.track.editEnd].compactMap {
            $0?.ticks(in: unit)
        }
        .min()
        // Counting decoded samples is more exact than rounded timestamps: with Matroska's milliseconds, real files
        // deviate by up to 10 ms temporarily. A larger deviation is a real gap or overlap.
        let isCoarse = timeBase.double >= 0.000_5
        tolerance = max(2 * timeBase.rescale(1, to: unit), Int64(rate) * (isCoarse ? 15 : 2) / 1000)
    }

    /// Trims a frame to the range, and schedules silence before it if there is a gap.
    func push(_ frame: consuming Frame, in timeBase: Rational) throws {
        guard frame.sampleCount > 0, frame.sampleRate > 0 else { return }
        if rate == 0 { prepare(frame, in: timeBase) }
        let count = Int64(frame.sampleCount) * Int64(rate) / Int64(frame.sampleRate)
        var from = position ?? 0
        if frame.pts != noTimestamp {
            let time = MediaTime(ticks: frame.pts, timeBase: timeBase).ticks(in: Rational(1, rate)) - zero
            if position == nil || abs(time - from) > tolerance { from = time }
        }
        let known = position
        position = from + count
        var head: Int64 = 0
        if let known, hasBegun {
            let unit = Rational(1, rate)
            try TimeBounds.checkStep(
                from: MediaTime(ticks: known, timeBase: unit), to: MediaTime(ticks: from, timeBase: unit),
                track: context.track, isPaged: context.lostPages != nil)
            if from > known {
                if context.lostPages?.isIncomplete == true {
                    let start = MediaTime(ticks: known, timeBase: unit)
                    try context.damage.handle(
                        .lostPages(
                            track: context.track.reference, from: start,
                            to: MediaTime(ticks: from, timeBase: unit)), at: start)
                }
                pendingSilence = min(from, rangeEnd ?? from) - known
            } else {
                head = known - from
            }
        }
        head = max(head, lowest - from)
        let tail = max(0, from + count - (rangeEnd ?? Int64.max))
        if let rangeEnd, from + count >= rangeEnd { isSatisfied = true }
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
}
