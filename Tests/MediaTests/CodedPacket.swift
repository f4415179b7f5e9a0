@testable import LibAV

/// Properties of an encoder's packet, for comparisons.
struct CodedPacket: Equatable {
    var bytes: [UInt8]
    var pts: Int64
    var dts: Int64
    var duration: Int64
    var isKey: Bool
    var header: [UInt8]?

    init(_ packet: borrowing Packet) {
        bytes = packet.withBytes { Array($0) }
        (pts, dts, duration) = (packet.pts, packet.dts, packet.duration)
        (isKey, header) = (packet.isKey, packet.newHeaders)
    }
}
