internal import LibAV

/// One of several stretches that follow one another in an output, and how its samples are made.
struct JoinedPart {
    let range: TimeRange
    let make: () throws -> any SampleProducer
}

/// Samples of several stretches, one after the other, on the time line of what comes of them. A stretch is opened when
/// its turn comes.
final class JoinedSamples: SampleProducer {
    private let parts: [JoinedPart]
    private var index = 0
    private var current: (any SampleProducer)?
    /// The unit that joints fall on; that of the first sample where none is given.
    private var tick: Rational?
    /// Where the current stretch begins in the output.
    private var offset: Int64 = 0
    private var dropped = 0

    /// `tick` is one in which every sample's time and every end is whole, where there is one.
    init(_ parts: [JoinedPart], tick: Rational? = nil) {
        self.parts = parts
        self.tick = tick
    }

    var droppedSamples: Int { dropped + (current?.droppedSamples ?? 0) }

    func next() throws -> SampleBuffer? {
        while index < parts.count {
            let part = parts[index]
            let producer = try current ?? part.make()
            current = producer
            if var sample = try producer.next() {
                let unit = tick ?? sample.timeBase
                tick = unit
                // Lengths are counted in samples or ticks, so that sound that goes on has no gap of a sample.
                let shift = unit.rescale(offset - start(of: part, in: unit), to: sample.timeBase)
                sample.pts += shift
                sample.dts += shift
                return sample
            }
            dropped += producer.droppedSamples
            current = nil
            index += 1
            if let tick { offset += end(of: part, in: tick) - start(of: part, in: tick) }
        }
        return nil
    }

    private func start(of part: JoinedPart, in tick: Rational) -> Int64 { part.range.start.ticks(in: tick) }
    private func end(of part: JoinedPart, in tick: Rational) -> Int64 { part.range.end.ticks(in: tick) }
}

/// The same as frames, for a producer that treats the whole like one track.
final class JoinedFrames: FrameStream {
    private let samples: JoinedSamples
    /// Known with the first frame.
    private(set) var timeBase: Rational

    init(_ samples: JoinedSamples, timeBase: Rational) {
        self.samples = samples
        self.timeBase = timeBase
    }

    var droppedSamples: Int { samples.droppedSamples }

    func next(into frame: borrowing Frame) throws -> Bool {
        guard let sample = try samples.next() else { return false }
        let (pts, duration) = (sample.pts, sample.duration)
        timeBase = sample.timeBase
        guard let next = sample.takeFrame() else { return false }
        next.pts = pts
        next.duration = duration
        frame.take(next)
        return true
    }
}
