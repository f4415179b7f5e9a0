import LibAV
@testable import Media
import Testing

/// Tests the end of a Matroska segment according to its header.
@Suite struct MatroskaInspectorTests {
    private final class Bytes: ByteSource {
        let bytes: [UInt8]
        init(_ bytes: [UInt8]) { self.bytes = bytes }
        var size: Int64 { Int64(bytes.count) }
        func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(AVError) -> Int {
            let rest = bytes.dropFirst(Int(offset)).prefix(buffer.count)
            buffer.copyBytes(from: rest)
            return rest.count
        }
    }

    private static let header: [UInt8] = [0x1a, 0x45, 0xdf, 0xa3, 0x84, 0x42, 0x86, 0x81, 0x01]
    private static let segment: [UInt8] = [0x18, 0x53, 0x80, 0x67]

    private func end(_ parts: [UInt8]...) -> Int64? {
        MatroskaInspector.segmentEnd(of: Bytes(parts.flatMap { $0 } + [UInt8](repeating: 0, count: 64)))
    }

    @Test func segmentEndFollowsFromItsSize() {
        #expect(end(Self.header, Self.segment, [0x85]) == 19)
        #expect(end(Self.header, Self.segment, [0x41, 0x00]) == 271)
        #expect(end(Self.header, Self.segment, [0x01, 0, 0, 0, 0, 0x01, 0, 0]) == 65_557)
    }

    @Test func voidElementsBeforeTheSegmentAreSkipped() {
        #expect(end(Self.header, [0xec, 0x82, 0, 0], Self.segment, [0x81]) == 19)
    }

    @Test func segmentsOfUnknownSizeHaveNoEnd() {
        #expect(end(Self.header, Self.segment, [0xff]) == nil)
        #expect(end(Self.header, Self.segment, [0x01] + [UInt8](repeating: 0xff, count: 7)) == nil)
    }

    @Test func segmentEndRequiresAMatroskaHeader() {
        #expect(end([0, 0, 0, 0]) == nil)
        #expect(end(Self.header, [0x7f]) == nil)
        #expect(end([0x1a, 0x45, 0xdf, 0xa3, 0xff]) == nil, "a header of unknown size")
        #expect(MatroskaInspector.segmentEnd(of: Bytes(Self.header)) == nil, "truncated after the header")
        #expect(MatroskaInspector.segmentEnd(of: Bytes([])) == nil)
    }
}
