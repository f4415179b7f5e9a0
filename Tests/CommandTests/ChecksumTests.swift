import Foundation
import TestSupport
import Testing

/// Tests the CRC-32 elements of Matroska, which the program computes with libdeflate instead of libavutil, and the
/// checksums of other containers.
@Suite struct ChecksumTests {
    /// A script that compares each CRC-32 element at the start of an element of the segment with zlib's result, and prints their number.
    private static let checker = """
        import sys, zlib
        data = open(sys.argv[1], "rb").read()
        def number(at, keeps):
            length = 9 - data[at].bit_length()
            value = int.from_bytes(data[at:at + length], "big")
            return (value if keeps else value & ((1 << 7 * length) - 1)), at + length
        at = count = 0
        end = len(data)
        while at < end:
            id, body = number(at, True)
            size, body = number(body, False)
            if id == 0x18538067:
                at = body
                continue
            if data[body] == 0xBF:
                stored = int.from_bytes(data[body + 2:body + 6], "little")
                if stored != zlib.crc32(data[body + 6:body + size]):
                    sys.exit(f"element {id:x} at {at}: wrong CRC-32")
                count += 1
            at = body + size
        print(count)
        """

    @Test func matroskaChecksumsAreValid() throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=d=12:r=10:s=320x240", "-f", "lavfi", "-i", "sine=d=12", "-c:v",
            "libvpx", "-b:v",
            "2M", "-c:a", "libopus", scratch.file("a.mkv"))
        try scratch.write(
            """
            version: 1
            jobs:
              one: { asset: ./a.mkv, tracks: [ { video: all, copy: true }, { audio: all, copy: true } ], destination: out.mkv }
            """, to: "jobs.yaml")
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        let result = try program("python3", ["-c", Self.checker, scratch.file("out.mkv")])
        // SeekHead, Info, Tracks, Tags, Cues, and some Clusters.
        #expect(
            result.status == 0 && (Int(result.text.trimmingCharacters(in: .newlines)) ?? 0) >= 6,
            "\(result.text)")
    }

    /// The CRCs of Ogg pages, FLAC frames and MPEG-TS tables, which libavutil computes, are valid.
    @Test func oggFLACAndTSChecksumsAreValid() throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=d=2", "-c:a", "flac", scratch.file("a.flac"))
        try scratch.write(
            """
            version: 1
            jobs:
              ogg: { asset: ./a.flac, tracks: [ { audio: all, copy: true } ], destination: out.ogg }
              flac: { asset: ./a.flac, tracks: [ { audio: all, encode: { codec: flac } } ], destination: out.flac }
              ts: { asset: ./a.flac, tracks: [ { audio: all, encode: { codec: ac3 } } ], destination: out.ts }
            """, to: "jobs.yaml")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 0, "\(run.errors)")
        for name in ["out.ogg", "out.flac", "out.ts"] {
            let decoded = try program(
                "ffmpeg",
                [
                    "-v", "error", "-xerror", "-err_detect", "crccheck+explode", "-i", scratch.file(name),
                    "-f", "null",
                    "-",
                ])
            #expect(decoded.status == 0, "\(name): \(decoded.text)")
        }
        #expect(try program("flac", ["-s", "-t", scratch.file("out.flac")]).status == 0)
    }
}
