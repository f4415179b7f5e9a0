internal import LibAV

/// Sends sound through a chain of filters. The chain is made anew when the sound changes in mid-stream, after what
/// is inside the old one has come out. As many samples come out as go in: who uses it cuts or fills at the end.
final class AudioFilterStage {
    private let chain: FilterChain
    private var graph: FilterGraph?
    private var format: AudioFormat?
    private var waiting: Frame?
    private var position: Int64 = 0
    private var isDraining = false
    private var isFinishing = false
    private(set) var isFinished = false

    init(chain: FilterChain) { self.chain = chain }

    /// Takes sound in. Everything that comes out is to be taken before the next.
    func send(_ frame: consuming Frame) throws {
        let format = AudioFormat(
            sampleFormat: frame.sampleFormat, sampleRate: frame.sampleRate,
            layout: frame.channelLayout.specified)
        if self.format != format {
            self.format = format
            waiting = consume frame
            if graph == nil { try rebuild() } else { try end() }
            return
        }
        try push(frame)
    }

    private func push(_ frame: consuming Frame) throws {
        frame.pts = position
        position += Int64(frame.sampleCount)
        try graph?.send(frame)
    }

    private func rebuild() throws {
        guard let format else { return }
        graph = try FilterGraph.audio(chain.steps, format: format)
        isDraining = false
        position = 0
        if let frame = waiting.take() { try push(frame) }
    }

    private func end() throws {
        isDraining = true
        try graph?.sendEnd(at: position)
    }

    /// Says that no more comes.
    func finish() throws {
        guard !isFinishing else { return }
        isFinishing = true
        if graph == nil { isFinished = true } else if !isDraining { try end() }
    }

    /// What has come out, or nil when more must go in.
    func receive() throws -> Frame? {
        while graph != nil {
            let frame = try Frame()
            switch try graph?.receive(into: frame) {
            case .ready: return frame
            case .needsInput: return nil
            case .ended, nil:
                graph = nil
                if waiting != nil {
                    try rebuild()
                    if isFinishing { try end() }
                } else {
                    isFinished = isFinishing
                }
            }
        }
        return nil
    }
}
