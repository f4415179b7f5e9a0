internal import LibAV

/// Puts the two fields of a frame back together: libavformat's parser gives each field of H.264 from transport streams as
/// a packet of its own, mostly the second one without times. Where a packet has both, there is nothing to do.
///
/// Values of it follow a stream's packets in decoding order.
struct FieldPairs {
    /// What a packet is.
    enum Role: Hashable {
        /// A frame, or what may be the first field of one.
        case own
        /// The other field of the packet before: when their frame is shown and how long.
        case second(start: Int64, length: Int64)
        /// The first one that there is, without times and without the field before it: captures begin so.
        case torn
    }

    private var sets: AVCParameterSets
    /// A whole frame at the container's rate; 0 where nobody says.
    private let frameLength: Int64
    /// The stream itself says that rate: libavformat has the length of a field from it.
    private let isSaid: Bool
    /// A packet came, and a key frame among them.
    private var (hasBegun, isFollowing) = (false, false)
    private var first: (slice: AVCSliceStart, time: Int64, length: Int64)?

    /// Nil where the stream has no such packets.
    init?(_ parameters: CodecParameters, frameRate: Rational?, timeBase: Rational) {
        guard parameters.traits.parameterSets == .avc, let headers = AVCHeaders(parameters.extradata),
            headers.framing == .startCodes, let sets = AVCParameterSets(headers),
            sets.sequences.values.contains(where: { !$0.isFramesOnly })
        else { return nil }
        self.sets = sets
        frameLength = frameRate.map { $0.inverted.rescale(1, to: timeBase) } ?? 0
        isSaid = sets.sequences.values.contains { sequence in
            guard let said = sequence.frameRate, let frameRate else { return false }
            return abs(said.double / frameRate.double - 1) < 0.1
        }
    }

    /// The last packet was a first field: its other one may come.
    var isWaiting: Bool { first != nil }

    /// Takes note of the next packet.
    mutating func take(_ packet: borrowing Packet) -> Role {
        let slice = firstSlice(packet)
        isFollowing = isFollowing || packet.isKey
        // Before a key frame, only a second field without times is one for sure.
        if let first, let slice, first.slice.isCompleted(by: slice),
            isFollowing || packet.pts == noTimestamp,
            let length = length(first.time, first.length, packet)
        {
            self.first = nil
            return .second(start: first.time, length: length)
        }
        let isField = slice?.isField == true
        if isField, packet.pts == noTimestamp, !hasBegun { return .torn }
        hasBegun = true
        first = nil
        if let slice, isField, packet.pts != noTimestamp { first = (slice, packet.pts, packet.duration) }
        return .own
    }

    private mutating func firstSlice(_ packet: borrowing Packet) -> AVCSliceStart? {
        packet.withBytes { bytes in
            // Most often it is near the beginning; where a slice ends, nobody needs to know.
            for length in [min(1024, bytes.count), bytes.count] {
                var slice: AVCSliceStart?
                var isFound = false
                let part = UnsafeRawBufferPointer(rebasing: bytes[..<length])
                _ = NALFraming.startCodes.forEach(in: part, while: { !isFound }) { unit in
                    switch unit[0] & 0x1f {
                    case 7, 8: _ = sets.take(unit)
                    case 1...5:
                        isFound = unit.count >= AVCSliceStart.most || length == bytes.count
                        var bits = NALBits(unit, skipping: 1, most: AVCSliceStart.most)
                        slice = AVCSliceStart(unit, &bits, sets)
                    default: break
                    }
                }
                if isFound { return slice }
            }
            return nil
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

    /// After a seek nothing is known of the packets before.
    mutating func forget() { (first, hasBegun, isFollowing) = (nil, false, false) }
}
