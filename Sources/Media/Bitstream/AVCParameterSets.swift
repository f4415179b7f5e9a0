internal import LibAV

/// The fields of H.264 parameter sets that are required to parse slice headers.
struct AVCParameterSets: Hashable {
    /// Fields of a sequence parameter set.
    struct Sequence: Hashable {
        var id = 0
        var chromaFormat = 1
        var frameNumberBits = 4
        /// Number of bits of `pic_order_cnt_lsb`; nil if the picture order count follows from decoding order (type 2).
        var orderBits: Int?
        var isFramesOnly = true
        /// Position of `gaps_in_frame_num_value_allowed_flag`, in bits after the unit's first byte.
        var gapsPosition = 0
        /// Frames per second; nil if not coded.
        var frameRate: Rational?
        /// Properties of all frames; nil if the set lacks some that a decoder would determine.
        var headers: VideoHeaders?
    }

    /// Fields of a picture parameter set.
    struct Picture: Hashable {
        var sequence = 0
        var isCABAC = false
        var hasBottomOrder = false
        /// Default number of entries of the two reference lists.
        var references = [1, 1]
        var isWeighted = false
        var isExplicitlyWeighted = false
        var hasDeblocking = false
    }

    private(set) var sequences: [Int: Sequence] = [:]
    private(set) var pictures: [Int: Picture] = [:]
    /// The sequence parameter sets as NAL units.
    private var units: [Int: [UInt8]] = [:]

    /// Parses all sets; nil if a set is malformed or uses an unsupported feature (separate colour planes, slice groups,
    /// picture order count type 1), or if two different sets have the same id.
    init?(_ headers: AVCHeaders) {
        for unit in headers.sequences {
            guard let sequence = Self.sequence(unit), units[sequence.id] == nil || isKnown(unit), take(unit)
            else { return nil }
        }
        for unit in headers.pictures where !take(unit) { return nil }
    }

    /// Adds a set from the stream, replacing the one of the same kind and id. Returns false if it can't be parsed.
    mutating func take(_ unit: some Collection<UInt8>) -> Bool {
        switch unit.first.map({ $0 & 0x1f }) {
        case 7:
            guard let sequence = Self.sequence(unit) else { return false }
            sequences[sequence.id] = sequence
            units[sequence.id] = Array(unit)
        case 8:
            guard let (id, picture) = Self.picture(unit), sequences[picture.sequence] != nil else {
                return false
            }
            pictures[id] = picture
        default: return false
        }
        return true
    }

    /// Properties of all frames; nil unless there is exactly one sequence parameter set.
    var videoHeaders: VideoHeaders? { sequences.count == 1 ? sequences.first?.value.headers : nil }

    /// Returns whether a sequence parameter set is one of those added.
    func isKnown(_ unit: some Collection<UInt8>) -> Bool { units.values.contains { unit.elementsEqual($0) } }

    /// Returns a known sequence parameter set with gaps in frame numbers allowed; nil for an unknown set.
    func allowingGaps(_ unit: some Collection<UInt8>) -> [UInt8]? {
        guard let id = units.first(where: { unit.elementsEqual($0.value) })?.key,
            let position = sequences[id]?.gapsPosition
        else { return nil }
        var bits = NALRewriter(unit, through: position + 1)
        bits.replace(position, count: 1, with: 1)
        return bits.finished
    }

    private static func sequence(_ unit: some Collection<UInt8>) -> Sequence? {
        var bits = NALBits(unit, skipping: 1, maxBytes: 1024)
        var sequence = Sequence()
        guard let profile = bits.bits(8), bits.bits(16) != nil, let id = bits.number() else { return nil }
        sequence.id = id
        var depths = (luma: 8, chroma: 8)
        if [100, 110, 122, 244, 44, 83, 86, 118, 128].contains(profile) {
            guard let chroma = bits.number(), chroma < 3, let lumaDepth = bits.number(),
                let chromaDepth = bits.number(), bits.bits(1) != nil, let hasMatrices = bits.bits(1)
            else { return nil }
            sequence.chromaFormat = chroma
            depths = (8 &+ lumaDepth, 8 &+ chromaDepth)
            if hasMatrices == 1 {
                for list in 0..<8 where !skipScalingList(list < 6 ? 16 : 64, &bits) { return nil }
            }
        }
        guard let number = bits.number(), number <= 12, let order = bits.number() else { return nil }
        sequence.frameNumberBits = number + 4
        switch order {
        case 0:
            guard let low = bits.number(), low <= 12 else { return nil }
            sequence.orderBits = low + 4
        case 2: break
        default: return nil
        }
        guard let references = bits.number() else { return nil }
        sequence.gapsPosition = bits.position
        guard bits.bits(1) != nil, let columns = bits.number(), let rows = bits.number(),
            let isFramesOnly = bits.bits(1)
        else { return nil }
        sequence.isFramesOnly = isFramesOnly == 1
        if id < 32, references <= 16, depths.luma == depths.chroma, 1...2 ~= sequence.chromaFormat,
            columns < 4096, rows < 4096
        {
            sequence.headers = VideoHeaders(
                width: 16 * (columns + 1), height: 16 * (rows + 1) * (2 - isFramesOnly),
                chroma: sequence.chromaFormat == 1 ? .yuv420 : .yuv422, bitDepth: depths.luma)
        }
        if !readUsability(&bits, into: &sequence) { sequence.headers = nil }
        return sequence
    }

