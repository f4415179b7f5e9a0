internal import LibAV

/// Mixes the audio of several tracks, from the start of the first one to the end of the last one, on the asset's time
/// line. Confined to its output's queue.
final class MixedFrames: FrameStream {
    let timeBase: Rational
    private let format: AudioFormat
    private let inputs: [Input]
    private var position: Int64?

    /// Maximum number of samples in a block.
    private static let block: Int64 = 1024

    private final class Input {
        let producer: any SampleProducer
        let ramp: GainRamp
        /// The frame that isn't completely mixed yet, with the position of its first sample.
        var frame: Frame?
        var start: Int64 = 0
        var isFinished = false
        /// Whether the input's part of the current block is mixed.
        var isMixed = false

        init(_ producer: any SampleProducer, ramp: GainRamp) {
            self.producer = producer
            self.ramp = ramp
        }

        /// Reads the next frame if none is held; returns false if none is available yet.
        func fill() throws -> Bool {
            while frame == nil, !isFinished {
                switch try producer.next() {
                case .pending: return false
                case .ended: isFinished = true
                case .sample(let sample):
                    let pts = sample.pts
                    guard let next = sample.takeFrame(), next.sampleCount > 0 else { continue }
                    start = pts
                    frame = consume next
                }
            }
            return true
        }

        var end: Int64 { start + Int64(frame?.sampleCount ?? 0) }
    }

    /// Creates a mixer. Each producer vends audio in `format`; the times of the envelopes count from `origin`.
    init(
        _ inputs: [(producer: any SampleProducer, volume: VolumeEnvelope)], origin: MediaTime,
        format: AudioFormat
    ) {
        timeBase = Rational(1, format.sampleRate)
        self.format = format
        let unit = timeBase
        self.inputs = inputs.map { Input($0.producer, ramp: GainRamp($0.volume, origin: origin, unit: unit)) }
    }

    var formatChange: MediaTime? { inputs.compactMap(\.producer.formatChange).min() }

    /// The incomplete block; it is kept while an input is pending.
    private var sum: Frame?
    private var from: Int64 = 0
    private var until: Int64 = 0

    func next(into frame: borrowing Frame) throws -> FrameSupply {
        if sum == nil {
            for input in inputs where try !input.fill() { return .pending }
            let going = inputs.filter { !$0.isFinished }
            guard let first = going.map(\.start).min(), let last = going.map(\.end).max() else {
                return .ended
            }
            // A gap in all inputs is skipped here; a later stage fills it with silence.
            from = max(position ?? first, first)
            until = min(from + Self.block, last)
            sum = try Frame.silence(format, samples: Int32(clamping: until - from))
            for input in inputs { input.isMixed = false }
        }
        guard let mixed = sum.take() else { return .ended }
        for input in inputs where !input.isMixed {
            guard try mix(input, into: mixed) else {
                sum = consume mixed
                return .pending
            }
            input.isMixed = true
        }
        mixed.pts = from
        position = until
        frame.take(mixed)
        return .frame
    }

    /// Mixes an input's samples into the current block; returns false while the input is pending.
    private func mix(_ input: Input, into sum: borrowing Frame) throws -> Bool {
        while true {
            guard try input.fill() else { return false }
            guard !input.isFinished, input.start < until else { return true }
            try add(input, to: sum, from: from, until: until)
            guard input.end <= until else { return true }
            input.frame = nil
        }
    }

    /// Adds an input's samples between two positions to the block.
    private func add(_ input: Input, to sum: borrowing Frame, from: Int64, until: Int64) throws {
        var at = max(from, input.start)
        let end = min(until, input.end)
        while at < end {
            let segment = input.ramp.segment(at: at, limit: end - at)
            try input.frame?.mix(
                from: Int(at - input.start), count: Int(segment.count), into: sum, at: Int(at - from),
                gain: segment.gain, step: segment.step)
            at += segment.count
        }
    }
}
