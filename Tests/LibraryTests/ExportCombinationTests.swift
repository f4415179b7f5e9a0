import Foundation
import TandemKit
import TestSupport
import Testing

/// Exports of a composition of an asset's video tracks, and of a mix of its audio tracks.
@Suite struct ExportCombinationTests {
    /// Two seconds with two video tracks (red, blue) and two audio tracks (440 and 880 Hz, each at half of full scale).
    private static func source(in scratch: Scratch) throws -> Asset {
        let url = URL(fileURLWithPath: scratch.file("in.mp4"))
        try ffmpeg(
            "-f", "lavfi", "-i", "color=red:s=320x240:r=25:d=2", "-f", "lavfi", "-i",
            "color=blue:s=160x120:r=25:d=2", "-f", "lavfi", "-i",
            "aevalsrc=0.5*sin(440*2*PI*t):s=48000:d=2", "-f", "lavfi", "-i",
            "aevalsrc=0.5*sin(880*2*PI*t):s=48000:d=2", "-map", "0", "-map", "1", "-map", "2", "-map", "3",
            "-c:v", "libx264", "-c:a", "pcm_s16le", "-f", "mov", url.path)
        return Asset(url: url)
    }

    private static let canvas = Canvas(
        size: PixelSize(width: 320, height: 240), frameRate: Rational(50, 1))
    /// The first track on the whole canvas, the second one in a rectangle from half a second on.
    private static let composition = VideoComposition(
        inputs: [
            .init(track: 0),
            .init(
                track: 1, in: PixelRectangle(x: 200, y: 40, width: 100, height: 80), fit: .cover,
                timeRange: TimeRange(
                    start: MediaTime(value: 1, timescale: 2), end: MediaTime(value: 2, timescale: 1))),
        ], canvas: canvas)
    /// The first track fades out in a second; the second one has half of its volume.
    private static let mix = AudioMix(
        inputs: [
            .init(
                track: 2,
                volume: VolumeEnvelope([
                    .init(time: .zero, thousandths: 1000),
                    .init(time: MediaTime(value: 1, timescale: 1), thousandths: 0),
                ])),
            .init(track: 3, volume: VolumeEnvelope([.init(time: .zero, thousandths: 500)])),
        ], sampleRate: 44_100, layout: .mono)

    private func color(_ url: URL, _ frame: Int, x: Int, y: Int) throws -> String {
        let pixels = try rawFrame(of: url, at: frame)
        let offset = (y * 320 + x) * 3
        guard pixels.count == 320 * 240 * 3 else { return "no frame" }
        return pixels[offset] > 200 && pixels[offset + 2] < 60
            ? "red" : pixels[offset] < 60 && pixels[offset + 2] > 200 ? "blue" : "other"
    }

    /// Returns the amplitude of a frequency in a section of samples.
    private func amplitude(_ frequency: Double, _ samples: ArraySlice<Float>, _ rate: Double) -> Double {
        var (real, imaginary) = (0.0, 0.0)
        for (index, sample) in samples.enumerated() {
            let angle = 2 * Double.pi * frequency * Double(index) / rate
            real += Double(sample) * cos(angle)
            imaginary += Double(sample) * sin(angle)
        }
        return (real * real + imaginary * imaginary).squareRoot() * 2 / Double(samples.count)
    }

    @Test func compositionAndMixAreExported() async throws {
        let scratch = try Scratch()
        let asset = try Self.source(in: scratch)
        let session = ExportSession(asset: asset, preset: .low)
        session.videoComposition = Self.composition
        session.audioMix = Self.mix
        session.metadata = [MetadataEntry(key: "title", value: "Composed")]
        let estimate = try await session.estimate()
        #expect(estimate.duration == MediaTime(value: 2, timescale: 1))
        let url = URL(fileURLWithPath: scratch.file("o.mp4"))
        let result = try await session.export(to: url)
        #expect(result.duration == MediaTime(value: 2, timescale: 1))
        #expect(result.tracks.count == 2)
        let file = FFmpegFile(url.path)
        #expect(try file.frames().times.count == 100)
        #expect(try color(url, 10, x: 250, y: 80) == "red")
        #expect(try color(url, 40, x: 250, y: 80) == "blue")
        #expect(try color(url, 40, x: 100, y: 80) == "red")
        #expect(try file.stream("a:0", "sample_rate,channels")["sample_rate"] as? String == "44100")
        let samples = try file.samples(channels: 1, rate: 44_100)
        for (begin, first, second) in [(4410, 0.4, 0.25), (22_050, 0.2, 0.25), (60_000, 0, 0.25)] {
            let section = samples[begin..<begin + 4410]
            // The first volume falls by a tenth within the section.
            #expect(abs(amplitude(440, section, 44_100) - first) < 0.06, "440 Hz at \(begin)")
            #expect(abs(amplitude(880, section, 44_100) - second) < 0.02, "880 Hz at \(begin)")
        }
    }

