import LibAV
@testable import Media
import Testing

/// Where a Matroska segment ends, as its own header says it.
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

    @Test func theEndIsBehindTheHeader() {
        #expect(end(Self.header, Self.segment, [0x85]) == 19)
        #expect(end(Self.header, Self.segment, [0x41, 0x00]) == 271)
        #expect(end(Self.header, Self.segment, [0x01, 0, 0, 0, 0, 0x01, 0, 0]) == 65_557)
    }

    @Test func voidElementsStandBetween() {
        #expect(end(Self.header, [0xec, 0x82, 0, 0], Self.segment, [0x81]) == 19)
    }

    @Test func liveStreamsDoNotSay() {
        #expect(end(Self.header, Self.segment, [0xff]) == nil)
        #expect(end(Self.header, Self.segment, [0x01] + [UInt8](repeating: 0xff, count: 7)) == nil)
    }

    @Test func whatIsNoMatroskaSaysNothing() {
        #expect(end([0, 0, 0, 0]) == nil)
        #expect(end(Self.header, [0x7f]) == nil)
        #expect(end([0x1a, 0x45, 0xdf, 0xa3, 0xff]) == nil, "a header without an end")
        #expect(MatroskaInspector.segmentEnd(of: Bytes(Self.header)) == nil, "cut off")
        #expect(MatroskaInspector.segmentEnd(of: Bytes([])) == nil)
    }
}
