internal import LibAV

/// Scales, changes the pixel format or the frame rate of pictures through one filter graph, which is
/// rebuilt when the pictures change in mid-stream. Absent where nothing is to be done.
final class VideoConverter {
    private let settings: VideoOutputSettings
    private let tick: Rational
    private let start: Int64
    private let pixelAspect: Rational?
    private let sourceRate: Rational?
    /// Pictures that are already as asked go past the graph, except where times change too.
    private let target: (size: PixelSize?, format: PixelFormat)

    private var graph: FilterGraph?
    private var graphInput: (size: PixelSize, format: PixelFormat)?
    private var ready: SampleBuffer?
    /// Lengths of the pictures inside the graph, by time.
    private var durations: [Int64: Int64] = [:]
    private var lastEnd: Int64 = 0
    private(set) var isAtEnd = false
    private var hasFinished = false
    private var outputTick: Rational

    init?(settings: VideoOutputSettings, context: ProducerContext, tick: Rational) {
        let format = context.track.format
        let source = PixelSize(width: format.width, height: format.height)
        target = (
            settings.size ?? (settings.isPlain ? source : nil), settings.pixelFormat ?? format.pixelFormat
        )
        self.settings = settings
        self.tick = tick
        start = context.start.ticks(in: tick)
        pixelAspect = format.pixelAspectRatio
        sourceRate = context.track.nominalFrameRate
        outputTick = tick
        if let rate = settings.frameRate {
            // A tick that both the range's start and the new frames fall on.
            outputTick = commonTick([rate.inverted, context.start.asTick].compactMap { $0 }) ?? rate.inverted
        }
    }

    private func needsGraph(_ size: PixelSize, _ format: PixelFormat) -> Bool {
        !settings.isPlain || settings.frameRate != nil || size != target.size || format != target.format
    }

    /// Takes a picture in.
    func send(_ sample: consuming SampleBuffer) throws {
        let pts = sample.pts
        let duration = sample.duration
        guard let frame = sample.takeFrame() else { return }
        lastEnd = pts + duration
        let size = PixelSize(width: frame.width, height: frame.height)
        let format = frame.pixelFormat
        guard needsGraph(size, format) else {
            ready = SampleBuffer(frame: frame, pts: pts, duration: duration, timeBase: tick)
            return
        }
        if graph == nil || graphInput?.size != size || graphInput?.format != format {
            let aspect =
                frame.sampleAspectRatio.isPositive ? frame.sampleAspectRatio : (pixelAspect ?? Rational(0, 1))
            graph = try FilterGraph.video(
                chain(size), like: frame, timeBase: tick, sampleAspectRatio: aspect, frameRate: sourceRate)
            graphInput = (size, format)
        }
        // Inside the graph the range begins at 0, so that a new frame rate begins with it.
        frame.pts = pts - start
        if !settings.isPlain { durations[pts - start] = duration }
        try graph?.send(frame)
    }

    private func chain(_ size: PixelSize) -> String {
        var steps = settings.steps(for: size)
        // Pictures that change size in mid-stream come out in one. Of those that don't, colour that becomes denser is made
        // of the lines of one field, where frames say that they have two.
        if settings.size == nil, let wanted = target.size {
            let keepsFields = size == wanted && size.height.isMultiple(of: 4)
            steps.append(
                "scale=\(wanted.width):\(wanted.height):flags=bicubic\(keepsFields ? ":interl=-1" : "")")
        }
        steps.append("format=\(target.format)")
        if let rate = settings.frameRate { steps.append("fps=fps=\(rate):start_time=0:round=near") }
        return steps.joined(separator: ",")
    }

    /// Says that no more comes.
    func finish() throws {
        guard !hasFinished else { return }
        hasFinished = true
        if graph == nil { isAtEnd = true } else { try graph?.sendEnd(at: lastEnd - start) }
    }

    /// The next picture, or nil when one must be sent first or all are out.
    func next() throws -> SampleBuffer? {
        if let sample = ready.take() { return sample }
        guard graph != nil else { return nil }
        let frame = try Frame()
        switch try graph?.receive(into: frame) {
        case .ready:
            let inner = graph?.timeBase ?? tick
            let startHere = tick.rescale(start, to: outputTick)
            if settings.frameRate != nil {
                let pts = inner.rescale(frame.pts, to: outputTick) + startHere
                let length = max(1, inner.rescale(1, to: outputTick))
                frame.pts = pts
                frame.duration = length
                return SampleBuffer(frame: frame, pts: pts, duration: length, timeBase: outputTick)
            }
            let pts = inner.rescale(frame.pts, to: tick) + start
            // Filters with a time base of their own hand on lengths in the old one.
            let duration =
                durations.removeValue(forKey: pts - start)
                ?? (frame.duration > 0 ? inner.rescale(frame.duration, to: tick) : 0)
            frame.pts = pts
            return SampleBuffer(frame: frame, pts: pts, duration: duration, timeBase: tick)
        case .ended:
            isAtEnd = true
            return nil
        case .needsInput, nil:
            if hasFinished { isAtEnd = true }
            return nil
        }
    }
}
