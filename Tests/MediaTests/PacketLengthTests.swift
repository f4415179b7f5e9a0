import Foundation
import LibAV
@testable import Media
import TestSupport
import Testing

/// Sample counts that are parsed from packets equal the counts that decoders return.
@Suite struct PacketLengthTests {
    private static let kinds: [(encoder: String, file: String, options: [String])] = [
        ("libopus", "a.ogg", ["-frame_duration", "20"]), ("libopus", "a.ogg", ["-frame_duration", "2.5"]),
        ("libopus", "a.ogg", ["-frame_duration", "60"]), ("flac", "a.flac", []), ("alac", "a.m4a", []),
        ("ac3", "a.ac3", []), ("eac3", "a.eac3", []), ("dca", "a.dts", ["-strict", "-2"]),
        ("truehd", "a.thd", ["-strict", "-2"]), ("libmp3lame", "a.mp3", []), ("mp2", "a.mp2", []),
        ("aac", "a.aac", []), ("pcm_s24le", "a.wav", []),
    ]

    @Test(arguments: 0..<kinds.count) func lengthsMatchTheDecodedSamples(_ index: Int) throws {
        let kind = Self.kinds[index]
        let scratch = try Scratch()
        let path = scratch.file(kind.file)
        try ffmpeg(
            ["-f", "lavfi", "-i", "sine=d=1.234:r=48000", "-ac", "2", "-c:a", kind.encoder] + kind.options
                + [path])
        let demuxer = try Demuxer.open(path: path)
        let lengths = PacketLengths(try demuxer.stream(0).parameters)
        var sum: Int64 = 0
        let packet = try Packet()
        while try demuxer.read(into: packet) {
            let length = lengths.samples(of: packet)
            #expect(length.map { $0 > 0 } == true)
            sum += length ?? 0
        }
        // Includes decoded samples that aren't presented.
        let decoded = try program(
            "ffprobe",
            [
                "-v", "error", "-flags2", "+skip_manual", "-show_entries", "frame=nb_samples", "-of",
                "csv=p=0",
                path,
            ]
        ).text.split(separator: "\n").compactMap { Int64($0.filter(\.isNumber)) }.reduce(0, +)
        // The last unit of TrueHD is cut at the end of the source, which only its decoder determines.
        let cut: Int64 = kind.encoder == "truehd" ? 39 : 0
        #expect((0...cut).contains(sum - decoded), "\(kind.encoder): \(sum) of \(decoded)")
    }

    @Test func malformedPacketsHaveNoLength() throws {
        let scratch = try Scratch()
        let path = scratch.file("a.eac3")
        try ffmpeg("-f", "lavfi", "-i", "sine=d=0.2:r=48000", "-c:a", "eac3", path)
        let lengths = PacketLengths(try Demuxer.open(path: path).stream(0).parameters)
        for bytes in [[], [0x0b], [0x0b, 0x77, 0, 0, 0], [UInt8](repeating: 0xff, count: 40)] {
            let packet = try Packet.of(bytes)
            let length = lengths.samples(of: packet)
            #expect(length == nil)
        }
    }
}
