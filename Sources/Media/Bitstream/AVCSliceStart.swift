/// The beginning of an H.264 slice's header: which frame it is part of.
struct AVCSliceStart {
    /// So many bytes are enough for it.
    static let most = 24

    /// It is part of an IDR frame.
    let isIDR: Bool
    /// Others refer to its frame.
    let isReference: Bool
    /// A frame or a field begins with it.
    let beginsPicture: Bool
    /// Its type: 0 for P, 1 for B, 2 for I.
    let kind: Int
    let sequence: AVCParameterSets.Sequence
    let picture: AVCParameterSets.Picture
    let frameNumber: Int
    /// Where the frame's number stands, in bits behind the unit's first byte.
    let frameNumberPlace: Int
    let isField: Bool
    /// It is part of the bottom field.
    let isBottom: Bool

    /// Nil where it can't be read. `bits` are those behind the unit's first byte; they are left where it ends.
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
        frameNumberPlace = bits.position
        guard let number = bits.bits(sequence.frameNumberBits),
            let isField = sequence.isFramesOnly ? 0 : bits.bits(1),
            let isBottom = isField == 0 ? 0 : bits.bits(1)
        else { return nil }
        frameNumber = number
        self.isField = isField == 1
        self.isBottom = isBottom == 1
    }

    /// Both are fields of one frame, this one's the first.
    func isCompleted(by other: AVCSliceStart) -> Bool {
        isField && other.isField && frameNumber == other.frameNumber && isBottom != other.isBottom
            && isReference == other.isReference && !other.isIDR
    }
}
