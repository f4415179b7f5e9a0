import Foundation
import JobRun
import TestSupport
import Testing

/// Old Ogg files have granule positions that differ from libavformat's expectation. Their lengths are computed from the
/// packets.
@Suite struct OggVorbisTests {
    /// Creates a file with correct granule positions, and one whose middle positions are off by a block.
    private func sources(in scratch: Scratch) throws {
        let noise =
            "aevalsrc='if(lt(mod(t,0.7),0.02),0.9*(random(0)*2-1),0.2*sin(2*PI*t*(300+40*t)))':s=44100:d=6"
        let result = try program(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=s=64x48:d=6", "-f", "lavfi", "-i",
                noise,
                "-c:v", "libtheora", "-c:a", "libvorbis", "-page_duration", "100000",
                scratch.file("right.ogg"),
            ])
        #expect(result.status == 0, "\(result.errors)")
        let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch.file("right.ogg"))))
        var ogg = OggPages(file)
        #expect(ogg.bytes == file)
        let serial = try #require(ogg.pages.first { $0.position > 100_000 }?.serial)
        var number = 0
        for index in ogg.pages.indices where ogg.pages[index].serial == serial {
            guard ogg.pages[index].position > 40_000, !ogg.pages[index].isLast else { continue }
            number += 1
            ogg.pages[index].position += number % 3 == 0 ? -512 : number % 3 == 1 ? 448 : 0
        }
        #expect(number > 20)
        try Data(ogg.bytes).write(to: URL(fileURLWithPath: scratch.file("off.ogg")))
    }

    private func samples(_ name: String, in scratch: Scratch) throws -> [UInt8] {
        [UInt8](
            try program(
                "ffmpeg", ["-v", "error", "-nostdin", "-i", scratch.file(name), "-vn", "-f", "s16le", "-"]
            ).output)
    }

    @Test func wrongPagePositionsDontShortenTheAudio() async throws {
        let scratch = try Scratch()
        try sources(in: scratch)
        for name in ["right", "off"] {
            let records = try await run(
                """
                version: 1
                x-a: &a { audio: first, encode: { codec: flac } }
                jobs:
                  whole: { asset: ./\(name).ogg, tracks: [ *a ], destination: "\(name)-${job}.flac" }
                  part: { asset: ./\(name).ogg, range: { start: 3.3s, end: 5.1s }, tracks: [ *a ], destination: "\(name)-${job}.flac" }
                  copy: { asset: ./\(name).ogg, tracks: [ { audio: first, copy: true } ], destination: "\(name)-${job}.ogg" }
                  matroska: { asset: ./\(name).ogg, tracks: [ { audio: first, copy: true } ], destination: "\(name)-${job}.mka" }
                """, in: scratch.path)
            for record in records { _ = try success(records, record.id) }
        }
        let whole = try samples("right-whole.flac", in: scratch)
        #expect(whole.count == 6 * 44_100 * 2)
        #expect(try samples("off-whole.flac", in: scratch) == whole)
        let part = Array(whole[(2 * 145_530)..<(2 * 224_910)])
        #expect(try samples("right-part.flac", in: scratch) == part)
        #expect(try samples("off-part.flac", in: scratch) == part)
        // The conversion from float to integer samples occurs at another stage than in an encode.
        let source = try samples("right.ogg", in: scratch)
        for name in ["right-copy.ogg", "off-copy.ogg", "right-matroska.mka", "off-matroska.mka"] {
            #expect(try samples(name, in: scratch) == source, "\(name)")
        }
    }
}
