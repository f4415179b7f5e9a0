internal import DequeModule
internal import Dispatch
internal import LibAV

/// Frames at an edge of a cut through a decoder and an encoder of their own, on a queue of their own.
///
/// Unchecked `Sendable`: everything mutable is touched on `queue` only.
final class CutEdge: @unchecked Sendable {
    private let queue = DispatchQueue(label: "tandem.cut-edge")
    private let producer: any SampleProducer
    private let stage: VideoEncoderStage
    private let count: Int
    private let evidence: CutEvidence
    private let part: Int
    private let tick: Rational
    private let label: String
    /// Of H.264; HEVC's are in the packets.
    let parameterSets: [[UInt8]]
    private var packets = UniqueDeque<Packet>()
    /// Of those that wait.
    private var bytes = 0
    /// One frame more is to be made.
    private var isStepping = false
    private var pictures = 0
    private var isFinished = false
    private var failure: (any Error)?

    /// The frames are kept in `evidence` as those of a part, with their times in `tick`.
    init(
        producer: any SampleProducer, encoder: EncoderConfiguration, count: Int, evidence: CutEvidence,
        part: Int, tick: Rational, label: String
    ) throws {
        self.part = part
        self.producer = producer
        self.evidence = evidence
        self.tick = tick
        self.count = count
        self.label = label
        let opened = try FrameEncoder.open(encoder, globalHeaders: true)
        parameterSets = AVCHeaders(opened.parameters.extradata).map { $0.sequences + $0.pictures } ?? []
        stage = VideoEncoderStage(encoder: opened, configuration: encoder, isFedByReader: true)
    }

    /// Packets and bytes that are made ahead: an edge has few, and what a composition makes may be long.
    private static let most = (packets: 240, bytes: 32 << 20)

    /// Makes packets ahead, as many as may wait.
    func prepare() { queue.async { @Sendable in self.schedule() } }

    /// Makes one frame more, where there is room; in between others are heard. On `queue`.
    private func schedule() {
        guard !isStepping, !isFinished, failure == nil, packets.count < Self.most.packets,
            bytes < Self.most.bytes
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

    /// The next packet; without reordering they come as they are shown. Nil when all were given.
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

    /// One frame on; on `queue`.
    private func advance() throws {
        if let sample = try producer.nextAtOnce() {
            pictures += 1
            let time = sample.presentationTime.ticks(in: tick)
            _ = try sample.withFrame { try evidence.keep($0, of: part, at: time) }
            try stage.encode(sample, start: .zero, end: nil) { keep($0) }
            return
        }
        try stage.finish { keep($0) }
        isFinished = true
        // The scan saw so many packets; a decoder that shows fewer met damage.
        if pictures != count { throw MediaError.damaged(track: label, at: nil) }
    }
}
