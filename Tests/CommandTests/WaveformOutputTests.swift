import Foundation
import TestSupport
import Testing

/// Waveform outputs equal the extremes of the decoded samples.
@Suite struct WaveformOutputTests {
    private struct Written: Decodable {
        var version, channels, sampleRate, samplesPerPixel, bits, length: Int
        var data: [Int]
    }

    /// Creates stereo audio with different channels, whose length isn't a multiple of `samples_per_pixel`.
    private func source() throws -> Scratch {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i",
            "aevalsrc=0.8*sin(2*PI*200*t)*t/3|0.5*random(0)-0.1:s=44100:d=2.777", "-f", "lavfi", "-i",
            "sine=frequency=300:duration=1:sample_rate=48000", "-map", "0", "-map", "1", "-c:a", "flac",
            "-sample_fmt", "s16", scratch.file("a.mkv"))
        return scratch
    }

    /// Returns the interleaved samples that ffmpeg decodes.
    private func samples(_ scratch: Scratch, track: Int = 0) throws -> [Int16] {
        let raw = scratch.file("raw")
        try ffmpeg(
            "-i", scratch.file("a.mkv"), "-map", "0:a:\(track)", "-f", "s16le", raw)
        return try Data(contentsOf: URL(fileURLWithPath: raw)).withUnsafeBytes {
            Array($0.bindMemory(to: Int16.self))
        }
    }

    /// Returns the minimum and maximum of each pixel, computed by the test.
    private func extremes(_ samples: [Int16], channels: Int, perPixel: Int, splits: Bool) -> [Int] {
        let frames = samples.count / channels
        var values: [Int] = []
        for start in stride(from: 0, to: frames, by: perPixel) {
            let end = min(frames, start + perPixel)
            for channel in 0..<(splits ? channels : 1) {
                let own = (start..<end).map { frame -> Int in
                    splits
                        ? Int(samples[frame * channels + channel])
                        : (0..<channels).reduce(0) { $0 + Int(samples[frame * channels + $1]) } / channels
                }
                values += [own.min() ?? 0, own.max() ?? 0]
            }
        }
        return values
    }

    private func json(_ scratch: Scratch, _ name: String) throws -> Written {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(
            Written.self, from: Data(contentsOf: URL(fileURLWithPath: scratch.file(name))))
    }

    @Test func valuesMatchTheDecodedSamples() throws {
        let scratch = try source()
        try scratch.write(
            """
            version: 1
            defaults: { asset: ./a.mkv }
            jobs:
              mean: { waveform: {}, destination: out/mean.json }
              each: { waveform: { split_channels: true, samples_per_pixel: 1000, bits: "16" }, destination: out/each.json }
              part: { range: { start: 0.5s, end: 1.5s }, waveform: { bits: 16, samples_per_pixel: 441 }, destination: out/part.json }
              bytes: { waveform: { split_channels: true }, destination: out/bytes.dat }
              other: { waveform: { audio: 1, bits: 16 }, destination: out/other.json }
            """, to: "jobs.yaml")
        let all = try samples(scratch)
        for isolation in ["worker", "none"] {
            let result = try tandem("run", "--force", "--isolation", isolation, "jobs.yaml", in: scratch)
            #expect(result.status == 0, "\(result.errors)")
            let mean = try json(scratch, "out/mean.json")
            #expect((mean.version, mean.channels, mean.sampleRate) == (2, 1, 44_100))
            #expect((mean.samplesPerPixel, mean.bits, mean.length) == (256, 8, (all.count / 2 + 255) / 256))
            #expect(mean.data == extremes(all, channels: 2, perPixel: 256, splits: false).map { $0 / 256 })
            let each = try json(scratch, "out/each.json")
            #expect(each.channels == 2 && each.bits == 16)
            #expect(each.data == extremes(all, channels: 2, perPixel: 1000, splits: true))
            let part = try json(scratch, "out/part.json")
            let cut = Array(all[(22_050 * 2)..<(66_150 * 2)])
            #expect(part.data == extremes(cut, channels: 2, perPixel: 441, splits: false))
            let other = try json(scratch, "out/other.json")
            #expect(other.sampleRate == 48_000)
            #expect(
                other.data
                    == extremes(try samples(scratch, track: 1), channels: 1, perPixel: 256, splits: false))
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch.file("out/bytes.dat"))))
            func number(_ index: Int) -> Int {
                (0..<4).reduce(0) { $0 | Int(bytes[4 * index + $1]) << (8 * $1) }
            }
            let expected = extremes(all, channels: 2, perPixel: 256, splits: true).map { $0 / 256 }
            #expect((0..<6).map(number) == [2, 1, 44_100, 256, expected.count / 4, 2])
            #expect(bytes.dropFirst(24).map { Int(Int8(bitPattern: $0)) } == expected)
        }
        let rerun = try tandem("run", "jobs.yaml", in: scratch)
        #expect(rerun.errors.contains("5 of them up to date"), "\(rerun.errors)")
    }

    @Test func audioThatStartsLateBeginsWithSilence() throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=3", "-itsoffset", "1.5", "-f", "lavfi",
            "-i",
            "sine=frequency=300:duration=1:sample_rate=48000", "-c:v", "libx264", "-preset", "ultrafast",
            "-c:a",
            "flac", scratch.file("a.mkv"))
        try scratch.write(
            """
            version: 1
            jobs:
              late: { asset: ./a.mkv, waveform: { samples_per_pixel: 480, bits: 16 }, destination: out/late.json }
            """, to: "jobs.yaml")
        let result = try tandem("run", "jobs.yaml", in: scratch)
        #expect(result.status == 0, "\(result.errors)")
        let late = try json(scratch, "out/late.json")
        #expect(abs(late.length - 250) <= 1, "\(late.length)")
        #expect(late.data.prefix(2 * 149).allSatisfy { $0 == 0 })
        #expect(late.data.dropFirst(2 * 152).contains { $0 != 0 })
    }

    /// For a tone of increasing amplitude, the heights of the columns increase accordingly; colors and size are as
    /// specified.
    @Test func drawingsHaveTheHeightsOfThePeaks() throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "aevalsrc=sin(2*PI*500*t)*t/4:s=48000:d=4", "-c:a", "flac",
            scratch.file("a.flac"),
        )
        try scratch.write(
            """
            version: 1
            defaults: { asset: ./a.flac }
            jobs:
              peaks: { waveform: { size: 400x100, colors: { background: "#000000", waveform: "#00ff0080" } }, destination: out/p.png }
              power: { waveform: { size: 400x100, measure: rms, colors: { background: "#000000", waveform: "#ffffff" } }, destination: out/r.png }
              lines: { waveform: { size: 400x100 }, destination: out/l.svg }
            """, to: "jobs.yaml")
        let result = try tandem("run", "jobs.yaml", in: scratch)
        #expect(result.status == 0, "\(result.errors)")
        func heights(_ name: String, _ matches: (ArraySlice<UInt8>) -> Bool) throws -> [Int] {
            let raw = scratch.file("raw")
            try ffmpeg("-y", "-i", scratch.file(name), "-f", "rawvideo", "-pix_fmt", "rgba", raw)
            let pixels = [UInt8](try Data(contentsOf: URL(fileURLWithPath: raw)))
            try #require(pixels.count == 400 * 100 * 4)
            return (0..<400).map { column in
                (0..<100).count { row in
                    let offset = (row * 400 + column) * 4
                    return matches(pixels[offset..<(offset + 4)])
                }
            }
        }
        let peaks = try heights("out/p.png") { $0.elementsEqual([0, 255, 0, 128]) }
        let power = try heights("out/r.png") { $0.elementsEqual([255, 255, 255, 255]) }
        for column in [50, 150, 250, 350] {
            let expected = Double(column) / 4
            #expect(abs(Double(peaks[column]) - expected) <= 3, "\(column): \(peaks[column])")
            #expect(
                abs(Double(power[column]) - expected / 2.0.squareRoot()) <= 3, "\(column): \(power[column])")
        }
        let checked = try program("xmllint", ["--noout", scratch.file("out/l.svg")])
        #expect(checked.status == 0, "\(checked.errors)")
    }
}
