internal import DequeModule
internal import LibAV
internal import Locking

/// A chunk of a video track, which is encoded on a queue of its own, or whose packets are those of a stored chunk of the
/// same frames.
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
        /// Checksum of the frames, once it is complete.
        var checksum: Checksum.Value?
        /// Whether the packets are those of a stored chunk.
        var isReused = false
    }

    private let state = Guarded(State())
    private let queue = SerialQueue(label: "tandem.chunk")
    private let configuration: EncoderConfiguration
    private let globalHeaders: Bool
    private let extradata: [UInt8]
    private var encoder: FrameEncoder?
    /// The stored chunk whose packets are used if its frames are the same; nil once they aren't.
    private var stored: StoredChunk?
    /// Checksum of the frames so far; nil if it isn't computed.
    private var checksum: Checksum?
    /// Presentation times of the frames that were added to the checksum.
    private var times: [Int64] = []
    /// Frames that were added to the checksum, until they turn out to be those of the stored chunk.
    private var held = UniqueDeque<Frame>()

    /// Creates a chunk. Without an `encoder`, one is opened for the first frame; its parameter sets must be `extradata`. With a
    /// `stored` chunk, no frame is encoded before all are known. `measures`: whether the checksum of the frames is computed
    /// in any case.
    init(
        _ encoder: consuming FrameEncoder?, _ configuration: EncoderConfiguration, globalHeaders: Bool,
        extradata: [UInt8], stored: StoredChunk? = nil, measures: Bool = false
    ) throws(AVError) {
        self.stored = stored
        checksum = stored != nil || measures ? try Checksum() : nil
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

    /// The checksum of the frames, and whether the packets are those of a stored chunk; known when the chunk is complete.
    var result: (checksum: Checksum.Value?, isReused: Bool) {
        state.withLock { ($0.checksum, $0.isReused) }
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
                checksum?.add(frame)
                if stored != nil {
                    times.append(frame.pts)
                    held.append(frame)
                } else {
                    try encode(frame)
                }
                return false
            }
            guard state.withLock({ $0.hasEnd }) else { return false }
            if let checksum = checksum.take() {
                let value = checksum.finish()
                state.withLock { $0.checksum = value }
                if let stored = stored.take() {
                    if complete(with: stored, of: value) { return true }
                    // `step` encodes the held frames one by one.
                    returnHeldFrames()
                    return false
                }
            }
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

    /// Completes the chunk with the packets of a stored one. Returns false, without effect, unless its frames have the
    /// checksum `frames` and its packets can be read.
    private func complete(with stored: StoredChunk, of frames: Checksum.Value) -> Bool {
        guard stored.frames == frames, var packets = stored.packets(of: times) else { return false }
        held = UniqueDeque()
        state.withLock { state in
            while let packet = packets.popFirst() { state.packets.append(packet) }
            state.isReused = true
        }
        complete(nil)
        return true
    }

    /// Queues the held frames for encoding.
    private func returnHeldFrames() {
        let steps = held.count + 1
        state.withLock { state in
            while let frame = held.popFirst() { state.frames.append(frame) }
        }
        for _ in 0..<steps { schedule() }
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
