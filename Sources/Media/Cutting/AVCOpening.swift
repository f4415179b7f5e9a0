/// Makes copied H.264 begin at a recovery point of its source, which is no IDR frame: its frames stay as they are, and
/// what their headers say of those before it is taken out.
///
/// The first frame becomes an IDR frame. Up to the source's next one, frames and their order are counted from it, and
/// nothing is unmarked that isn't there any more. Leading frames, which are left out, leave gaps in the count: the
/// sequence's set allows them, so that decoders put frames in their place that nobody refers to.
struct AVCOpening {
    /// A slice or a set that can't be read, or that does what can't be followed.
    struct Unreadable: Error {}
    /// What comes after the first frame counts on leading frames that others refer to.
    struct Unfit: Error {}

    private var sets: AVCParameterSets
    /// Two IDR frames in a row must differ in it. Encoders seldom give such, and with its 15 bits the slice moves by
    /// whole bytes where the oldest frame goes.
    private let identifier: Int
    /// What is taken off; nil before the first frame.
    private var base: (sequence: AVCParameterSets.Sequence, frameNumber: Int, order: Int)?
    /// Slices still belong to the first frame, or its first field.
    private var isOpening = false
    /// Frames since the first frame, and the number by which the last one was counted.
    private var frames = 0
    private var lastNumber = 0
    /// Leading frames that others may refer to: how many of their fields are still marked so, by their frame.
    private var missing: [Int: Int] = [:]
    /// The source's next IDR frame came: slices stay as they are.
    private(set) var isOver: Bool

    /// `isOpen`: the first frame is a recovery point; otherwise sets alone are changed, as those of other parts are.
    /// `part`: how many came before.
    init(_ sets: AVCParameterSets, isOpen: Bool, part: Int = 0) {
        self.sets = sets
        identifier = 254 - part & 1
        isOver = !isOpen
    }

    /// A slice can be the first frame's.
    static func canOpen(with header: AVCSliceHeader) -> Bool {
        header.isIntra && header.isReference && !header.isIDR
            && header.marking?.operations?.contains { $0.code != 1 } != true
    }

    /// A unit as it is to be; nil where it stays.
    mutating func rewritten(_ unit: UnsafeRawBufferPointer) throws -> [UInt8]? {
        let type = unit[0] & 0x1f
        // Other sequences are of other parts, or come with an IDR frame.
        if type == 7, let other = sets.allowingGaps(unit) { return other }
        guard !isOver else { return nil }
        switch type {
        case 1: return try slice(unit)
        case 8 where sets.take(unit): return nil
        // Further views and planes would be counted as before.
        case 2...4, 7, 8, 14, 19...21: throw Unreadable()
        default: return nil
        }
    }

    /// The source's next IDR frame comes: from it on slices stay as they are.
    mutating func finish() { isOver = true }

    /// A leading frame is left out. In its place decoders count a frame that nobody refers to. Lists of P-slices have
    /// it where they had the frame; those of B-slices don't, so that it must be gone before the next one.
    mutating func leaveOut(_ unit: UnsafeRawBufferPointer) throws {
        guard !isOver, unit[0] & 0x1f == 1 else { return }
        guard let header = AVCSliceHeader(unit, sets), base != nil else { throw Unfit() }
        guard header.beginsPicture, header.isReference else { return }
        count(header)
        // What it unmarks stays marked without it.
        let operations = header.marking?.operations ?? []
        guard operations.allSatisfy({ $0.code == 1 && isGone($0, header) }) else { throw Unfit() }
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
            // The earlier field of an IDR frame is at 0.
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
        if header.isBidirectional, !missing.isEmpty { throw Unfit() }
        guard let base, header.start.sequence == base.sequence else { throw Unreadable() }
        var bits = NALRewriter(unit, through: header.end)
        bits.subtract(
            base.frameNumber, at: header.start.frameNumberPlace, count: base.sequence.frameNumberBits)
        if let order = header.order, let count = base.sequence.orderBits {
            bits.subtract(base.order, at: order.place, count: count)
        }
        if isOpening {
            guard let marking = header.marking, Self.canOpen(with: header) else { throw Unreadable() }
            bits.becomeIDR()
            bits.splice(
                [
                    (header.identifierPlace..<header.identifierPlace, NALRewriter.number(identifier)),
                    (marking.place, [0, 0]),
                ], headerEnd: header.end, isAligned: header.isCABAC)
        } else if let marking = header.marking, let operations = marking.operations {
            // Frames kept for long may be from before.
            guard operations.allSatisfy({ $0.code == 1 }) else { throw Unreadable() }
            let kept = operations.filter { !isGone($0, header) }
            if header.beginsPicture { for operation in kept { unmark(operation, header) } }
            if kept.count != operations.count {
                let written = kept.flatMap {
                    NALRewriter.number($0.code) + $0.values.flatMap(NALRewriter.number)
                }
                bits.splice(
                    [(marking.place, [1] + written + NALRewriter.number(0))], headerEnd: header.end,
                    isAligned: header.isCABAC)
            }
        }
        return bits.finished
    }

    /// It unmarks a frame from before the first one.
    private func isGone(_ operation: (code: Int, values: [Int]), _ header: AVCSliceHeader) -> Bool {
        picture(of: operation, header) < 0
    }

    /// The number of the frame that it unmarks, or of the field: twice as many, and one for the same parity.
    private func picture(of operation: (code: Int, values: [Int]), _ header: AVCSliceHeader) -> Int {
        (header.isField ? 2 * frames + 1 : frames) - (operation.values[0] + 1)
    }

    private mutating func unmark(_ operation: (code: Int, values: [Int]), _ header: AVCSliceHeader) {
        let picture = picture(of: operation, header)
        let frame = header.isField ? picture / 2 : picture
        guard let left = missing[frame] else { return }
        missing[frame] = header.isField && left > 1 ? left - 1 : nil
    }
}
