internal import LibAV

/// Properties of all H.264 frames of a track from its headers, confirmed by the first packet.
enum AVCVideoHeaders {
    /// Returns the properties; nil if frames must be decoded to determine them: the first packet contains other
    /// parameter sets or a preferred transfer function, or can't be parsed with these headers.
    static func read(_ headers: [UInt8], opening: PacketOpening) -> VideoHeaders? {
        guard let headers = AVCHeaders(headers), case .lengths(let size) = headers.framing,
            let sets = AVCParameterSets(headers), let parsed = sets.videoHeaders
        else { return nil }
        var position = 0
        while position + size < opening.bytes.count {
            let length = opening.bytes[position..<position + size].reduce(0) { $0 << 8 | Int($1) }
            position += size
            guard length > 0, length <= opening.size - position else { return nil }
            // `opening.bytes` may end within the unit.
            let unit = opening.bytes[position..<min(position + length, opening.bytes.count)]
            switch unit[position] & 0x1f {
            case 1, 5: return AVCSliceHeader(unit, sets) == nil ? nil : parsed
            case 6: if containsTransfer(unit) || unit.count < length { return nil }
            case 7: if !sets.isKnown(unit) { return nil }
            case 8: if !headers.pictures.contains(where: unit.elementsEqual) { return nil }
            case 9: break
            default: return nil
            }
            position += length
        }
        return nil
    }

    /// Returns whether an SEI message contains a preferred transfer function
    /// (`alternative_transfer_characteristics`).
    private static func containsTransfer(_ unit: some Collection<UInt8>) -> Bool {
        var isPresent = false
        SEIMessages.forEach(in: NALBits.payload(unit.dropFirst())) { type, _ in
            if type == 147 { isPresent = true }
        }
        return isPresent
    }
}
