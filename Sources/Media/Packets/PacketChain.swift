internal import DequeModule
internal import LibAV

/// A sequence of packet stages whose output is requested packet by packet. Confined to one queue.
final class PacketChain {
    private let stages: [any PacketStage]
    private var ready = UniqueDeque<Packet>()
    private var isAtEnd = false
    private var failure: (any Error)?

    init(_ stages: [any PacketStage]) { self.stages = stages }

    /// Returns the next packet from the last stage, or nil at the end; `source` returns the packets for the first
    /// stage. Packets that were read before an error of `source` are returned before the error is thrown.
    func next(from source: () throws -> Packet?) throws -> Packet? {
        if stages.isEmpty { return try source() }
        while true {
            if let packet = ready.popFirst() { return packet }
            if let failure { throw failure }
            if isAtEnd { return nil }
            do {
                if let packet = try source() {
                    try push(packet, to: 0)
                } else {
                    isAtEnd = true
                    try finish()
                }
            } catch {
                failure = error
                try interrupt()
            }
        }
    }

    private func push(_ packet: consuming Packet, to index: Int) throws {
        guard index < stages.count else { return ready.append(packet) }
        try stages[index].push(packet) { packet in try push(packet, to: index + 1) }
    }

    private func finish() throws {
        for (index, stage) in stages.enumerated() {
            try stage.finish { packet in try push(packet, to: index + 1) }
        }
    }

    private func interrupt() throws {
        for (index, stage) in stages.enumerated() {
            try stage.interrupt { packet in try push(packet, to: index + 1) }
        }
    }

    /// Reports a lost packet to all stages.
    func noteLoss() { for stage in stages { stage.noteLoss() } }

    /// Resets all stages after a seek.
    func reset() {
        ready = UniqueDeque()
        (isAtEnd, failure) = (false, nil)
        for stage in stages { stage.reset() }
    }
}
