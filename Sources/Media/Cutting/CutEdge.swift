internal import DequeModule
internal import LibAV
internal import Locking

/// Re-encodes the frames at an edge of a cut, with a separate decoder, encoder and queue.
///
/// Unchecked `Sendable`: all mutable state is used on `queue` only.
final class CutEdge: @unchecked Sendable {
    private let queue = SerialQueue(label: "tandem.cut-edge")
    private let producer: any SampleProducer
    private let stage: VideoEncoderStage
    private let count: Int
    private let evidence: CutEvidence
    private let part: Int
    private let tick: Rational
    private let reference: TrackReference
    /// Parameter sets of H.264; those of HEVC are in the packets.
    let parameterSets: [[UInt8]]
    private var packets = UniqueDeque<Packet>()
    /// Size of the queued packets in bytes.
    private var bytes = 0
    /// Whether encoding of the next frame is scheduled.
    private var isStepping = false
    private var frameCount = 0
    private var isFinished = false
    private var failure: (any Error)?

    /// Creates an edge of `count` frames. They are kept in `evidence` as those of `part`, with their times in `tick`.
    init(
        producer: any SampleProducer, encoder: EncoderConfiguration, count: Int, evidence: CutEvidence,
        part: Int, tick: Rational, reference: TrackReference
    ) throws {
        self.part = part
        self.producer = producer
        self.evidence = evidence
        self.tick = tick
        self.count = count
        self.reference = reference
        let opened = try FrameEncoder.open(encoder, globalHeaders: true)
        parameterSets = AVCHeaders(opened.parameters.extradata).map { $0.sequences + $0.pictures } ?? []
        stage = VideoEncoderStage(
            encoder: .whole(opened), configuration: encoder, isFedByReader: true, reference: reference)
    }

    /// Maximum numbers of packets and bytes encoded ahead: a file's edge is short, but an encoded section of a
    /// composition may be long.
    private static let maxPending = (packets: 240, bytes: 32 << 20)

    /// Starts encoding ahead, up to the limits.
    func prepare() { queue.async { @Sendable in self.schedule() } }

    /// Schedules the encoding of one frame if the limits allow it. Each frame is a separate block, so that other blocks
    /// on `queue` run in between.
    private func schedule() {
        guard !isStepping, !isFinished, failure == nil, packets.count < Self.maxPending.packets,
            bytes < Self.maxPending.bytes
        else { return }
        isStepping = true
        queue.async { @Sendable in
            self.isStepping = false
            do { if !self.isFinished { try self.advance() } } catch { self.failure = error }
            self.schedule()
        }
    }

    private func keep(_ packet: consuming Packet) {
        bytes += packet.withBytes { $0.count }
        packets.append(packet)
    }

    /// Returns the next packet, nil at the end. Packets are in presentation order, because the encoder doesn't reorder.
    func next() throws -> Packet? {
        var result: Packet?
        try queue.sync {
            if let failure { throw failure }
            while packets.isEmpty, !isFinished { try advance() }
            result = packets.popFirst()
            if let packet = result.take() {
                bytes -= packet.withBytes { $0.count }
                result = consume packet
            }
            schedule()
        }
        return result
    }

    /// Encodes the next frame; runs on `queue`.
    private func advance() throws {
        if let sample = try producer.nextAtOnce() {
            frameCount += 1
            let time = sample.presentationTime.ticks(in: tick)
            _ = try sample.withFrame { try evidence.keep($0, of: part, at: time) }
            try stage.append(sample, start: .zero, end: nil) { keep($0) }
            return
        }
        try stage.finish { keep($0) }
        isFinished = true
        // `count` is the number of packets in the scan; fewer decoded frames mean damage.
        if frameCount != count { throw MediaError.damaged(track: reference, at: nil) }
    }
}
