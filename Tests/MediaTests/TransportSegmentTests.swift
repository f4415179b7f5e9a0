import Media
import TestSupport
import Testing

/// Tests the reading of segments of transport streams, with packets that are built here.
@Suite struct TransportSegmentTests {
    /// Returns a transport packet of 188 bytes, with stuffing in an adaptation field.
    private func packet(
        _ identifier: Int, begins: Bool, _ payload: [UInt8], isRandomAccess: Bool = false
    ) -> [UInt8] {
        let stuffing = 183 - payload.count
        let field: [UInt8] =
            stuffing == 0 ? [] : [isRandomAccess ? 0x40 : 0] + Array(repeating: 0xff, count: stuffing - 1)
        return [0x47, (begins ? 0x40 : 0) | UInt8(identifier >> 8), UInt8(identifier & 0xff), 0x30]
            + [UInt8(field.count)] + field + payload
    }

    private func association(map: Int) -> [UInt8] {
        packet(
            0, begins: true,
            [0, 0, 0xb0, 13, 0, 1, 0xc1, 0, 0, 0, 1]
                + [0xe0 | UInt8(map >> 8), UInt8(map & 0xff), 1, 2, 3, 4])
    }

    private func map(_ identifier: Int) -> [UInt8] { packet(identifier, begins: true, [0, 2, 0xb0, 18]) }

    /// Returns the header of a PES packet with a presentation time.
    private func header(_ time: Int64) -> [UInt8] {
        func byte(_ value: Int64) -> UInt8 { UInt8(value & 0xff) }
        return [0, 0, 1, 0xe0, 0, 0, 0x80, 0x80, 5, 0x21 | byte(time >> 29 & 0x0e), byte(time >> 22)]
            + [byte(time >> 14) | 1, byte(time >> 7), byte(time << 1) | 1]
    }

    private func firstUnit(_ bytes: [UInt8]) -> TransportSegment.FirstUnit? {
        bytes.withUnsafeBytes { TransportSegment($0).firstUnit }
    }

    private func segment(time: Int64 = 126_000, map number: Int = 0x1000) -> [UInt8] {
        association(map: number) + map(number)
            + packet(0x100, begins: true, header(time) + [1, 2, 3], isRandomAccess: true)
            + packet(0x100, begins: false, [4, 5, 6]) + packet(0x100, begins: true, header(0) + [7])
    }

    @Test(arguments: [0, 126_000, (1 << 33) - 1, 1 << 32, 0x1_5555_5555, 0xaaaa_aaaa])
    func firstUnitHasItsTimeAndPackets(_ time: Int64) throws {
        let unit = try #require(firstUnit(segment(time: time)))
        #expect(unit.presentationTime == time && unit.isRandomAccess && unit.range == 376..<752)
        let packets = Array(segment(time: time)[unit.range])
        #expect(packets.withUnsafeBytes { TransportSegment($0).unitContents } == [1, 2, 3, 4, 5, 6])
    }

    @Test func otherPacketsDontBeginASegment() {
        let valid = segment()
        #expect(firstUnit(valid) != nil && firstUnit(segment(map: 0x1ffe)) != nil)
        let (pat, pmt, pes) = (Array(valid[..<188]), Array(valid[188..<376]), Array(valid[376...]))
        let invalid = [
            [], pat, pat + pmt, pmt + pat + pes, pes + pat + pmt, pat + pes, pat + map(0x1001) + pes,
            pat + pmt + packet(0x100, begins: false, header(5)), Array(valid.dropFirst()),
            pat + pmt + packet(0x100, begins: true, [0, 0, 1, 0xe0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0]),
            packet(0, begins: true, [250, 0, 0xb0]) + pmt + pes, packet(0, begins: true, []) + pmt + pes,
        ]
        for (index, bytes) in invalid.enumerated() { #expect(firstUnit(bytes) == nil, "\(index)") }
    }

    @Test(arguments: 0..<200) func damagedSegmentsAreReadWithoutATrap(_ seed: UInt64) {
        var random = SeededGenerator(seed)
        var bytes = segment()
        for _ in 0..<Int.random(in: 1...40, using: &random) {
            bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        bytes.removeLast(Int.random(in: 0...300, using: &random))
        if let found = firstUnit(bytes) { #expect(found.range.upperBound <= bytes.count) }
        _ = bytes.withUnsafeBytes { TransportSegment($0).unitContents }
        let rest = Array(bytes.dropFirst(376))
        _ = rest.withUnsafeBytes { TransportSegment($0).unitContents }
    }
}
