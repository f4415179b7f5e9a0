internal import LibAV

/// Passes audio through a chain of filters. If the format changes mid-stream, the old filter graph is drained and a new
/// one is created. Filters may change the number of samples; a later stage drops samples past the source's end, such as
/// an echo.
final class AudioFilterStage: FrameStage {
    private let chain: FilterChain
    private var graph: FilterGraph?
    private var format: AudioFormat?
    private var waiting: Frame?
    private var position: Int64 = 0
    private var isDraining = false
    private var isFinishing = false
    /// Time of the first sample, and its time base.
    private var first: (time: Int64, unit: Rational)?
    /// Number of samples returned so far.
    private var returnedSamples: Int64 = 0

    init(chain: FilterChain) { self.chain = chain }

    var timeBase: Rational { first?.unit ?? Rational(1, 1) }

    func push(_ frame: consuming Frame, in timeBase: Rational) throws {
        if first == nil { first = (frame.pts, timeBase) }
        let format = AudioFormat(
            sampleFormat: frame.sampleFormat, sampleRate: frame.sampleRate,
            layout: frame.channelLayout.specified)
        if self.format != format {
            self.format = format
            waiting = consume frame
            if graph == nil { try rebuild() } else { try end() }
            return
        }
        try send(frame)
    }

    func finish(at end: MediaTime?) throws {
        isFinishing = true
        if graph != nil, !isDraining { try self.end() }
    }

    func pull() throws -> Frame? {
        while graph != nil {
            let frame = try Frame()
            switch try graph?.receive(into: frame) {
            case .ready:
                return stamped(frame)
            case .needsInput: return nil
            case .ended, nil:
                graph = nil
                if waiting != nil {
                    try rebuild()
                    if isFinishing { try end() }
                }
            }
        }
        return nil
    }

    private func stamped(_ frame: consuming Frame) -> Frame {
        let rate = Rational(1, max(1, frame.sampleRate))
        frame.pts = (first?.time ?? 0) + rate.rescale(returnedSamples, to: timeBase)
        frame.duration = rate.rescale(Int64(frame.sampleCount), to: timeBase)
        returnedSamples += Int64(frame.sampleCount)
        return frame
    }

    private func send(_ frame: consuming Frame) throws {
        frame.pts = position
        position += Int64(frame.sampleCount)
        try graph?.send(frame)
    }

    private func rebuild() throws {
        guard let format else { return }
        graph = try FilterGraph.audio(chain.steps, format: format)
        isDraining = false
        position = 0
        if let frame = waiting.take() { try send(frame) }
    }

    private func end() throws {
        isDraining = true
        try graph?.sendEnd(at: position)
    }
}