    /// Parses the fields after `frame_mbs_only_flag`. Returns false if the reorder depth isn't coded: libavformat
    /// then derives it from decoded frames.
    private static func readUsability(_ bits: inout NALBits, into sequence: inout Sequence) -> Bool {
        guard bits.bits(sequence.isFramesOnly ? 1 : 2) != nil, let isCropped = bits.bits(1) else {
            return false
        }
        if isCropped == 1, !crop(&bits, &sequence) { return false }
        guard bits.bits(1) == 1, let hasAspect = bits.bits(1) else { return false }
        if hasAspect == 1, !readAspect(&bits, into: &sequence) { return false }
        guard let hasOverscan = bits.bits(1), bits.bits(hasOverscan) != nil, let hasSignal = bits.bits(1)
        else { return false }
        if hasSignal == 1 {
            guard bits.bits(3) != nil, let isFull = bits.bits(1), let hasColor = bits.bits(1) else {
                return false
            }
            sequence.headers?.isFullRange = isFull == 1
            if hasColor == 1 {
                guard let primaries = bits.bits(8), let transfer = bits.bits(8), let matrix = bits.bits(8)
                else { return false }
                sequence.headers?.color = VideoHeaders.Color(
                    primaries: UInt32(primaries), transfer: UInt32(transfer), matrix: UInt32(matrix))
            }
        }
        guard let hasChromaLocation = bits.bits(1) else { return false }
        if hasChromaLocation == 1 {
            guard let position = bits.number(), bits.number() != nil else { return false }
            sequence.headers?.chromaLocation = position
        }
        guard let hasTiming = bits.bits(1) else { return false }
        if hasTiming == 1 {
            guard let unit = bits.bits(32), let scale = bits.bits(32), bits.bits(1) != nil else {
                return false
            }
            if (1...0x3fff_ffff).contains(unit), (1...0x7fff_ffff).contains(scale) {
                // `num_units_in_tick` is the duration of a field.
                sequence.frameRate = Rational(Int32(scale), Int32(2 * unit))
            }
        }
        var hasBuffers = false
        for _ in 0..<2 {
            guard let isPresent = bits.bits(1) else { return false }
            if isPresent == 1 {
                guard skipBuffers(&bits) else { return false }
                hasBuffers = true
            }
        }
        guard bits.bits(hasBuffers ? 2 : 1) != nil, bits.bits(1) == 1, bits.bits(1) != nil else {
            return false
        }
        for _ in 0..<4 where bits.number() == nil { return false }
        guard let delay = bits.number(), delay <= 16, bits.number() != nil else { return false }
        sequence.headers?.reorderDelay = delay
        return true
    }

    private static func crop(_ bits: inout NALBits, _ sequence: inout Sequence) -> Bool {
        guard let left = bits.number(), let right = bits.number(), let top = bits.number(),
            let bottom = bits.number()
        else { return false }
        // Decoders may reject larger crops, so the resulting size is unknown.
        guard [left, right, top, bottom].allSatisfy({ $0 < 32 }) else {
            sequence.headers = nil
            return true
        }
        let lines = (sequence.chromaFormat == 1 ? 2 : 1) * (sequence.isFramesOnly ? 1 : 2)
        sequence.headers?.width -= 2 * (left + right)
        sequence.headers?.height -= lines * (top + bottom)
        return true
    }

    private static func readAspect(_ bits: inout NALBits, into sequence: inout Sequence) -> Bool {
        let ratios: [(Int32, Int32)] = [
            (0, 1), (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11), (80, 33),
            (18, 11), (15, 11), (64, 33), (160, 99), (4, 3), (3, 2), (2, 1),
        ]
        guard let kind = bits.bits(8) else { return false }
        if kind < ratios.count {
            sequence.headers?.sampleAspectRatio = Rational(ratios[kind].0, ratios[kind].1)
            return true
        }
        guard kind == 255, let width = bits.bits(16), let height = bits.bits(16) else { return false }
        if width > 0, height > 0 {
            sequence.headers?.sampleAspectRatio = Rational(Int32(width), Int32(height))
        }
        return true
    }

    /// Skips `hrd_parameters`.
    private static func skipBuffers(_ bits: inout NALBits) -> Bool {
        guard let count = bits.number(), count < 32, bits.bits(8) != nil else { return false }
        for _ in 0...count {
            guard bits.number() != nil, bits.number() != nil, bits.bits(1) != nil else { return false }
        }
        return bits.bits(20) != nil
    }

    private static func skipScalingList(_ size: Int, _ bits: inout NALBits) -> Bool {
        guard let isPresent = bits.bits(1) else { return false }
        var (last, next) = (8, 8)
        for _ in 0..<(isPresent == 1 ? size : 0) {
            if next != 0 {
                guard let delta = bits.signedNumber() else { return false }
                next = (last + delta + 256) & 0xff
            }
            last = next == 0 ? last : next
        }
        return true
    }

    private static func picture(_ unit: some Collection<UInt8>) -> (Int, Picture)? {
        var bits = NALBits(unit, skipping: 1)
        var picture = Picture()
        guard let id = bits.number(), let sequence = bits.number(), let entropy = bits.bits(1),
            let order = bits.bits(1), bits.number() == 0, let first = bits.number(),
            let second = bits.number(),
            first < 32, second < 32, let weighted = bits.bits(1), let explicit = bits.bits(2),
            bits.number() != nil, bits.number() != nil, bits.number() != nil, let deblocking = bits.bits(1),
            bits.bits(1) != nil, bits.bits(1) == 0
        else { return nil }
        picture.sequence = sequence
        picture.isCABAC = entropy == 1
        picture.hasBottomOrder = order == 1
        picture.references = [first + 1, second + 1]
        picture.isWeighted = weighted == 1
        picture.isExplicitlyWeighted = explicit == 1
        picture.hasDeblocking = deblocking == 1
        return (id, picture)
    }
}
