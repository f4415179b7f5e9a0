import Foundation
import LibAV
import Media
import Streaming
import TestSupport
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

    /// Compares with the index that ffmpeg writes of the same fragments, which has 64-bit times and no types of access points.
    @Test func sizesAndDurationsAreThoseOfFFmpeg() throws {
        let scratch = try Scratch()
        let (plain, indexed) = (scratch.file("plain.mp4"), scratch.file("indexed.mp4"))
        let flags = "cmaf+dash+delay_moov+skip_trailer+frag_keyframe"
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x90:r=25", "-frames:v", "130", "-c:v", "libx264", "-g", "25",
            "-sc_threshold", "0", "-bf", "0", "-movflags", flags, plain)
        try ffmpeg("-i", plain, "-c", "copy", "-movflags", flags + "+global_sidx", indexed)
        let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: indexed)))
        let outline = try MovieBoxes(indexed).outline
        let place = try #require(outline.firstIndex { $0.name == "sidx" })
        let index = file[outline[place - 1].end..<outline[place].end]
        var fragments: [Int64] = []
        for (number, box) in outline.enumerated() where box.name == "moof" {
            fragments.append(Int64(outline[number + 1].end - outline[number - 1].end))
        }
        let rendition = StreamingRendition(
            id: "v", kind: .video(.init(width: 160, height: 90, frameRate: Rational(25, 1))),
            codec: CodecString("avc1.64000b"), timescale: 12_800, initializationSize: 1,
            segments: fragments.enumerated().map {
                StreamingSegment(
                    start: MediaTime(value: Int64($0), timescale: 1),
                    duration: MediaTime(value: $0 < 5 ? 5 : 1, timescale: 5), size: $1)
            })
        let own = try SegmentIndex(rendition).bytes
        #expect(fragments.count == 6 && number(index.dropFirst(38).prefix(2)) == 6)
        #expect(number(index.dropFirst(16).prefix(4)) == number(own[16..<20]), "timescale")
        for segment in 0..<6 {
            let (theirs, ours) = (index.dropFirst(40 + 12 * segment), own.dropFirst(32 + 12 * segment))
            #expect(theirs.prefix(8).elementsEqual(ours.prefix(8)), "segment \(segment)")
        }
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
