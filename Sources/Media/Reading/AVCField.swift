/// What the beginning of an H.264 slice says of the field that it is part of.
struct AVCField: Hashable {
    /// So many bytes are read at most.
    static let most = 24

    let number: Int
    let isBottom: Bool
    let isReference: Bool
    let isIDR: Bool

    /// Nil where it is part of a frame.
    init?(_ unit: UnsafeRawBufferPointer, _ sets: AVCSets) {
        var bits = NALBits(unit, skipping: 1, most: Self.most)
        guard bits.number() != nil, bits.number() != nil,
            let picture = bits.number().flatMap({ sets.pictures[$0] }),
            let sequence = sets.sequences[picture.sequence], !sequence.isFramesOnly,
            let number = bits.bits(sequence.frameNumberBits), bits.bits(1) == 1, let isBottom = bits.bits(1)
        else { return nil }
        self.number = number
        self.isBottom = isBottom == 1
        isReference = unit[0] & 0x60 != 0
        isIDR = unit[0] & 0x1f == 5
    }

    /// Both are one frame.
    func isCompleted(by other: AVCField) -> Bool {
        number == other.number && isBottom != other.isBottom && isReference == other.isReference
            && !other.isIDR
    }
}
