internal import LibAV

/// One of several consecutive ranges of an output, and its producer.
struct JoinedPart {
    let range: TimeRange
    /// Start of the range in the output.
    let offset: MediaTime
    let make: () throws -> any SampleProducer
}

/// Concatenates the samples of several ranges on the time line of the output. Each range is opened when it is
/// reached; a range without samples keeps its duration.
final class JoinedSamples: SampleProducer {
    private let parts: [JoinedPart]
    private var index = 0
    private var current: (any SampleProducer)?
    /// Time base to which the ranges' boundaries are rounded; nil for the time base of each sample.
    private let tick: Rational?
    private var dropped = 0
    private var firstFormatChange: MediaTime?
    private var firstInterlaced: MediaTime?

    /// Creates a concatenation. `tick` is a time base in which all times of samples and ranges are integers; nil if
    /// there is none.
    init(_ parts: [JoinedPart], tick: Rational? = nil) {
        self.parts = parts
        self.tick = tick
    }

    var droppedSamples: Int { dropped + (current?.droppedSamples ?? 0) }

    var formatChange: MediaTime? {
        guard firstFormatChange == nil, index < parts.count else { return firstFormatChange }
        let offset = parts[index].offset
        return current?.formatChange.map { offset + $0 }
    }

    var interlacedFrom: MediaTime? {
        guard firstInterlaced == nil, index < parts.count else { return firstInterlaced }
        let offset = parts[index].offset
        return current?.interlacedFrom.map { offset + $0 }
    }

    func next() throws -> SampleSupply {
        while index < parts.count {
            let part = parts[index]
            let producer = try current ?? part.make()
            current = producer
            switch try producer.next() {
            case .pending: return .pending
            case .sample(var sample):
                let unit = tick ?? sample.timeBase
                let moved = part.offset.ticks(in: unit) - part.range.start.ticks(in: unit)
                let shift = unit.rescale(moved, to: sample.timeBase)
                sample.pts += shift
                sample.dts += shift
                return .sample(sample)
            case .ended:
                dropped += producer.droppedSamples
                (firstFormatChange, firstInterlaced) = (formatChange, interlacedFrom)
                current = nil
                index += 1
            }
        }
        return .ended
    }
}

/// Adapts `JoinedSamples` to a stream of frames, so that later stages process the ranges as one track.
final class JoinedFrames: FrameStream {
    private let samples: JoinedSamples
    /// Time base of the current frame.
    private(set) var timeBase: Rational

    init(_ samples: JoinedSamples, timeBase: Rational) {
        self.samples = samples
        self.timeBase = timeBase
    }

    var droppedSamples: Int { samples.droppedSamples }
    var formatChange: MediaTime? { samples.formatChange }
    var interlacedFrom: MediaTime? { samples.interlacedFrom }

    func next(into frame: borrowing Frame) throws -> FrameSupply {
        switch try samples.next() {
        case .pending: return .pending
        case .ended: return .ended
        case .sample(let sample):
            let (pts, duration) = (sample.pts, sample.duration)
            timeBase = sample.timeBase
            guard let next = sample.takeFrame() else { return .ended }
            next.pts = pts
            next.duration = duration
            frame.take(next)
            return .frame
        }
    }
}
