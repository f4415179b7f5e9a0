internal import DequeModule
internal import LibAV

/// Stages one behind another, out of which packets are taken one by one. Confined to one queue.
final class PacketChain {
    private let stages: [any PacketStage]
    private var ready = UniqueDeque<Packet>()
    private var isAtEnd = false
    private var failure: (any Error)?

    init(_ stages: [any PacketStage]) { self.stages = stages }

    /// The next packet that comes out of the last stage, or nil at the end; `source` gives those that go into the first one.
    /// What a failing source gave before comes first.
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

    private func push(_ packet: consuming Packet, to place: Int) throws {
        guard place < stages.count else { return ready.append(packet) }
        try stages[place].push(packet) { packet in try push(packet, to: place + 1) }
    }

    private func finish() throws {
        for (place, stage) in stages.enumerated() {
            try stage.finish { packet in try push(packet, to: place + 1) }
        }
    }

    private func interrupt() throws {
        for (place, stage) in stages.enumerated() {
            try stage.interrupt { packet in try push(packet, to: place + 1) }
        }
    }

    /// See `PacketStage`.
    func lose() { for stage in stages { stage.lose() } }

    /// Begins anew with packets of another place.
    func reset() {
        ready = UniqueDeque()
        (isAtEnd, failure) = (false, nil)
        for stage in stages { stage.reset() }
    }
}
