/// The first fields of an H.264 slice header, which identify the slice's frame.
struct AVCSliceStart {
    /// Sufficient number of bytes for these fields.
    static let maxBytes = 24

    /// Whether the slice belongs to an IDR frame.
    let isIDR: Bool
    /// Whether the slice belongs to a reference frame.
    let isReference: Bool
    /// Whether the slice is the first of a frame or field.
    let beginsPicture: Bool
    /// Slice type: 0 for P, 1 for B, 2 for I.
    let kind: Int
    let sequence: AVCParameterSets.Sequence
    let picture: AVCParameterSets.Picture
    let frameNumber: Int
    /// Position of `frame_num`, in bits after the unit's first byte.
    let frameNumberPosition: Int
    let isField: Bool
    /// Whether the slice belongs to a bottom field.
    let isBottom: Bool

    /// Parses the fields; nil if they are malformed. `bits` starts after the unit's first byte, and ends after the
    /// fields.
    init?(_ unit: some Collection<UInt8>, _ bits: inout NALBits, _ sets: AVCParameterSets) {
        guard let first = unit.first, first & 0x1f == 1 || first & 0x1f == 5,
            let macroblock = bits.number(), let kind = bits.number().map({ $0 % 5 }), kind < 3,
            let picture = bits.number().flatMap({ sets.pictures[$0] }),
            let sequence = sets.sequences[picture.sequence]
        else { return nil }
        isIDR = first & 0x1f == 5
        isReference = first & 0x60 != 0
        beginsPicture = macroblock == 0
        self.kind = kind
        self.sequence = sequence
        self.picture = picture
        frameNumberPosition = bits.position
        guard let number = bits.bits(sequence.frameNumberBits),
            let isField = sequence.isFramesOnly ? 0 : bits.bits(1),
            let isBottom = isField == 0 ? 0 : bits.bits(1)
        else { return nil }
        frameNumber = number
        self.isField = isField == 1
        self.isBottom = isBottom == 1
    }

    /// Returns whether `other` belongs to the second field of the frame whose first field contains `self`.
    func isCompleted(by other: AVCSliceStart) -> Bool {
        isField && other.isField && frameNumber == other.frameNumber && isBottom != other.isBottom
            && isReference == other.isReference && !other.isIDR
    }
}
