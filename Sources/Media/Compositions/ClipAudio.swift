internal import DequeModule
internal import LibAV

/// The samples of one run of a composition's audio, at their places in it. It is opened with the first ones, and once more for every round
/// where it is repeated. Confined to one queue.
final class ClipAudio {
    private let clip: AudioClip
    private let first: Int64
    private let end: Int64
    private let format: AudioFormat
    private let open: (ReadingExtent) throws -> CompositionRead

    private var read: CompositionRead?
    private var hasEnded = false
    /// What was read and is still to come, with its first sample's place, one behind the other.
    private var ready = UniqueDeque<Run>()
    /// Where what is read next comes.
    private var position: Int64
    /// Where the round begins that is read.
    private var roundStart: Int64
    /// Makes audio faster or slower without a change of pitch; nil where it is played as it is.
    private var tempo: TempoStretcher?
    private var isDraining = false

    private struct Run: ~Copyable {
        let frame: Frame
        let start: Int64
        var end: Int64 { start + Int64(frame.sampleCount) }
    }

    /// It is heard from one sample to another of the composition. `open` begins to read the source.
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
    /// Samples of a round.
    private var roundLength: Int64 { max(1, range.duration.ticks(in: unit)) }

    /// Begins to read what is heard from a sample on.
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
            // What is played at another speed is read from its beginning: so its samples are always the same.
            return try begin(at: range.start)
        }
        try begin(at: start)
    }

    private func begin(at start: MediaTime) throws {
        guard start < range.end else { return hasEnded = true }
        position = roundStart + (start - range.start).ticks(in: unit)
        read = try open(ReadingExtent(TimeRange(start: start, end: range.end)))
    }

    /// Reads until all is there that is heard before a sample.
    func fill(until sample: Int64) throws {
        while !hasEnded, position < sample {
            if tempo != nil, try stretch() { continue }
            guard let next = try read?.next() else {
                try endRound()
                continue
            }
            // Times are the source's.
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
        ready.append(Run(frame: frame, start: start))
    }

    /// The source's part is over.
    private func endRound() throws {
        read = nil
        if let tempo, !isDraining {
            isDraining = try told { () throws(AVError) in try !tempo.pushOut() }
            return
        }
        guard clip.isRepeated, roundStart + roundLength < end else { return hasEnded = true }
        roundStart += roundLength
        try begin(at: range.start)
    }

    // MARK: Speed

    /// Gives the filter what was read; what comes before the first sample is silence in the composition.
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
            throw MediaError.encoding(track: "composition", error)
        }
    }

    /// Takes what the filter has; false where it wants more.
    private func stretch() throws -> Bool {
        try told { () throws(AVError) in
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

    private func told<Value>(_ body: () throws(AVError) -> Value) throws -> Value {
        do throws(AVError) {
            return try body()
        } catch {
            throw MediaError.encoding(track: "composition", error)
        }
    }

    // MARK: Mixing

    /// Adds what is heard between two samples to a sum that begins with the first; what is past is let go.
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
