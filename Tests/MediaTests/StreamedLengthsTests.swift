@testable import LibAV
import Testing

/// Length placeholders are replaced by the actual lengths; actual lengths are kept.
@Suite struct StreamedLengthsTests {
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

    private func little(_ value: UInt64, _ count: Int = 4) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }

    private func wave(riff: UInt64, data: UInt64, samples: Int = 101, tail: [UInt8] = []) -> [UInt8] {
        Array("RIFF".utf8) + little(riff) + Array("WAVEfmt ".utf8) + little(16) + little(1, 2) + little(1, 2)
            + little(48_000) + little(96_000) + little(2, 2) + little(16, 2) + Array("data".utf8)
            + little(data)
            + [UInt8](repeating: 7, count: samples) + tail
    }

    /// Returns the bytes as read in pieces; nil if no length is replaced.
    private func read(_ bytes: [UInt8], pieces: Int = 5) throws -> [UInt8]? {
        guard let source = StreamedLengths(Bytes(bytes)) else { return nil }
        #expect(source.size == Int64(bytes.count))
        var (result, at) = ([UInt8](), Int64(0))
        while at < source.size {
            let piece = try #require(source.bytes(at: at, Int(min(Int64(pieces), source.size - at))))
            result += piece
            at += Int64(piece.count)
        }
        return result
    }

    @Test(
        arguments: [
            (0xFFFF_FFFF, 0xFFFF_FFFF), (0, 0), (0xFFFF_FFFF, 0), (36, 0), (0x7FFF_F024, 0x7FFF_F000),
            (0xFFFF_FFFF, 0xFFFF_FFDB), (0x8000_0024, 0x8000_0000),
        ] as [(UInt64, UInt64)])
    func waveOfAPipe_hasWholeSamples(_ riff: UInt64, _ data: UInt64) throws {
        #expect(try read(wave(riff: riff, data: data)) == wave(riff: 137, data: 100))
    }

    @Test func waveWithLengths_isUnchanged() throws {
        #expect(try read(wave(riff: 137, data: 101)) == nil)
        // Truncated, empty, or empty before another chunk.
        #expect(try read(wave(riff: 100_036, data: 100_000)) == nil)
        #expect(try read(wave(riff: 0, data: 0, samples: 0)) == nil)
        #expect(try read(wave(riff: 48, data: 0, samples: 0, tail: Array("LIST".utf8) + little(0))) == nil)
    }

    @Test func rf64OfAPipe_hasWholeSamples() throws {
        func rf64(_ riff: UInt64, _ data: UInt64) -> [UInt8] {
            Array("RF64".utf8) + little(0xFFFF_FFFF) + Array("WAVEds64".utf8) + little(28) + little(riff, 8)
                + little(data, 8) + little(0, 12) + Array("fmt ".utf8) + little(16) + little(1, 2)
                + little(1, 2)
                + little(48_000) + little(96_000) + little(2, 2) + little(16, 2) + Array("data".utf8)
                + little(0xFFFF_FFFF) + [UInt8](repeating: 7, count: 101)
        }
        #expect(try read(rf64(0, 0)) == rf64(173, 100))
        #expect(try read(rf64(.max, .max)) == rf64(173, 100))
        #expect(try read(rf64(173, 101)) == nil)
    }

    @Test func coreAudioOfAPipe_hasItsLength() throws {
        func caf(_ size: UInt64) -> [UInt8] {
            Array("caff".utf8) + [0, 1, 0, 0] + Array("desc".utf8) + little(32, 8).reversed()
                + [UInt8](repeating: 0, count: 16) + little(2).reversed() + [UInt8](repeating: 0, count: 12)
                + Array("data".utf8) + little(size, 8).reversed() + [0, 0, 0, 0]
                + [UInt8](repeating: 7, count: 101)
        }
        #expect(try read(caf(.max)) == caf(104))
        #expect(try read(caf(105)) == nil)
    }

    @Test func ivfOfAPipe_hasItsLength() throws {
        func ivf(_ length: UInt64, times: [UInt64]) -> [UInt8] {
            Array("DKIF".utf8) + little(0, 2) + little(32, 2) + Array("VP80".utf8) + little(64, 2)
                + little(64, 2)
                + little(25) + little(1) + little(length) + little(0)
                + times.flatMap { little(3) + little($0, 8) + [1, 2, 3] }
        }
        #expect(try read(ivf(0xFFFF_FFFF, times: [0, 1, 2, 3])) == ivf(4, times: [0, 1, 2, 3]))
        #expect(try read(ivf(0, times: [10, 12, 14])) == ivf(6, times: [10, 12, 14]))
        #expect(try read(ivf(4, times: [0, 1, 2, 3])) == nil)
        #expect(try read(ivf(0, times: [])) == nil)
        #expect(try read(ivf(0, times: [0, .max])) == nil)
    }

    /// Headers with random values cause no read or addition out of bounds.
    @Test func hostileHeadersDoNotTrap() {
        var generator = SystemRandomNumberGenerator()
        for start in [
            "RIFF\0\0\0\0WAVE", "RF64\0\0\0\0WAVEds64", "RIFF\0\0\0\0AVI LIST", "caff\0\u{1}\0\0", "DKIF",
        ] {
            for _ in 0..<500 {
                let tail = (0..<Int.random(in: 0..<200)).map { _ in
                    Bool.random() ? UInt8.random(in: 0...255, using: &generator) : 0xff
                }
                _ = StreamedLengths(Bytes(Array(start.utf8) + tail))
            }
        }
    }
}
