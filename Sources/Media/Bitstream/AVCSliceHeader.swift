/// The fields of an H.264 slice header that a cut requires; positions are in bits after the unit's first byte,
/// without emulation prevention bytes.
struct AVCSliceHeader {
    /// Reference picture marking (`dec_ref_pic_marking`).
    struct Marking {
        /// Bits of the syntax structure.
        var range: Range<Int>
        /// Memory management operations and their operands; nil for the sliding window process, and in IDR slices.
        var operations: [(code: Int, values: [Int])]?
    }

    /// The fields up to `bottom_field_flag`.
    let start: AVCSliceStart
    /// `pic_order_cnt_lsb` and its position; nil if it isn't coded.
    let order: (value: Int, position: Int)?
    /// `delta_pic_order_cnt_bottom`; 0 if it isn't coded.
    let bottomOrder: Int
    /// Position at which `idr_pic_id` is coded in an IDR slice.
    let identifierPosition: Int
    let marking: Marking?
    /// Position of the first bit after the header.
    let end: Int

    var isIDR: Bool { start.isIDR }
    var isReference: Bool { start.isReference }
    var beginsPicture: Bool { start.beginsPicture }
    /// Whether the slice is an I slice.
    var isIntra: Bool { start.kind == 2 }
    /// Whether the slice is a B slice, whose reference lists follow presentation order.
    var isBidirectional: Bool { start.kind == 1 }
    var isField: Bool { start.isField }
    var isCABAC: Bool { start.picture.isCABAC }

    /// Parses a slice's NAL unit; nil if it is malformed or refers to an unknown parameter set.
    init?(_ unit: some Collection<UInt8>, _ sets: AVCParameterSets) {
        var bits = NALBits(unit, skipping: 1, maxBytes: 4096)
        guard let start = AVCSliceStart(unit, &bits, sets) else { return nil }
        self.start = start
        let (picture, sequence, isField) = (start.picture, start.sequence, start.isField)
        identifierPosition = bits.position
        if start.isIDR, bits.number() == nil { return nil }
        var bottomOrder = 0
        if let count = sequence.orderBits {
            let position = bits.position
            guard let value = bits.bits(count) else { return nil }
            order = (value, position)
            if picture.hasBottomOrder, !isField {
                guard let delta = bits.signedNumber() else { return nil }
                bottomOrder = delta
            }
        } else {
            order = nil
        }
        self.bottomOrder = bottomOrder
        guard Self.skipReferences(start.kind, picture, sequence, &bits) else { return nil }
        var marking: Marking?
        if start.isReference {
            guard let read = Self.marking(isIDR: start.isIDR, &bits) else { return nil }
            marking = read
        }
        self.marking = marking
        if picture.isCABAC, start.kind != 2, bits.number() == nil { return nil }
        guard bits.number() != nil else { return nil }
        if picture.hasDeblocking {
            guard let filter = bits.number() else { return nil }
            if filter != 1, bits.number() == nil || bits.number() == nil { return nil }
        }
        end = bits.position
    }

    /// Skips the reference lists and their weights. `kind`: 0 for P, 1 for B, 2 for I.
    private static func skipReferences(
        _ kind: Int, _ picture: AVCParameterSets.Picture, _ sequence: AVCParameterSets.Sequence,
        _ bits: inout NALBits
    ) -> Bool {
        guard kind < 2 else { return true }
        var counts = Array(picture.references.prefix(kind + 1))
        if kind == 1, bits.bits(1) == nil { return false }
        guard let overrides = bits.bits(1) else { return false }
        if overrides == 1 {
            for list in counts.indices {
                guard let count = bits.number(), count < 32 else { return false }
                counts[list] = count + 1
            }
        }
        for _ in counts {
            guard let isModified = bits.bits(1) else { return false }
            var rest = isModified == 1
            while rest {
                guard let code = bits.number(), code <= 3 else { return false }
                if code != 3, bits.number() == nil { return false }
                rest = code != 3
            }
        }
        guard kind == 0 ? picture.isWeighted : picture.isExplicitlyWeighted else { return true }
        let hasChroma = sequence.chromaFormat != 0
        guard bits.number() != nil, !hasChroma || bits.number() != nil else { return false }
        for _ in 0..<counts.reduce(0, +) {
            for numbers in hasChroma ? [2, 4] : [2] {
                guard let isPresent = bits.bits(1) else { return false }
                for _ in 0..<(isPresent == 1 ? numbers : 0) where bits.number() == nil { return false }
            }
        }
        return true
    }

    private static func marking(isIDR: Bool, _ bits: inout NALBits) -> Marking? {
        let start = bits.position
        var operations: [(code: Int, values: [Int])]?
        if isIDR {
            guard bits.bits(2) != nil else { return nil }
        } else {
            guard let isAdaptive = bits.bits(1) else { return nil }
            if isAdaptive == 1 {
                operations = []
                while true {
                    guard let code = bits.number(), code <= 6 else { return nil }
                    if code == 0 { break }
                    var values: [Int] = []
                    for _ in 0..<(code == 3 ? 2 : code == 5 ? 0 : 1) {
                        guard let value = bits.number() else { return nil }
                        values.append(value)
                    }
                    operations?.append((code, values))
                }
            }
        }
        return Marking(range: start..<bits.position, operations: operations)
    }
}
