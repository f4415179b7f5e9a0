internal import LibAV

/// What a cut must know of a codec's packets: where decoding can begin, and which bytes are the frames.
struct CutBitstream: Hashable, Sendable {
    /// The codecs that can be cut so.
    enum Codec: String, Hashable, Sendable {
        case h264
        case hevc

        /// The encoder of the edges, and its settings when the job sets none; nil where the table lists none.
        var encoder: (model: EncoderModel, settings: EncoderModel.NearLossless)? {
            EncoderModel.encoders(of: rawValue).lazy.compactMap { model in
                model.nearLossless.map { (model, $0) }
            }.first
        }
    }

    /// Where decoding can begin.
    enum RandomAccess: Hashable, Sendable {
        /// Not here.
        case none
        /// Nothing after it needs anything before it (IDR, BLA).
        case clean
        /// Frames shown before it may need earlier ones (HEVC's CRA, H.264's recovery points).
        case open
    }

    let codec: Codec
    let framing: NALFraming
    /// By which slices of H.264 are read; nil where they can't be.
    let sets: AVCParameterSets?

    /// Nil where the codec is another or its headers can't be read.
    init?(_ parameters: CodecParameters) {
        guard let codec = Codec(rawValue: parameters.codecName) else { return nil }
        self.codec = codec
        let extradata = parameters.extradata
        switch codec {
        case .h264:
            guard let headers = AVCHeaders(extradata) else { return nil }
            framing = headers.framing
            sets = AVCParameterSets(headers)
        case .hevc:
            guard let headers = HEVCHeaders(extradata) else { return nil }
            framing = headers.framing
            sets = nil
        }
    }

    init(codec: Codec, framing: NALFraming) {
        self.codec = codec
        self.framing = framing
        sets = nil
    }

    private func type(_ unit: UnsafeRawBufferPointer) -> UInt8 {
        codec == .h264 ? unit[0] & 0x1f : unit[0] >> 1 & 0x3f
    }

    private func isPicture(_ type: UInt8) -> Bool {
        codec == .h264 ? (1...5).contains(type) : type < 32
    }

    /// Whether decoding can begin at a packet.
    func randomAccess(_ bytes: UnsafeRawBufferPointer) -> RandomAccess {
        codec == .h264 ? accessAVC(bytes) : accessHEVC(bytes)
    }

    private func accessHEVC(_ bytes: UnsafeRawBufferPointer) -> RandomAccess {
        var found: RandomAccess?
        _ = framing.forEach(in: bytes, while: { found == nil }) { unit in
            let type = type(unit)
            guard isPicture(type) else { return }
            found = (16...20).contains(type) ? .clean : type == 21 ? .open : RandomAccess.none
        }
        return found ?? .none
    }

    /// Frames that are shown from a recovery point on are right where decoding begins with it.
    private func accessAVC(_ bytes: UnsafeRawBufferPointer) -> RandomAccess {
        var found: RandomAccess?
        var (sets, isRecovery) = (sets, false)
        // All slices of an open one must be fit.
        _ = framing.forEach(in: bytes, while: { found == nil || found == .open }) { unit in
            switch type(unit) {
            case 5 where found == nil: found = .clean
            case 6: isRecovery = isRecovery || Self.saysRecovery(unit)
            case 7: if sets?.isKnown(unit) == false { sets = nil }
            case 8: if sets?.take(unit) == false { sets = nil }
            case 1:
                let header = isRecovery ? sets.flatMap { AVCSliceHeader(unit, $0) } : nil
                // The other field of the frame may refer to the first one.
                let isFit = header.map { $0.isField || AVCOpening.canOpen(with: $0) } == true
                found = isFit ? .open : RandomAccess.none
            case 2...5: found = RandomAccess.none
            default: break
            }
        }
        return found ?? .none
    }

    /// There are parameter sets of sequences in a packet.
    func hasSets(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var isFound = false
        _ = framing.forEach(in: bytes, while: { !isFound }) { unit in
            isFound = type(unit) == (codec == .h264 ? 7 : 33)
        }
        return isFound
    }

    /// Its supplemental information says that decoding may begin there, at once and exactly.
    private static func saysRecovery(_ unit: UnsafeRawBufferPointer) -> Bool {
        var bits = NALBits(unit, skipping: 1, most: 1024)
        func number() -> Int? {
            var sum = 0
            while let byte = bits.bits(8) {
                sum += byte
                if byte != 0xff { return sum }
            }
            return nil
        }
        while let type = number(), type != 0x80, let size = number() {
            if type == 6 { return bits.number() == 0 && bits.bits(1) == 1 }
            for _ in 0..<size where bits.bits(8) == nil { return false }
        }
        return false
    }

    /// A leading frame is left out behind an opening.
    func leaveOut(_ bytes: UnsafeRawBufferPointer, behind opening: inout AVCOpening?) throws {
        _ = try framing.forEach(in: bytes) { try opening?.leaveOut($0) }
    }

    /// A digest of a packet's frames, whatever frames them: units of frames alone. HEVC's CRA and BLA
    /// count as one, since a cut turns the one into the other.
    func digest(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = UnitDigest()
        _ = framing.forEach(in: bytes) { unit in
            let type = type(unit)
            guard isPicture(type) else { return }
            let isOpen = codec == .hevc && ((16...18).contains(type) || type == 21)
            hash.add(UInt64(isOpen ? unit[0] & 0x81 | 21 << 1 : unit[0]))
            hash.add(UnsafeRawBufferPointer(rebasing: unit.dropFirst()))
        }
        return hash.value
    }

    /// The packet's units after their lengths, with `prefix` before them.
    func framed(_ bytes: UnsafeRawBufferPointer, lengthSize: Int, prefix: [[UInt8]] = []) -> [UInt8] {
        framed(bytes, lengthSize: lengthSize, prefix: prefix) { _ in nil }
    }

    /// As they are behind an opening. `opensStream`: nothing before it is there, which HEVC's CRA must say by its type; of
    /// H.264 `opening` sees to it, which ends with a clean `access`.
    func framed(
        _ bytes: UnsafeRawBufferPointer, lengthSize: Int, prefix: [[UInt8]] = [], access: RandomAccess,
        opensStream: Bool = false, opening: inout AVCOpening?
    ) throws -> [UInt8] {
        if access == .clean { opening?.finish() }
        return try framed(bytes, lengthSize: lengthSize, prefix: prefix) { unit in
            guard codec == .hevc else { return try opening?.rewritten(unit) }
            // BLA_W_RADL: its leading frames, where any are left, need nothing from before.
            return opensStream && type(unit) == 21 ? [unit[0] & 0x81 | 17 << 1] + unit.dropFirst() : nil
        }
    }

    private func framed(
        _ bytes: UnsafeRawBufferPointer, lengthSize: Int, prefix: [[UInt8]],
        _ rewritten: (UnsafeRawBufferPointer) throws -> [UInt8]?
    ) rethrows -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 64)
        func append(_ unit: some Collection<UInt8>) {
            for shift in (0..<lengthSize).reversed() {
                result.append(UInt8(truncatingIfNeeded: unit.count >> (8 * shift)))
            }
            result += unit
        }
        for unit in prefix { append(unit) }
        _ = try framing.forEach(in: bytes) { unit in
            // An access unit delimiter must come first, and mp4 has no need of one.
            let delimiter: UInt8 = codec == .h264 ? 9 : 35
            if type(unit) == delimiter, !prefix.isEmpty || framing == .startCodes { return }
            if let other = try rewritten(unit) { append(other) } else { append(unit) }
        }
        return result
    }
}
