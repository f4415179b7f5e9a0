internal import DequeModule
internal import LibAV

/// Reader of one audio item's samples, at their positions in the composition. The source is opened for the first
/// samples, and again for each repetition of a repeated item. Confined to one queue.
final class ClipAudio {
    private let clip: AudioClip
    private let first: Int64
    private let end: Int64
    private let format: AudioFormat
    private let open: (ReadingExtent) throws -> CompositionRead

    private var read: CompositionRead?
    private var hasEnded = false
    /// Blocks that aren't mixed yet, in order, with the positions of their first samples.
    private var ready = UniqueDeque<Block>()
    /// Position of the next block to read, in samples of the composition.
    private var position: Int64
    /// Position at which the current repetition starts; `first` for other items.
    private var roundStart: Int64
    /// Tempo filter that keeps the pitch; nil at normal speed, and before the first block.
    private var tempo: TempoStretcher?
    private var isDraining = false

    private struct Block: ~Copyable {
        let frame: Frame
        let start: Int64
        var end: Int64 { start + Int64(frame.sampleCount) }
    }

    /// Creates a reader for samples `first` to `end` of the composition. `open` starts reading the source.
    init(
        _ clip: AudioClip, from first: Int64, to end: Int64, format: AudioFormat,
        open: @escaping (ReadingExtent) throws -> CompositionRead
    ) {
        (self.clip, self.first, self.end, self.format, self.open) = (clip, first, end, format, open)
        (position, roundStart) = (first, first)
    }

    private var unit: Rational { Rational(1, format.sampleRate) }
    private var range: TimeRange { clip.placement.sourceRange }
    private var isPlain: Bool { clip.isRepeated || clip.placement.isPlain }
    /// Number of samples in one repetition.
    private var roundLength: Int64 { max(1, range.duration.ticks(in: unit)) }

    /// Starts reading at the source position that a sample of the composition corresponds to.
    func prepare(at sample: Int64) throws {
        guard read == nil, !hasEnded else { return }
        var start = range.start
        if clip.isRepeated {
            let rounds = (sample - first) / roundLength
            roundStart = first + rounds * roundLength
            start = start + MediaTime(ticks: sample - roundStart, timeBase: unit)
        } else if isPlain {
            start = start + MediaTime(ticks: sample - first, timeBase: unit)
        } else {
            // At another speed, the source is always read from the start of its range, so that the resulting samples
            // are reproducible.
            return try begin(at: range.start)
        }
        try begin(at: start)
    }

    private func begin(at start: MediaTime) throws {
        guard start < range.end else { return hasEnded = true }
        position = roundStart + (start - range.start).ticks(in: unit)
        read = try open(ReadingExtent(TimeRange(start: start, end: range.end)))
    }

    /// Reads until all samples before a position are available.
    func fill(until sample: Int64) throws {
        while !hasEnded, position < sample {
            if tempo != nil, try receiveStretched() { continue }
            guard let next = try read?.next() else {
                try endRound()
                continue
            }
            // `pts` is on the source's time line.
            let start = roundStart + next.pts - range.start.ticks(in: next.timeBase)
            guard let frame = next.takeFrame(), frame.sampleCount > 0 else { continue }
            guard isPlain else {
                try push(frame, at: start)
                continue
            }
            put(frame, at: start)
        }
    }

    private func put(_ frame: consuming Frame, at start: Int64) {
        position = start + Int64(frame.sampleCount)
        ready.append(Block(frame: frame, start: start))
    }

    /// Handles the end of the source range: drains the tempo filter, or starts the next repetition.
    private func endRound() throws {
        read = nil
        if let tempo, !isDraining {
            isDraining = try namingSource { () throws(AVError) in try !tempo.pushOut() }
            return
        }
        guard clip.isRepeated, roundStart + roundLength < end else { return hasEnded = true }
        roundStart += roundLength
        try begin(at: range.start)
    }

    // MARK: Speed

    /// Sends a block to the tempo filter, whose output begins with `lead` samples of silence. The position is earlier by
    /// that number, and samples before the item's start are not mixed.
    private func push(_ frame: consuming Frame, at start: Int64) throws {
        do throws(AVError) {
            if tempo == nil {
                let stretcher = try TempoStretcher(speed: clip.placement.speed, format: format)
                position =
                    first + Int64((Double(start - first) / clip.placement.speed).rounded()) - stretcher.lead
                tempo = stretcher
            }
            try tempo?.send(frame)
        } catch {
            throw MediaError.encoding(track: .part(.composition), error)
        }
    }

    /// Receives a block from the tempo filter; returns false if the filter needs more input.
    private func receiveStretched() throws -> Bool {
        try namingSource { () throws(AVError) in
            let frame = try Frame()
            switch try tempo?.receive(into: frame) {
            case .ready:
                put(frame, at: position)
                return true
            case .needsInput where !isDraining: return false
            default:
                tempo = nil
                hasEnded = true
                return true
            }
        }
    }

    private func namingSource<Value>(_ body: () throws(AVError) -> Value) throws -> Value {
        do throws(AVError) {
            return try body()
        } catch {
            throw MediaError.encoding(track: .part(.composition), error)
        }
    }

    // MARK: Mixing

    /// Mixes the samples between two positions into `sum`, whose first sample has position `from`; past blocks are
    /// released.
    func add(to sum: borrowing Frame, from: Int64, until: Int64, _ ramp: GainRamp) throws(AVError) {
        while let run = ready.popFirst() {
            var at = max(from, first, run.start)
            let stop = min(until, end, run.end)
            while at < stop {
                let segment = ramp.segment(at: at, limit: stop - at)
                try run.frame.mix(
                    from: Int(at - run.start), count: Int(segment.count), into: sum, at: Int(at - from),
                    gain: segment.gain, step: segment.step)
                at += segment.count
            }
            if run.end > until {
                ready.prepend(run)
                return
            }
        }
    }
}
