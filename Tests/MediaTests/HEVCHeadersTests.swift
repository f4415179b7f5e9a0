import LibAV
@testable import Media
import TestSupport
import Testing

/// Tests HEVC parameter sets from a configuration record and from start codes, complete or truncated at any position.
@Suite struct HEVCHeadersTests {
    private func headers(_ name: String, _ options: [String] = []) throws -> [UInt8] {
        let scratch = try Scratch()
        let path = scratch.file(name)
        try ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=d=0.2:r=25:s=128x96", "-c:v", "libx265", "-x265-params",
                "log-level=none",
            ]
                + options + [path])
        return try Demuxer.open(path: path).stream(0).parameters.extradata
    }

    /// The record created from start codes equals libavformat's in the fields that describe the stream.
    @Test(arguments: [[], ["-pix_fmt", "yuv420p10le"], ["-pix_fmt", "yuv444p"], ["-profile:v", "main"]])
    func recordIsBuiltFromStartCodes(_ options: [String]) throws {
        let record = try #require(HEVCHeaders(try headers("a.mp4", options)))
        let codes = try #require(HEVCHeaders(try headers("a.ts", options)))
        #expect(record.framing == .lengths(4) && record.lengthSize == 4)
        #expect(codes.framing == .startCodes && codes.lengthSize == 4)
        func parameters(_ sets: [[UInt8]]) -> [[UInt8]] {
            sets.filter { (32...34).contains($0[0] >> 1 & 0x3f) }
        }
        #expect(parameters(record.sets) == parameters(codes.sets), "the same stream")
        #expect(codes.sets.map { $0[0] >> 1 & 0x3f } == [32, 33, 34])
        // Profile, tier, compatibility, constraints and level; then chroma format and bit depths.
        #expect(record.configurationRecord[0..<13] == codes.configurationRecord[0..<13])
        #expect(record.configurationRecord[16...18] == codes.configurationRecord[16...18])
        #expect(HEVCHeaders(codes.configurationRecord)?.sets == codes.sets, "the record can be parsed")
    }

    /// No array of the record is marked as complete, because parameter sets may also be in band.
    @Test func arraysOfTheRecordAreNotMarkedComplete() throws {
        let bytes = try headers("a.mp4")
        let record = try #require(HEVCHeaders(bytes)).configurationRecord
        #expect(record.count == bytes.count)
        var position = 23
        for _ in 0..<record[22] {
            #expect(record[position] & 0x80 == 0)
            let count = Int(record[position + 1]) << 8 | Int(record[position + 2])
            position += 3
            for _ in 0..<count { position += 2 + Int(record[position]) << 8 + Int(record[position + 1]) }
        }
    }

    @Test(arguments: ["a.mp4", "a.ts"]) func truncatedHeadersAreRejectedAndChangedOnesDontTrap(_ name: String)
        throws
    {
        let bytes = try headers(name)
        // A truncated record lacks a picture parameter set; x265 writes an SEI message after it.
        var read = 0
        for length in 0..<bytes.count where HEVCHeaders(Array(bytes.prefix(length))) != nil { read += 1 }
        #expect(read < bytes.count)
        #expect(HEVCHeaders(Array(bytes.prefix(23))) == nil)
        var random = SeededGenerator(7)
        for _ in 0..<2000 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                changed[Int.random(in: changed.indices, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            _ = HEVCHeaders(changed)
        }
    }
}
