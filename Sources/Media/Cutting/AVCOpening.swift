/// Rewriter of copied H.264 that begins at a recovery point of its source rather than at an IDR frame. References to
/// earlier frames are removed from slice headers; slice data is unchanged.
///
/// The first frame becomes an IDR frame. Up to the source's next IDR frame, frame numbers and picture order counts
/// are relative to it, and operations that unmark earlier frames are removed. Dropped leading frames leave gaps in
/// the frame numbers; the SPS allows gaps, so decoders insert frames that are never referenced.
struct AVCOpening {
    /// A slice or parameter set can't be parsed, or uses features that aren't supported here.
    struct Unreadable: Error {}
    /// Frames after the first one depend on leading frames that are references.
    struct DependsOnLeadingFrames: Error {}

    private var sets: AVCParameterSets
    /// Value of `idr_pic_id`, which must differ between consecutive IDR frames: 253 or 254, which encoders rarely use.
    /// Their codes have 15 bits, and `dec_ref_pic_marking` of an IDR frame has one bit more than that of a frame with a
    /// sliding window. In the latter case, the header grows by 16 bits, and slice data is shifted by whole bytes.
    private let identifier: Int
    /// Values to subtract; nil before the first frame.
    private var base: (sequence: AVCParameterSets.Sequence, frameNumber: Int, order: Int)?
    /// Whether the current slices belong to the first frame; with field coding, to its first field.
    private var isOpening = false
    /// Number of frames since the first one, and `frame_num` of the latest frame in the source.
    private var frames = 0
    private var lastNumber = 0
    /// Number of fields that are still marked as references, for each dropped leading frame; keys are numbers of frames
    /// since the first one.
    private var missing: [Int: Int] = [:]
    /// Whether rewriting has ended: from the source's next IDR frame on, slices are unchanged.
    private(set) var isOver: Bool

    /// Creates a rewriter. `isOpen`: whether the first frame is a recovery point; otherwise only sequence parameter
    /// sets are changed, as in all parts of the cut. `part`: index of the part.
    init(_ sets: AVCParameterSets, isOpen: Bool, part: Int = 0) {
        self.sets = sets
        identifier = 254 - part & 1
        isOver = !isOpen
    }

    /// Returns whether a slice can belong to the first frame.
    static func canOpen(with header: AVCSliceHeader) -> Bool {
        header.isIntra && header.isReference && !header.isIDR
            && header.marking?.operations?.contains { $0.code != 1 } != true
    }

    /// Returns the rewritten NAL unit; nil if it is unchanged.
    mutating func rewritten(_ unit: UnsafeRawBufferPointer) throws -> [UInt8]? {
        let type = unit[0] & 0x1f
        // Unknown sequence parameter sets are supported only after the source's next IDR frame.
        if type == 7, let other = sets.allowingGaps(unit) { return other }
        guard !isOver else { return nil }
        switch type {
        case 1: return try slice(unit)
        case 8 where sets.take(unit): return nil
        // Data partitions, additional views and auxiliary pictures would require the same rewriting.
        case 2...4, 7, 8, 14, 19...21: throw Unreadable()
        default: return nil
        }
    }

    /// Ends the rewriting at the source's next IDR frame.
    mutating func finish() { isOver = true }

    /// Registers a dropped leading frame, for which decoders insert a frame that is never referenced. The inserted
    /// frame takes the dropped one's position in reference lists of P slices, but not of B slices, so it must be
    /// unmarked before the next B slice.
    mutating func dropLeadingFrame(_ unit: UnsafeRawBufferPointer) throws {
        guard !isOver, unit[0] & 0x1f == 1 else { return }
        guard let header = AVCSliceHeader(unit, sets), base != nil else { throw DependsOnLeadingFrames() }
        guard header.beginsPicture, header.isReference else { return }
        count(header)
        // The operations of a dropped frame aren't executed, so they must not concern frames of the output.
        let operations = header.marking?.operations ?? []
        guard operations.allSatisfy({ $0.code == 1 && unmarksDroppedFrame($0, header) }) else {
            throw DependsOnLeadingFrames()
        }
        missing[frames, default: 0] += header.isField ? 1 : 2
    }

    private mutating func count(_ header: AVCSliceHeader) {
        frames += (header.start.frameNumber - lastNumber) & (1 << header.start.sequence.frameNumberBits - 1)
        lastNumber = header.start.frameNumber
    }

    private mutating func slice(_ unit: UnsafeRawBufferPointer) throws -> [UInt8] {
        guard let header = AVCSliceHeader(unit, sets) else { throw Unreadable() }
        if base == nil {
            guard header.beginsPicture, Self.canOpen(with: header) else { throw Unreadable() }
            // The earlier field of an IDR frame has picture order count 0.
            base = (
                header.start.sequence, header.start.frameNumber,
                (header.order?.value ?? 0) + min(0, header.bottomOrder)
            )
            isOpening = true
            lastNumber = header.start.frameNumber
        } else if header.beginsPicture {
            isOpening = false
            count(header)
        }
        if header.isBidirectional, !missing.isEmpty { throw DependsOnLeadingFrames() }
        guard let base, header.start.sequence == base.sequence else { throw Unreadable() }
        var bits = NALRewriter(unit, through: header.end)
        bits.subtract(
            base.frameNumber, at: header.start.frameNumberPosition, count: base.sequence.frameNumberBits)
        if let order = header.order, let count = base.sequence.orderBits {
            bits.subtract(base.order, at: order.position, count: count)
        }
        if isOpening {
            guard let marking = header.marking, Self.canOpen(with: header) else { throw Unreadable() }
            bits.convertToIDR()
            bits.splice(
                [
                    (header.identifierPosition..<header.identifierPosition, NALRewriter.number(identifier)),
                    (marking.range, [0, 0]),
                ], headerEnd: header.end, isAligned: header.isCABAC)
        } else if let marking = header.marking, let operations = marking.operations {
            // Operations on long-term references may concern frames before the first one.
            guard operations.allSatisfy({ $0.code == 1 }) else { throw Unreadable() }
            let kept = operations.filter { !unmarksDroppedFrame($0, header) }
            if header.beginsPicture { for operation in kept { unmark(operation, header) } }
            if kept.count != operations.count {
                let written = kept.flatMap {
                    NALRewriter.number($0.code) + $0.values.flatMap(NALRewriter.number)
                }
                bits.splice(
                    [(marking.range, [1] + written + NALRewriter.number(0))], headerEnd: header.end,
                    isAligned: header.isCABAC)
            }
        }
        return bits.finished
    }

    /// Returns whether an operation unmarks a frame before the first one.
    private func unmarksDroppedFrame(_ operation: (code: Int, values: [Int]), _ header: AVCSliceHeader)
        -> Bool
    {
        frameIndex(of: operation, header) < 0
    }

    /// Returns the number of the frame that an operation unmarks. For a field, it is twice the frame's number, plus one
    /// for the same parity.
    private func frameIndex(of operation: (code: Int, values: [Int]), _ header: AVCSliceHeader) -> Int {
        (header.isField ? 2 * frames + 1 : frames) - (operation.values[0] + 1)
    }

    private mutating func unmark(_ operation: (code: Int, values: [Int]), _ header: AVCSliceHeader) {
        let index = frameIndex(of: operation, header)
        let frame = header.isField ? index / 2 : index
        guard let remaining = missing[frame] else { return }
        missing[frame] = header.isField && remaining > 1 ? remaining - 1 : nil
    }
}
