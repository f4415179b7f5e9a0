import Media
import Streaming
import Testing

/// Tests the bytes of `sidx`.
@Suite struct SegmentIndexTests {
    private func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    @Test func shortTimes() throws {
        let rendition = Fixtures.video("v", width: 640, height: 360, rate: 800_000)
        let bytes = try SegmentIndex(rendition).bytes
        #expect(bytes.count == 32 + 4 * 12 && SegmentIndex.size(of: rendition) == 80)
        #expect(number(bytes[0..<4]) == 80 && Array(bytes[4..<8]) == Array("sidx".utf8))
        #expect(number(bytes[8..<12]) == 0, "version 0")
        #expect(number(bytes[12..<16]) == 1 && number(bytes[16..<20]) == 30_000)
        #expect(number(bytes[20..<28]) == 0, "earliest time and first offset")
        #expect(number(bytes[28..<32]) == 4, "number of references")
        for (index, segment) in rendition.segments.enumerated() {
            let reference = bytes[(32 + 12 * index)...].prefix(12)
            #expect(number(reference.prefix(4)) == UInt64(segment.size))
            #expect(number(reference.dropFirst(4).prefix(4)) == (index < 3 ? 180_180 : 60_060))
            #expect(number(reference.suffix(4)) == 0x9000_0000, "starts with an access point of type 1")
        }
        let ranges = SegmentIndex.ranges(of: rendition)
        #expect(ranges[0] == ByteRange(offset: 880, length: rendition.segments[0].size))
        #expect(ranges[1].offset == ranges[0].offset + ranges[0].length)
        #expect(SegmentIndex.range(of: rendition) == ByteRange(offset: 800, length: 80))
    }

    @Test func longTimes() throws {
        var rendition = Fixtures.audio("a", language: nil)
        let offset = MediaTime(value: 1 << 32, timescale: 48_000)
        for index in rendition.segments.indices {
            rendition.segments[index].start = rendition.segments[index].start + offset
        }
        let bytes = try SegmentIndex(rendition).bytes
        #expect(bytes.count == 40 + 4 * 12 && number(bytes[0..<4]) == UInt64(bytes.count))
        #expect(number(bytes[8..<12]) == 1 << 24, "version 1")
        #expect(number(bytes[20..<28]) == 1 << 32 && number(bytes[28..<36]) == 0)
        #expect(number(bytes[36..<40]) == 4)
        #expect(SegmentIndex.size(of: rendition) == Int64(bytes.count))
    }
}
