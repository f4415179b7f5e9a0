internal import LibAV

/// Packets of a movie that reorders frames and has no composition offsets (`ctts`): each claims to be shown when it is decoded.
///
/// An edit list that made up for the lost offsets hides the first frames. They are shown again, and all packets move by as much.
final class LostCompositionTimes: PacketStage {
    private let shift: Int64

    init(shift: Int64) { self.shift = shift }

    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws {
        guard shift > 0 else { return try next(packet) }
        packet.show()
        if packet.pts != noTimestamp { packet.pts = packet.pts.adding(upToLimit: shift) }
        if packet.dts != noTimestamp { packet.dts = packet.dts.adding(upToLimit: shift) }
        try next(packet)
    }
}

/// Assigns presentation times to frames of a decoder whose packets only have decoding times: a decoder outputs frames in
/// presentation order, so the n-th frame has the n-th time.
struct SortedTimes {
    private var pending: [Int64] = []

    /// Notes the time of a packet that is given to the decoder.
    mutating func note(_ time: Int64) {
        guard time != noTimestamp else { return }
        let position = pending.lastIndex { $0 <= time }.map { $0 + 1 } ?? 0
        pending.insert(time, at: position)
    }

    /// Forgets a packet that gives no frame.
    mutating func lose(_ time: Int64) {
        if let index = pending.firstIndex(of: time) { pending.remove(at: index) }
    }

    /// The presentation time of the next frame, whose packet has the time `own`. Packets before a keyframe that gave no frame by then
    /// never will.
    mutating func next(own: Int64, isKey: Bool) -> Int64 {
        if isKey, own != noTimestamp { pending.removeAll { $0 < own } }
        return pending.isEmpty ? own : pending.removeFirst()
    }
}
