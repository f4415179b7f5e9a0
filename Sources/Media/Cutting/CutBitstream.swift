internal import LibAV

/// What a cut must know of a codec's packets: where decoding can begin, and which bytes are the pictures.
struct CutBitstream: Hashable, Sendable {
    /// The codecs that can be cut so.
    enum Codec: String, Hashable, Sendable {
        case h264
        case hevc
    }

    /// Where decoding can begin.
    enum RandomAccess: Hashable, Sendable {
        /// Not here.
        case none
        /// Nothing after it needs anything before it (IDR, BLA).
        case clean
        /// Pictures shown before it may need earlier ones (HEVC's CRA, H.264's recovery points).
        case open
    }

    let codec: Codec
    let framing: NALFraming
    /// By which slices of H.264 are read; nil where they can't be.
    let sets: AVCSets?

    /// Nil where the codec is another or its headers can't be read.
    init?(_ parameters: CodecParameters) {
        guard let codec = Codec(rawValue: parameters.codecName) else { return nil }
        self.codec = codec
        let extradata = parameters.extradata
        switch codec {
        case .h264:
            guard let headers = AVCHeaders(extradata) else { return nil }
            framing = extradata.first == 1 ? .lengths(headers.lengthSize) : .startCodes
            sets = AVCSets(headers)
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
        var found: RandomAccess?
        _ = framing.forEach(in: bytes) { unit in
            let type = type(unit)
            guard found == nil, isPicture(type) else { return }
            found =
                switch (codec, type) {
                case (.h264, 5), (.hevc, 16...20): .clean
                case (.hevc, 21): .open
                default: RandomAccess.none
                }
        }
        return found == RandomAccess.none && isRecoveryPoint(bytes) ? .open : found ?? .none
    }

    /// There are parameter sets of sequences in a packet.
    func hasSets(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var isFound = false
        _ = framing.forEach(in: bytes, while: { !isFound }) { unit in
            isFound = type(unit) == (codec == .h264 ? 7 : 33)
        }
        return isFound
    }

    /// Pictures of H.264 that are shown from this one on are right where decoding begins with it.
    private func isRecoveryPoint(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard codec == .h264, var sets else { return false }
        var (isSaid, isOpen) = (false, true)
        _ = framing.forEach(in: bytes) { unit in
            guard isOpen else { return }
            switch type(unit) {
            case 6: isSaid = isSaid || Self.saysRecovery(unit)
            // Before the pictures, or not at all.
            case 1...5 where !isSaid: isOpen = false
            case 1:
                // The other field of the picture may refer to the first one.
                let header = AVCSliceHeader(unit, sets)
                isOpen = header.map { $0.isField || AVCOpening.canOpen(with: $0) } == true
            case 2...5: isOpen = false
            case 7: isOpen = sets.isKnown(unit)
            case 8: isOpen = sets.take(unit)
            default: break
            }
        }
        return isSaid && isOpen
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

    /// A leading picture is left out behind an opening.
    func leaveOut(_ bytes: UnsafeRawBufferPointer, behind opening: inout AVCOpening?) throws {
        var failure: (any Error)?
        _ = framing.forEach(in: bytes) { unit in
            do { try opening?.leaveOut(unit) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// A digest of a packet's pictures, whatever frames them: units of pictures alone (FNV-1a). HEVC's CRA and BLA
    /// count as one, since a cut turns the one into the other.
    func digest(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        _ = framing.forEach(in: bytes) { unit in
            let type = type(unit)
            guard isPicture(type) else { return }
            if codec == .hevc, (16...18).contains(type) || type == 21 {
                add(unit[0] & 0x81 | 21 << 1)
            } else {
                add(unit[0])
            }
            for byte in unit.dropFirst() { add(byte) }
        }
        return hash
    }

    /// The packet's units after their lengths, with `prefix` before them. `opensStream`: nothing before it is there,
    /// which HEVC's CRA must say by its type; of H.264 `opening` sees to it.
    func framed(
        _ bytes: UnsafeRawBufferPointer, lengthSize: Int, prefix: [[UInt8]] = [], opensStream: Bool = false,
        opening: inout AVCOpening?
    ) throws -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 64)
        func append(_ unit: some Collection<UInt8>) {
            for shift in (0..<lengthSize).reversed() {
                result.append(UInt8(truncatingIfNeeded: unit.count >> (8 * shift)))
            }
            result += unit
        }
        for unit in prefix { append(unit) }
        if opening?.isOver == false, randomAccess(bytes) == .clean { opening?.finish() }
        var failure: (any Error)?
        _ = framing.forEach(in: bytes) { unit in
            // An access unit delimiter must come first, and mp4 has no need of one.
            let delimiter: UInt8 = codec == .h264 ? 9 : 35
            if type(unit) == delimiter, !prefix.isEmpty || framing == .startCodes { return }
            let start = result.count
            do {
                if let other = try opening?.rewritten(unit) { return append(other) }
            } catch {
                failure = error
            }
            append(unit)
            if opensStream, codec == .hevc, type(unit) == 21 {
                // BLA_W_RADL: its leading pictures, where any are left, need nothing from before.
                result[start + lengthSize] = unit[0] & 0x81 | 17 << 1
            }
        }
        if let failure { throw failure }
        return result
    }
}
