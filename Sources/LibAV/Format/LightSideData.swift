internal import CFFmpeg

extension StreamSideData {
    /// Parses the 24-byte mastering display message of H.264 and HEVC (ITU-T H.265, D.2.28) into an
    /// `AVMasteringDisplayMetadata`. Returns nil if the message is shorter.
    package static func mastering(message: [UInt8]) -> StreamSideData? {
        guard message.count >= 24 else { return nil }
        func number(_ at: Int, _ count: Int) -> Int32 {
            Int32(clamping: message[at..<(at + count)].reduce(Int64(0)) { $0 << 8 | Int64($1) })
        }
        func chromaticity(_ at: Int) -> AVRational { AVRational(num: number(at, 2), den: 50_000) }
        func primary(_ at: Int) -> (AVRational, AVRational) { (chromaticity(at), chromaticity(at + 2)) }
        var datum = AVMasteringDisplayMetadata()
        // The message contains the primaries in the order green, blue, red.
        datum.display_primaries = (primary(8), primary(0), primary(4))
        datum.white_point = primary(12)
        datum.max_luminance = AVRational(num: number(16, 4), den: 10_000)
        datum.min_luminance = AVRational(num: number(20, 4), den: 10_000)
        (datum.has_primaries, datum.has_luminance) = (1, 1)
        return of(datum, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, kind: .masteringDisplay)
    }

    /// Parses the 4-byte content light level message of H.264 and HEVC (D.2.35) into an `AVContentLightMetadata`.
    /// Returns nil if the message is shorter.
    package static func contentLight(message: [UInt8]) -> StreamSideData? {
        guard message.count >= 4 else { return nil }
        var datum = AVContentLightMetadata()
        datum.MaxCLL = UInt32(message[0]) << 8 | UInt32(message[1])
        datum.MaxFALL = UInt32(message[2]) << 8 | UInt32(message[3])
        return of(datum, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, kind: .contentLight)
    }

    private static func of<Datum>(_ datum: Datum, _ type: AVPacketSideDataType, kind: SideDataKind)
        -> StreamSideData
    {
        StreamSideData(type: type.rawValue, kind: kind, bytes: withUnsafeBytes(of: datum) { Array($0) })
    }
}
