internal import LibAV

/// What libavformat doesn't know of H.264 whose frames are pairs of fields. Its parser gives each field from transport
/// streams as a packet of its own, mostly the second one without times: they are put back together. Where a packet has
/// both, it says the length of one.
///
/// Values of it follow a stream's packets in decoding order.
struct FieldPairs {
    private var sets: AVCSets
    private let framing: NALFraming
    /// A whole frame at the container's rate; 0 where nobody says.
    private let frameLength: Int64
    /// The stream itself says that rate: libavformat has the length of a field from it.
    private let isSaid: Bool
    private var isFollowing = false
    private var first: (field: AVCField, time: Int64, length: Int64)?

    /// Nil where the stream has no such packets.
    init?(_ parameters: CodecParameters, frameRate: Rational?, timeBase: Rational) {
        guard let bitstream = CutBitstream(parameters), let sets = bitstream.sets,
            sets.sequences.values.contains(where: { !$0.isFramesOnly })
        else { return nil }
        self.sets = sets
        framing = bitstream.framing
        frameLength = frameRate.map { $0.inverted.rescale(1, to: timeBase) } ?? 0
        isSaid = sets.sequences.values.contains { sequence in
            guard let said = sequence.frameRate, let frameRate else { return false }
            return abs(said.double / frameRate.double - 1) < 0.1
        }
    }

    init?(_ stream: StreamInfo) {
        self.init(
            stream.parameters, frameRate: stream.averageFrameRate ?? stream.baseFrameRate,
            timeBase: stream.timeBase)
    }

    /// The last packet was a first field: its other one may come.
    var isWaiting: Bool { first != nil }

    /// The last packet was a field without its first one and without times, as captures begin with.
    private(set) var isTorn = false

    /// When a frame is shown and how long.
    struct Frame: Hashable {
        var start: Int64
        var length: Int64
    }

    /// Takes note of the next packet, and mends how long it lasts. Where it is the other field of the last one: the frame
    /// that they are.
    mutating func take(_ packet: borrowing Packet) -> Frame? {
        guard framing == .startCodes else {
            if hasBoth(packet), packet.duration > 0, packet.duration <= frameLength / 2 + 1 {
                packet.duration = frameLength
            }
            return nil
        }
        let field = firstField(packet)
        isFollowing = isFollowing || packet.isKey
        // Before a key frame, only a second field without times is one for sure.
        if let first, let field, first.field.isCompleted(by: field),
            isFollowing || packet.pts == noTimestamp,
            let length = length(first.time, first.length, packet)
        {
            (self.first, isTorn) = (nil, false)
            return Frame(start: first.time, length: length)
        }
        first = packet.pts != noTimestamp ? field.map { ($0, packet.pts, packet.duration) } : nil
        isTorn = field != nil && packet.pts == noTimestamp
        return nil
    }

    private mutating func firstField(_ packet: borrowing Packet) -> AVCField? {
        packet.withBytes { bytes in
            // Most often it is near the beginning; where a slice ends, nobody needs to know.
            for length in [min(1024, bytes.count), bytes.count] {
                var field: AVCField?
                var isFound = false
                let part = UnsafeRawBufferPointer(rebasing: bytes[..<length])
                _ = framing.forEach(in: part, while: { !isFound }) { unit in
                    switch unit[0] & 0x1f {
                    case 7, 8: _ = sets.take(unit)
                    case 1...5:
                        isFound = unit.count >= AVCField.most || length == bytes.count
                        field = AVCField(unit, sets)
                    default: break
                    }
                }
                if isFound { return field }
            }
            return nil
        }
    }

    private func hasBoth(_ packet: borrowing Packet) -> Bool {
        packet.withBytes { bytes in
            var first: AVCField?
            var (isFound, hasBoth) = (false, false)
            _ = framing.forEach(in: bytes, while: { !hasBoth && (!isFound || first != nil) }) { unit in
                guard (1...5).contains(unit[0] & 0x1f) else { return }
                let field = AVCField(unit, sets)
                if isFound {
                    hasBoth = field.map { first?.isCompleted(by: $0) == true } ?? false
                } else {
                    (first, isFound) = (field, true)
                }
            }
            return hasBoth
        }
    }

    /// How long both are shown; nil where they are too far from one another.
    private func length(_ start: Int64, _ length: Int64, _ second: borrowing Packet) -> Int64? {
        if second.pts != noTimestamp {
            let (distance, isOver) = second.pts.subtractingReportingOverflow(start)
            return !isOver && distance > 0 && distance <= frameLength ? 2 * distance : nil
        }
        // Where the stream says its rate, libavformat says the length of a field, else that of a frame.
        return isSaid ? frameLength : length
    }

    /// After a seek nothing is known of the packet before.
    mutating func forget() { (first, isFollowing) = (nil, false) }
}
