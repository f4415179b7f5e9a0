internal import LibAV

/// What libavformat doesn't know of H.264 whose frames are pairs of fields. Its parser gives each field from transport
/// streams and bare ones as a packet of its own, the second one without times: they are put back together. Where a packet
/// has both, it says the length of one.
///
/// Values of it follow a stream's packets in decoding order, from a key frame on.
struct FieldPairs {
    private var sets: AVCSets
    private let framing: NALFraming
    /// What the stream says of its rate.
    private let frameRate: Rational?
    /// A whole frame; 0 where nobody says.
    private let frameLength: Int64
    private var isFollowing = false
    private var first: (field: AVCField, time: Int64, length: Int64)?

    /// Nil where the stream has no such packets.
    init?(_ parameters: CodecParameters, frameRate: Rational?, timeBase: Rational) {
        guard let bitstream = CutBitstream(parameters), let sets = bitstream.sets,
            sets.sequences.values.contains(where: { !$0.isFramesOnly })
        else { return nil }
        self.sets = sets
        framing = bitstream.framing
        self.frameRate = sets.sequences.values.lazy.compactMap(\.frameRate).first
        frameLength = (self.frameRate ?? frameRate).map { $0.inverted.rescale(1, to: timeBase) } ?? 0
    }

    init?(_ stream: StreamInfo) {
        self.init(
            stream.parameters, frameRate: stream.averageFrameRate ?? stream.baseFrameRate,
            timeBase: stream.timeBase)
    }

    /// The last packet was a first field: its other one may come.
    var isWaiting: Bool { first != nil }

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
        if let first, let field, first.field.isCompleted(by: field),
            let length = length(first.time, first.length, packet)
        {
            self.first = nil
            return Frame(start: first.time, length: length)
        }
        first =
            isFollowing && packet.pts != noTimestamp ? field.map { ($0, packet.pts, packet.duration) } : nil
        return nil
    }

    private mutating func firstField(_ packet: borrowing Packet) -> AVCField? {
        packet.withBytes { bytes in
            var field: AVCField?
            var isFound = false
            _ = framing.forEach(in: bytes, while: { !isFound }) { unit in
                switch unit[0] & 0x1f {
                case 7, 8: _ = sets.take(unit)
                case 1...5: (isFound, field) = (true, AVCField(unit, sets))
                default: break
                }
            }
            return field
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
        return frameRate == nil ? length : frameLength
    }

    /// The rate of frames where libavformat's is that of their fields.
    static func frameRate(_ stream: StreamInfo) -> Rational? {
        guard let pairs = FieldPairs(stream), let rate = pairs.frameRate,
            let average = stream.averageFrameRate ?? stream.baseFrameRate,
            abs(average.double / rate.double - 2) < 0.1
        else { return nil }
        return rate
    }

    /// After a seek nothing is known of the packet before.
    mutating func forget() { (first, isFollowing) = (nil, false) }
}