    /// A range selects a part of the composition; the mix's times count from its start.
    @Test func rangesOfCompositionsAreExported() async throws {
        let scratch = try Scratch()
        let session = ExportSession(asset: try Self.source(in: scratch), preset: .low)
        (session.videoComposition, session.audioMix) = (Self.composition, Self.mix)
        session.timeRange = TimeRange(
            start: MediaTime(value: 1, timescale: 4), duration: MediaTime(value: 1, timescale: 1))
        let url = URL(fileURLWithPath: scratch.file("o.mov"))
        let result = try await session.export(to: url)
        #expect(abs(result.duration.seconds - 1) < 0.021)
        #expect(try (50...51).contains(FFmpegFile(url.path).frames().times.count))
        #expect(try color(url, 5, x: 250, y: 80) == "red")
        #expect(try color(url, 30, x: 250, y: 80) == "blue")
        let samples = try FFmpegFile(url.path).samples(channels: 1, rate: 44_100)
        #expect(amplitude(440, samples[2000..<6000], 44_100) > 0.35)
        #expect(amplitude(440, samples[40_000..<43_000], 44_100) < 0.1)
    }

    /// One of the two leaves the other kind of tracks to the preset.
    @Test func mixAndCompositionAreIndependent() async throws {
        let scratch = try Scratch()
        let asset = try Self.source(in: scratch)
        let mixed = ExportSession(asset: asset, preset: .m4a)
        mixed.audioMix = Self.mix
        let sound = URL(fileURLWithPath: scratch.file("o.m4a"))
        #expect(try await mixed.export(to: sound).tracks.count == 1)
        let composed = ExportSession(asset: asset, preset: .low)
        composed.videoComposition = Self.composition
        let url = URL(fileURLWithPath: scratch.file("o.mp4"))
        #expect(try await composed.export(to: url).tracks.count == 3)
        #expect(try color(url, 40, x: 250, y: 80) == "blue")
    }

    @Test func impossibleCombinationsThrow() async throws {
        let scratch = try Scratch()
        let asset = try Self.source(in: scratch)
        let url = URL(fileURLWithPath: scratch.file("o.mov"))
        func check(
            _ preset: ExportPreset, _ kind: ErrorKind, _ change: (ExportSession) -> Void
        ) async {
            let session = ExportSession(asset: asset, preset: preset)
            change(session)
            do {
                try await session.export(to: url)
                Issue.record("exported")
            } catch {
                #expect(ErrorKind(error) == kind, "\(error)")
                PublicErrorTests.check(error, "export")
            }
            let other = ExportSession(asset: asset, preset: preset)
            change(other)
            await #expect(throws: (any Error).self) { _ = try await other.estimate() }
        }
        await check(.passthrough, .invalidSettings) { $0.videoComposition = Self.composition }
        await check(.passthrough, .invalidSettings) { $0.audioMix = Self.mix }
        await check(.m4a, .invalidSettings) { $0.videoComposition = Self.composition }
        await check(.low, .invalidArgument) {
            $0.videoComposition = VideoComposition(inputs: [.init(track: 2)], canvas: Self.canvas)
        }
        await check(.low, .invalidArgument) {
            $0.videoComposition = VideoComposition(inputs: [], canvas: Self.canvas)
        }
        for size in [PixelSize(width: 0, height: 2), PixelSize(width: .max, height: 2)] {
            await check(.low, .invalidArgument) {
                $0.videoComposition = VideoComposition(
                    inputs: [.init(track: 0)], canvas: Canvas(size: size, frameRate: Rational(25, 1)))
            }
        }
        await check(.low, .invalidArgument) {
            $0.audioMix = AudioMix(
                inputs: [.init(track: 0, volume: .full)], sampleRate: 48_000, layout: .mono)
        }
        for rate in [0, -1, .max] as [Int32] {
            await check(.low, .invalidSettings) {
                $0.audioMix = AudioMix(
                    inputs: [.init(track: 2, volume: .full)], sampleRate: rate, layout: .mono)
            }
        }
        await check(.low, .invalidSettings) {
            let input = AudioMix.Input(track: 2, volume: .full)
            $0.audioMix = AudioMix(inputs: [input, input], sampleRate: 48_000, layout: .mono)
        }
        #expect(scratch.contents == ["in.mp4"])
    }
}
