internal import LibAV

/// Parser of H.264 and HEVC packets for a cut: determines random-access points, and rewrites NAL units for the output.
struct CutBitstream: Hashable, Sendable {
    /// Codecs that smart cut supports.
    enum Codec: String, Hashable, Sendable {
        case h264
        case hevc

        /// The default encoder for the edges, and its near-lossless settings; nil if no encoder has such settings.
        var encoder: (model: EncoderModel, settings: EncoderModel.NearLossless)? {
            EncoderModel.encoders(of: rawValue).lazy.compactMap { model in
                model.nearLossless.map { (model, $0) }
            }.first
        }
    }

    /// Kind of random access at a packet.
    enum RandomAccess: Hashable, Sendable {
        /// Decoding can't start at the packet.
        case none
        /// Clean random access: no later frame refers to an earlier one (IDR, BLA).
        case clean
        /// Open GOP: leading frames may refer to earlier frames (HEVC's CRA, H.264's recovery points).
        case open
    }

    let codec: Codec
    let framing: NALFraming
    /// Parameter sets for parsing H.264 slices; nil if they can't be parsed, and for HEVC.
    let sets: AVCParameterSets?

    /// Creates a parser for a track; nil if the codec isn't supported, or if its headers can't be parsed.
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

    private func isSlice(_ type: UInt8) -> Bool {
        codec == .h264 ? (1...5).contains(type) : type < 32
    }

    /// Returns the kind of random access at a packet.
    func randomAccess(_ bytes: UnsafeRawBufferPointer) -> RandomAccess {
        codec == .h264 ? accessAVC(bytes) : accessHEVC(bytes)
    }

    private func accessHEVC(_ bytes: UnsafeRawBufferPointer) -> RandomAccess {
        var found: RandomAccess?
        _ = framing.forEach(in: bytes, while: { found == nil }) { unit in
            let type = type(unit)
            guard isSlice(type) else { return }
            found = (16...20).contains(type) ? .clean : type == 21 ? .open : RandomAccess.none
        }
        return found ?? .none
    }

    /// Returns the kind of random access at a packet of H.264. Frames presented from a recovery point on are
    /// correct if decoding starts there.
    private func accessAVC(_ bytes: UnsafeRawBufferPointer) -> RandomAccess {
        var found: RandomAccess?
        var (sets, isRecovery) = (sets, false)
        // Every slice of an open random-access point is checked.
        _ = framing.forEach(in: bytes, while: { found == nil || found == .open }) { unit in
            switch type(unit) {
            case 5 where found == nil: found = .clean
            case 6: isRecovery = isRecovery || Self.hasRecoveryPoint(unit)
            case 7: if sets?.isKnown(unit) == false { sets = nil }
            case 8: if sets?.take(unit) == false { sets = nil }
            case 1:
                let header = isRecovery ? sets.flatMap { AVCSliceHeader(unit, $0) } : nil
                // The second field of a frame may refer to the first one.
                let isFit = header.map { $0.isField || AVCOpening.canOpen(with: $0) } == true
                found = isFit ? .open : RandomAccess.none
            case 2...5: found = RandomAccess.none
            default: break
            }
        }
        return found ?? .none
    }

    /// Returns whether a packet contains sequence parameter sets.
    func hasSets(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var isFound = false
        _ = framing.forEach(in: bytes, while: { !isFound }) { unit in
            isFound = type(unit) == (codec == .h264 ? 7 : 33)
        }
        return isFound
    }

    /// Returns whether an SEI unit has a recovery point message for immediate and exact recovery.
    private static func hasRecoveryPoint(_ unit: UnsafeRawBufferPointer) -> Bool {
        var bits = NALBits(unit, skipping: 1, maxBytes: 1024)
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

    /// Registers a leading frame that is dropped after an open GOP's first frame.
    func dropLeadingFrame(_ bytes: UnsafeRawBufferPointer, behind opening: inout AVCOpening?) throws {
        _ = try framing.forEach(in: bytes) { try opening?.dropLeadingFrame($0) }
    }

    /// Returns a digest of a packet's slices, regardless of framing; other NAL units are ignored. HEVC's CRA and BLA
    /// have the same digest, because a cut changes CRA to BLA.
    func digest(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = UnitDigest()
        _ = framing.forEach(in: bytes) { unit in
            let type = type(unit)
            guard isSlice(type) else { return }
            let isOpen = codec == .hevc && ((16...18).contains(type) || type == 21)
            hash.add(UInt64(isOpen ? unit[0] & 0x81 | 21 << 1 : unit[0]))
            hash.add(UnsafeRawBufferPointer(rebasing: unit.dropFirst()))
        }
        return hash.value
    }

    /// Returns the packet's NAL units with length prefixes, after those of `prefix`.
    func framed(_ bytes: UnsafeRawBufferPointer, lengthSize: Int, prefix: [[UInt8]] = []) -> [UInt8] {
        framed(bytes, lengthSize: lengthSize, prefix: prefix) { _ in nil }
    }

    /// Returns the packet's NAL units as the output contains them. `opensStream`: whether the frames before an open GOP
    /// are missing in the output, so that HEVC's CRA is changed to BLA. H.264 is rewritten by `opening`, which ends at
    /// a packet with clean `access`.
    func framed(
        _ bytes: UnsafeRawBufferPointer, lengthSize: Int, prefix: [[UInt8]] = [], access: RandomAccess,
        opensStream: Bool = false, opening: inout AVCOpening?
    ) throws -> [UInt8] {
        if access == .clean { opening?.finish() }
        return try framed(bytes, lengthSize: lengthSize, prefix: prefix) { unit in
            guard codec == .hevc else { return try opening?.rewritten(unit) }
            // BLA_W_RADL: leading frames, if any are kept, don't refer to earlier frames.
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
            // An access unit delimiter must be the first unit, so it can't follow `prefix`; mp4 doesn't require one.
            let delimiter: UInt8 = codec == .h264 ? 9 : 35
            if type(unit) == delimiter, !prefix.isEmpty || framing == .startCodes { return }
            if let other = try rewritten(unit) { append(other) } else { append(unit) }
        }
        return result
    }
}
