internal import LibAV

/// Reader of HDR metadata in a stream's SEI messages, for containers without it: an encoder requires the metadata
/// before the first frame.
enum HDRMetadataSEI {
    /// Returns whether the stream is HDR video (PQ) whose container has no HDR metadata.
    static func needsInspection(_ stream: StreamInfo) -> Bool {
        stream.parameters.traits.parameterSets != nil
            && stream.parameters.color.transfer == ColorDescription.pq
            && !stream.sideData.contains { $0.kind == .masteringDisplay || $0.kind == .contentLight }
    }

    /// Reads the metadata from the stream's header and its first packets. Returns an empty array if none can be read.
    static func read(
        path: String, stream: StreamInfo, environment: SourceEnvironment, interrupt: InterruptFlag
    ) -> [StreamSideData] {
        let isHEVC = stream.parameters.traits.parameterSets == .hevc
        let extradata = stream.parameters.extradata
        let isRecord = extradata.first == 1
        let size = isHEVC ? HEVCHeaders(extradata)?.lengthSize : AVCHeaders(extradata)?.lengthSize
        var found: [StreamSideData] = []
        func take(_ unit: UnsafeRawBufferPointer) {
            let type = isHEVC ? unit[0] >> 1 & 0x3f : unit[0] & 0x1f
            guard type == (isHEVC ? 39 : 6) else { return }
            for message in messages(NALBits.payload(unit.dropFirst(isHEVC ? 2 : 1).prefix(4096))) {
                guard !found.contains(where: { $0.kind == message.kind }) else { continue }
                found.append(message)
            }
        }
        if isHEVC, isRecord {
            units(ofRecord: extradata, take)
        } else {
            extradata.withUnsafeBytes { _ = NALFraming.startCodes.forEach(in: $0, take) }
        }
        guard found.isEmpty,
            let demuxer = try? Demuxer.open(
                path: path, environment: environment, interrupt: interrupt, discovery: .header),
            let packet = try? Packet()
        else { return found }
        demuxer.select([stream.index])
        let framing = isRecord ? NALFraming.lengths(size ?? 4) : .startCodes
        for _ in 0..<64 {
            guard (try? demuxer.read(into: packet)) == true else { break }
            guard packet.streamIndex == stream.index else { continue }
            packet.withBytes { _ = framing.forEach(in: $0, take) }
            if packet.isKey { break }
        }
        return found
    }

    /// Calls `body` for the NAL units of an `hvcC` record (ISO/IEC 14496-15).
    private static func units(ofRecord record: [UInt8], _ body: (UnsafeRawBufferPointer) -> Void) {
        guard record.count > 22 else { return }
        record.withUnsafeBytes { bytes in
            var at = 23
            func number() -> Int? {
                guard at + 2 <= bytes.count else { return nil }
                defer { at += 2 }
                return Int(bytes[at]) << 8 | Int(bytes[at + 1])
            }
            for _ in 0..<bytes[22] {
                at += 1
                guard let count = number() else { return }
                for _ in 0..<count {
                    guard let length = number(), length > 2, at + length <= bytes.count else { return }
                    body(UnsafeRawBufferPointer(rebasing: bytes[at..<(at + length)]))
                    at += length
                }
            }
        }
    }

    private static func messages(_ payload: [UInt8]) -> [StreamSideData] {
        var found: [StreamSideData] = []
        SEIMessages.forEach(in: payload) { type, message in
            switch type {
            case 137: if let datum = StreamSideData.mastering(message: message) { found.append(datum) }
            case 144: if let datum = StreamSideData.contentLight(message: message) { found.append(datum) }
            default: break
            }
        }
        return found
    }
}
