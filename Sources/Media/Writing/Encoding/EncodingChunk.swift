internal import DequeModule
internal import LibAV
internal import Locking

/// A chunk of a video track, which is encoded on a queue of its own.
///
/// Unchecked `Sendable`: the encoder is confined to the queue, and other state is protected by a mutex.
final class EncodingChunk: @unchecked Sendable {
    private struct State: ~Copyable {
        var frames = UniqueDeque<Frame>()
        var packets = UniqueDeque<Packet>()
        /// Whether no frame follows those in `frames`.
        var hasEnd = false
        /// Whether the encoder has been drained, has failed, or was cancelled.
        var isComplete = false
        var failure: AVError?
    }

    private let state = Guarded(State())
    private let queue = SerialQueue(label: "tandem.chunk")
    private let configuration: EncoderConfiguration
    private let globalHeaders: Bool
    private let extradata: [UInt8]
    private var encoder: FrameEncoder?

    /// Creates a chunk. Without an `encoder`, one is opened for the first frame; its parameter sets must be `extradata`.
    init(
        _ encoder: consuming FrameEncoder?, _ configuration: EncoderConfiguration, globalHeaders: Bool,
        extradata: [UInt8]
    ) {
        self.encoder = encoder
        self.configuration = configuration
        self.globalHeaders = globalHeaders
        self.extradata = extradata
    }

    /// Adds the next frame.
    func add(_ frame: consuming Frame) {
        var frame = Optional(frame)
        state.withLock { state in
            if let frame = frame.take() { state.frames.append(frame) }
        }
        schedule()
    }

    /// Marks the end of the frames.
    func end() {
        state.withLock { $0.hasEnd = true }
        schedule()
    }

    /// Drops the frames that aren't encoded yet.
    func cancel() {
        state.withLock { state in
            state.frames = UniqueDeque()
            state.isComplete = true
        }
    }

    /// Encodes the next frame, if there is one, on the caller's thread. Returns whether the chunk is complete.
    func encodeNext() -> Bool { queue.sync { step() } }

    /// Returns the next packet in decoding order; nil if none is available yet. Throws the encoder's error.
    func nextPacket() throws(AVError) -> Packet? {
        try state.withLock { state throws(AVError) -> Packet? in
            if let packet = state.packets.popFirst() { return packet }
            if let failure = state.failure { throw failure }
            return nil
        }
    }

    private func schedule() { queue.async { @Sendable in _ = self.step() } }

    /// Encodes one frame, or drains the encoder at the end; runs on the queue. Returns whether the chunk is complete.
    private func step() -> Bool {
        var next: Frame?
        let isComplete = state.withLock { state in
            if state.isComplete { return true }
            next = state.frames.popFirst()
            return false
        }
        if isComplete { return true }
        do throws(AVError) {
            if let frame = next.take() {
                try encode(frame)
                return false
            }
            guard state.withLock({ $0.hasEnd }) else { return false }
            if let encoder = encoder.take() {
                try encoder.sendEnd()
                try receive(from: encoder)
            }
            complete(nil)
        } catch {
            complete(error)
        }
        return true
    }

    private func complete(_ failure: AVError?) {
        encoder = nil
        state.withLock { state in
            state.frames = UniqueDeque()
            state.failure = failure
            state.isComplete = true
        }
    }

    private func encode(_ frame: consuming Frame) throws(AVError) {
        var taken = encoder.take()
        if taken == nil { taken = try open() }
        guard let current = taken.take() else { return }
        while try !current.send(frame) { try receive(from: current) }
        try receive(from: current)
        encoder = consume current
    }

    private func open() throws(AVError) -> FrameEncoder {
        let opened = try FrameEncoder.open(configuration, globalHeaders: globalHeaders)
        guard opened.parameters.extradata == extradata else {
            throw AVError(
                code: -22, operation: "encoding", detail: "the parameter sets of two chunks differ")
        }
        return opened
    }

    private func receive(from encoder: borrowing FrameEncoder) throws(AVError) {
        while true {
            let packet = try Packet()
            guard case .ready = try encoder.receive(into: packet) else { return }
            var received = Optional(packet)
            state.withLock { state in
                if let packet = received.take() { state.packets.append(packet) }
            }
        }
    }
}
