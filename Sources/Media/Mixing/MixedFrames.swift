internal import LibAV

/// The sum of several tracks' sound, from where the first of them begins to where the last one ends, on the asset's
/// time line. Confined to its output's queue.
final class MixedFrames: FrameStream {
    let timeBase: Rational
    private let format: AudioFormat
    private let inputs: [Input]
    private var position: Int64?

    /// Samples a block has at most.
    private static let block: Int64 = 1024

    private final class Input {
        let producer: any SampleProducer
        let ramp: GainRamp
        /// What was read and is not all mixed in yet, with the position of its first sample.
        var frame: Frame?
        var start: Int64 = 0
        var isFinished = false

        init(_ producer: any SampleProducer, ramp: GainRamp) {
            self.producer = producer
            self.ramp = ramp
        }

        /// Reads on where nothing is held.
        func fill() throws {
            while frame == nil, !isFinished {
                guard let sample = try producer.next() else {
                    isFinished = true
                    return
                }
                let pts = sample.pts
                guard let next = sample.takeFrame(), next.sampleCount > 0 else { continue }
                start = pts
                frame = consume next
            }
        }

        var end: Int64 { start + Int64(frame?.sampleCount ?? 0) }
    }

    /// Each producer vends sound of the format; volumes' times count from `origin`.
    init(
        _ inputs: [(producer: any SampleProducer, volume: VolumeEnvelope)], origin: MediaTime,
        format: AudioFormat
    ) {
        timeBase = Rational(1, format.sampleRate)
        self.format = format
        let unit = timeBase
        self.inputs = inputs.map { Input($0.producer, ramp: GainRamp($0.volume, origin: origin, unit: unit)) }
    }

    var formChange: MediaTime? { inputs.compactMap(\.producer.formChange).min() }

    func next(into frame: borrowing Frame) throws -> Bool {
        for input in inputs { try input.fill() }
        let going = inputs.filter { !$0.isFinished }
        guard let first = going.map(\.start).min(), let last = going.map(\.end).max() else { return false }
        // Where nobody has anything, nothing is mixed: who reads the sum fills gaps.
        let from = max(position ?? first, first)
        let until = min(from + Self.block, last)
        let sum = try Frame.silence(format, samples: Int32(clamping: until - from))
        for input in going {
            while !input.isFinished, input.start < until {
                try add(input, to: sum, from: from, until: until)
                if input.end <= until { input.frame = nil } else { break }
                try input.fill()
            }
        }
        sum.pts = from
        position = until
        frame.take(sum)
        return true
    }

    /// Adds what a track has between two positions.
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
