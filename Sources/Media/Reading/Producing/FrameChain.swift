internal import LibAV

/// A stream of frames, and the stages that process them in order. The last stage's output is vended as samples.
final class FrameChain: SampleProducer {
    private enum Supply: ~Copyable {
        case frame(Frame)
        case pending
        case ended
    }

    private let source: any FrameStream
    private let stages: [any FrameStage]
    private var isFinished: [Bool]

    /// Creates a chain; `stages` must not be empty.
    init(_ source: any FrameStream, _ stages: [any FrameStage]) {
        self.source = source
        self.stages = stages
        isFinished = stages.map { _ in false }
    }

    var droppedSamples: Int { stages.reduce(source.droppedSamples) { $0 + $1.droppedSamples } }
    var formatChange: MediaTime? { stages.lazy.compactMap(\.formatChange).first ?? source.formatChange }
    var interlacedFrom: MediaTime? { stages.lazy.compactMap(\.interlacedFrom).first ?? source.interlacedFrom }

    func next() throws -> SampleSupply {
        let last = stages.count - 1
        switch try next(of: last) {
        case .frame(let frame):
            let (pts, duration) = (frame.pts, frame.duration)
            return .sample(
                SampleBuffer(frame: frame, pts: pts, duration: duration, timeBase: stages[last].timeBase))
        case .pending: return .pending
        case .ended: return .ended
        }
    }

    /// Returns the next frame of a stage; index -1 is the source.
    private func next(of index: Int) throws -> Supply {
        guard index >= 0 else {
            let frame = try Frame()
            switch try source.next(into: frame) {
            case .frame: return .frame(frame)
            case .pending: return .pending
            case .ended: return .ended
            }
        }
        let stage = stages[index]
        while true {
            if let frame = try stage.pull() { return .frame(frame) }
            if isFinished[index] { return .ended }
            if stage.isSatisfied {
                try finish(index)
                continue
            }
            switch try next(of: index - 1) {
            case .frame(let frame):
                try stage.push(frame, in: index == 0 ? source.timeBase : stages[index - 1].timeBase)
            case .pending: return .pending
            case .ended: try finish(index)
            }
        }
    }

    private func finish(_ index: Int) throws {
        isFinished[index] = true
        let end = stages[..<index].reversed().lazy.compactMap(\.end).first
        if let end { for stage in stages[index...] { stage.sourceEnds(at: end) } }
        try stages[index].finish(at: end)
    }
}

extension FrameChain {
    /// Creates a chain that trims frames to a range and converts them.
    static func video(
        _ frames: any FrameStream, context: ProducerContext, settings: VideoOutputSettings
    ) -> FrameChain {
        let converter = VideoConverter(settings: settings, context: context)
        let stages: [any FrameStage] = [VideoRangeStage(context), converter]
        return FrameChain(
            frames, stages + (settings.frameRate.map { [FrameRateStage(rate: $0, context: context)] } ?? []))
    }

    /// Creates a chain that trims audio to a range, filters and converts it.
    static func audio(
        _ frames: any FrameStream, context: ProducerContext, settings: AudioOutputSettings
    ) -> FrameChain {
        let filters = settings.filters.map { [AudioFilterStage(chain: $0)] } ?? []
        let converter = AudioConverter(
            settings: settings, start: context.start, isFilled: !filters.isEmpty)
        return FrameChain(frames, [AudioRangeStage(context)] + filters + [converter])
    }
}
