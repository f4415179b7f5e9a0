/// Makes copied H.264 begin at a recovery point of its source, which is no IDR picture: its pictures stay as they are, and
/// what their headers say of those before it is taken out.
///
/// The first picture becomes an IDR picture. Up to the source's next one, frames and their order are counted from it, and
/// nothing is unmarked that isn't there any more. Leading pictures, which are left out, leave gaps in the count: the
/// sequence's set allows them, so that decoders put frames in their place that nobody refers to.
struct AVCOpening {
    /// A slice or a set that can't be read, or that does what can't be followed.
    struct Unreadable: Error {}

    private var sets: AVCSets
    /// Two IDR pictures in a row must differ in it. Encoders seldom give such, and with its 15 bits the slice moves by
    /// whole bytes where the oldest picture goes.
    private let identifier: Int
    /// What is taken off; nil before the first picture.
    private var base: (sequence: AVCSets.Sequence, frameNumber: Int, order: Int)?
    /// Slices still belong to the first picture, or its first field.
    private var isOpening = false
    /// Frames since the first picture, and the number by which the last one was counted.
    private var frames = 0
    private var lastNumber = 0
    /// The source's next IDR picture came: slices stay as they are.
    private(set) var isOver: Bool

    /// `isOpen`: the first picture is a recovery point; otherwise sets alone are changed, as those of other parts are.
    /// `part`: how many came before.
    init(_ sets: AVCSets, isOpen: Bool, part: Int = 0) {
        self.sets = sets
        identifier = 254 - part & 1
        isOver = !isOpen
    }

    /// A slice can be the first picture's.
    static func canOpen(with header: AVCSliceHeader) -> Bool {
        header.isIntra && header.isReference && !header.isIDR
            && header.marking?.operations?.contains { $0.code != 1 } != true
    }

    /// A unit as it is to be; nil where it stays.
    mutating func rewritten(_ unit: UnsafeRawBufferPointer) throws -> [UInt8]? {
        switch unit[0] & 0x1f {
        case 7:
            guard let other = sets.allowingGaps(unit) else { throw Unreadable() }
            return other
        case 8:
            guard sets.take(unit) else { throw Unreadable() }
            return nil
        case 5:
            isOver = true
            return nil
        case 1: return isOver ? nil : try slice(unit)
        case 2...4: throw Unreadable()
        default: return nil
        }
    }

    private mutating func slice(_ unit: UnsafeRawBufferPointer) throws -> [UInt8] {
        guard let header = AVCSliceHeader(unit, sets) else { throw Unreadable() }
        if base == nil {
            guard header.beginsPicture, Self.canOpen(with: header) else { throw Unreadable() }
            // The earlier field of an IDR picture is at 0.
            base = (
                header.sequence, header.frameNumber, (header.order?.value ?? 0) + min(0, header.bottomOrder)
            )
            isOpening = true
            lastNumber = header.frameNumber
        } else if header.beginsPicture {
            isOpening = false
            let mask = 1 << header.sequence.frameNumberBits - 1
            frames += (header.frameNumber - lastNumber) & mask
            lastNumber = header.frameNumber
        }
        guard let base, header.sequence == base.sequence else { throw Unreadable() }
        var bits = NALRewriter(unit, through: header.end)
        bits.subtract(base.frameNumber, at: header.frameNumberPlace, count: base.sequence.frameNumberBits)
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
            // Pictures kept for long may be from before.
            guard operations.allSatisfy({ $0.code == 1 }) else { throw Unreadable() }
            let kept = operations.filter { !isGone($0, header) }
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

    /// It unmarks a picture from before the first one.
    private func isGone(_ operation: (code: Int, values: [Int]), _ header: AVCSliceHeader) -> Bool {
        // Of fields, twice as many and one for the same parity.
        let current = header.isField ? 2 * frames + 1 : frames
        return current - (operation.values[0] + 1) < 0
    }
}
