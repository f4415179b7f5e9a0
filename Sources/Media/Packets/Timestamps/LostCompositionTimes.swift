internal import LibAV

/// Corrects packets of a movie with reordered frames but no composition offsets (`ctts`), whose presentation times
/// equal their decoding times.
///
/// An edit list that compensates for the missing offsets would hide the first frames. The discard flags of these frames
/// are cleared, and all packets are shifted by the same time.
final class LostCompositionTimes: PacketStage {
    private let shift: Int64

    init(shift: Int64) { self.shift = shift }

    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws {
        guard shift > 0 else { return try next(packet) }
        packet.clearDiscard()
        if packet.pts != noTimestamp { packet.pts = packet.pts.adding(upToLimit: shift) }
        if packet.dts != noTimestamp { packet.dts = packet.dts.adding(upToLimit: shift) }
        try next(packet)
    }
}

/// Assigns presentation times to frames of a decoder whose packets only have decoding times: a decoder outputs frames
/// in presentation order, so the n-th frame gets the n-th smallest time.
struct SortedTimes {
    private var pending: [Int64] = []

    /// Registers the time of a packet that is sent to the decoder.
    mutating func note(_ time: Int64) {
        guard time != noTimestamp else { return }
        let position = pending.lastIndex { $0 <= time }.map { $0 + 1 } ?? 0
        pending.insert(time, at: position)
    }

    /// Removes the time of a packet that yields no frame.
    mutating func remove(_ time: Int64) {
        if let index = pending.firstIndex(of: time) { pending.remove(at: index) }
    }

    /// Returns the presentation time of the next frame, whose packet has the time `own`. At a keyframe, times of
    /// earlier packets that haven't yielded a frame are removed.
    mutating func next(own: Int64, isKey: Bool) -> Int64 {
        if isKey, own != noTimestamp { pending.removeAll { $0 < own } }
        return pending.isEmpty ? own : pending.removeFirst()
    }
}
