internal import LibAV

/// Pairs the two fields of a frame: in transport streams, libavformat's parser returns each field of H.264 as a
/// separate packet, and the second one usually has no times. Packets with both fields are unchanged.
///
/// An instance processes a stream's packets in decoding order.
struct FieldPairs {
    /// Role of a packet.
    enum Role: Hashable {
        /// A frame, or possibly the first field of one.
        case frame
        /// The second field of the previous packet's frame, with the frame's presentation time and duration.
        case second(start: Int64, length: Int64)
        /// A second field without times at the start of a stream, whose first field is missing.
        case torn
    }

    private var sets: AVCParameterSets
    /// Duration of a frame at the container's rate; 0 if unknown.
    private let frameLength: Int64
    /// Whether the sequence parameter sets contain this rate; libavformat then reports the duration of a field.
    private let isRateDeclared: Bool
    /// `hasBegun`: a packet was processed since the start or the last seek. `isFollowing`: a keyframe was processed,
    /// too.
    private var (hasBegun, isFollowing) = (false, false)
    private var first: (slice: AVCSliceStart, time: Int64, length: Int64)?

    /// Returns nil unless the stream may have fields in separate packets.
    init?(_ parameters: CodecParameters, frameRate: Rational?, timeBase: Rational) {
        guard parameters.traits.parameterSets == .avc, let headers = AVCHeaders(parameters.extradata),
            headers.framing == .startCodes, let sets = AVCParameterSets(headers),
            sets.sequences.values.contains(where: { !$0.isFramesOnly })
        else { return nil }
        self.sets = sets
        frameLength = frameRate.map { $0.inverted.rescale(1, to: timeBase) } ?? 0
        isRateDeclared = sets.sequences.values.contains { sequence in
            guard let declared = sequence.frameRate, let frameRate else { return false }
            return abs(declared.double / frameRate.double - 1) < 0.1
        }
    }

    /// Whether the last packet may be the first field of a frame.
    var isWaiting: Bool { first != nil }

    /// Processes the next packet and returns its role.
    mutating func take(_ packet: borrowing Packet) -> Role {
        let slice = firstSlice(packet)
        isFollowing = isFollowing || packet.isKey
        // Before a keyframe, only a field without times is reliably a second field.
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
        return .frame
    }

    private mutating func firstSlice(_ packet: borrowing Packet) -> AVCSliceStart? {
        packet.withBytes { bytes in
            // The first slice usually begins within the first 1024 bytes; only its header is parsed.
            for length in [min(1024, bytes.count), bytes.count] {
                var slice: AVCSliceStart?
                var isFound = false
                let part = UnsafeRawBufferPointer(rebasing: bytes[..<length])
                _ = NALFraming.startCodes.forEach(in: part, while: { !isFound }) { unit in
                    switch unit[0] & 0x1f {
                    case 7, 8: _ = sets.take(unit)
                    case 1...5:
                        isFound = unit.count >= AVCSliceStart.maxBytes || length == bytes.count
                        var bits = NALBits(unit, skipping: 1, maxBytes: AVCSliceStart.maxBytes)
                        slice = AVCSliceStart(unit, &bits, sets)
                    default: break
                    }
                }
                if isFound { return slice }
            }
            return nil
        }
    }

    /// Returns the duration of both fields; nil if their times are more than a frame apart.
    private func length(_ start: Int64, _ length: Int64, _ second: borrowing Packet) -> Int64? {
        if second.pts != noTimestamp {
            let (distance, isOver) = second.pts.subtractingReportingOverflow(start)
            return !isOver && distance > 0 && distance <= frameLength ? 2 * distance : nil
        }
        // If the stream declares its rate, libavformat reports the duration of a field, otherwise that of a frame.
        return isRateDeclared ? frameLength : length
    }

    /// Resets the state after a seek.
    mutating func forget() { (first, hasBegun, isFollowing) = (nil, false, false) }
}
