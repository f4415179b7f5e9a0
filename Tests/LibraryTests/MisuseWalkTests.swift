import Dispatch
import Foundation
import TandemKit
import TestSupport
import Testing

@testable import Media

/// Calls of the library's classes in random order, from several threads, succeed or throw, never trap or deadlock, and
/// leave only complete files.
@Suite struct MisuseWalkTests {
    /// A seeded random number generator.
    struct WalkGenerator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            var x = state
            x ^= x >> 33
            x = x &* 0xff51_afd7_ed55_8ccd
            return x ^ (x >> 33)
        }
    }

    /// The objects under test, and the calls on them.
    final class TestObjects: Sendable {
        let asset: Asset
        let tracks: [AssetTrack]
        let reader: AssetReader
        let outputs: [AssetReaderOutput]
        let writer: AssetWriter
        let video: AssetWriterInput
        let audio: AssetWriterInput
        let session: ReencodeSession
        let adaptor: AssetWriterInputPixelBufferAdaptor
        let generator: AssetImageGenerator
        let waveform: WaveformReader
        let export: ExportSession
        let buffer: PixelBuffer
        let samples = KeptSamples()
        let queue = DispatchQueue(label: "walk")
        let scratch: Scratch

        /// A sample that is kept from one call for another. Unchecked `Sendable`: accessed only within the lock of
        /// `KeptSamples`.
        final class Box: @unchecked Sendable {
            var sample: SampleBuffer?
            init(_ sample: consuming SampleBuffer) { self.sample = consume sample }
        }

        /// Samples that are kept between calls.
        final class KeptSamples: @unchecked Sendable {
            private let lock = NSLock()
            private var boxes: [Box] = []

            func withLock<Value>(_ body: (inout [Box]) -> Value) -> Value {
                lock.withLock { body(&boxes) }
            }
        }

        init(_ scratch: Scratch, _ random: inout WalkGenerator) throws {
            self.scratch = scratch
            let pattern = TestPattern(
                name: "testsrc", width: 64, height: 48, frameRate: Rational(25, 1),
                duration: MediaTime(value: 1, timescale: 1), toneFrequency: 440)
            asset = Asset(.pattern(pattern), environment: MediaEnvironment())
            tracks = try asset.loadSynchronously().tracks
            reader = try AssetReader(asset: asset)
            let readerSettings = VideoOutputSettings(
                pixelFormat: Bool.random(using: &random) ? .yuv420p : .rgb24)
            outputs = [
                AssetReaderTrackOutput(track: tracks[0], settings: .video(readerSettings)),
                AssetReaderTrackOutput(track: tracks[1], settings: .audio(AudioOutputSettings())),
                AssetReaderTrackOutput(track: tracks[0]),
                try AssetReaderVideoCompositionOutput(
                    tracks: tracks, videoComposition: VideoComposition(of: tracks[0])),
                try AssetReaderAudioMixOutput(
                    tracks: tracks,
                    audioMix: AudioMix(
                        inputs: [.init(track: 1, volume: .full)], sampleRate: 44_100, layout: .stereo),
                    settings: AudioOutputSettings()),
            ]
            let types: [ContainerType] = [.mp4, .matroska, .mov, .wav, .transportStream]
            let container = types.randomElement(using: &random) ?? .mp4
            writer = try AssetWriter(
                url: URL(fileURLWithPath: scratch.file("o")), container: container,
                publishing: container.hasFragments && readerSettings.pixelFormat == .rgb24
                    ? .immediately : .whenFinished)
            var settings = EncoderConfiguration(
                encoder: "libx264", mediaType: .video, timeBase: Rational(1, 25))
            (settings.width, settings.height, settings.pixelFormat) = (64, 48, .yuv420p)
            settings.options = [MetadataEntry(key: "preset", value: "ultrafast")]
            video = AssetWriterInput(mediaType: .video, settings: .encode(settings))
            video.expectsMediaDataInRealTime = Bool.random(using: &random)
            var encoder = EncoderConfiguration(
                encoder: "aac", mediaType: .audio, timeBase: Rational(1, 48_000))
            (encoder.sampleRate, encoder.sampleFormat, encoder.channelLayout) = (48_000, .planarFloat, .mono)
            audio = AssetWriterInput(mediaType: .audio, settings: .encode(encoder))
            session = ReencodeSession(reader: reader, writer: writer)
            adaptor = try AssetWriterInputPixelBufferAdaptor(
                input: video, pixelFormat: Bool.random(using: &random) ? .rgb24 : nil)
            generator = AssetImageGenerator(asset: asset)
            waveform = WaveformReader(asset: asset)
            export = ExportSession(asset: asset, preset: .low)
            buffer = try PixelBuffer(pixelFormat: .yuv420p, width: 64, height: 48)
        }

        func keep(_ sample: consuming SampleBuffer) {
            let box = Box(sample)
            samples.withLock { $0.append(box) }
        }

        func withSample(_ body: (consuming SampleBuffer) throws -> Void) throws {
            let box = samples.withLock { $0.popLast() }
            guard let box, let sample = box.sample.take() else { return }
            try body(sample)
        }

        /// Performs the call with the given number.
        func call(_ number: Int, _ random: inout WalkGenerator) async throws {
            let time = MediaTime(value: Int64.random(in: -2...30, using: &random), timescale: 25)
            let output = outputs.randomElement(using: &random) ?? outputs[0]
            let input = Bool.random(using: &random) ? video : audio
            switch number {
            case 0: try reader.add(output)
            case 1: _ = reader.canAdd(output)
            case 2: try reader.startReading()
            case 3: if let sample = try output.copyNextSampleBuffer() { keep(sample) }
            case 4: reader.cancelReading()
            case 5: _ = (reader.status, reader.error.map { "\($0)" }, output.position, output.droppedSamples)
            case 6: try writer.add(input)
            case 7: _ = writer.canAdd(input)
            case 8: try writer.startWriting()
            case 9: try writer.startSession(atSourceTime: max(time, .zero))
            case 10: try writer.endSession(atSourceTime: time)
            case 11: try withSample { try input.append($0) }
            case 12: try input.markAsFinished()
            case 13: try await writer.finishWriting()
            case 14: writer.cancelWriting()
            case 15:
                try? writer.flushSegment()
                _ = (input.isReadyForMoreMediaData, input.droppedSamples, input.appendedTime)
            case 16: input.requestMediaDataWhenReady(on: queue) {}
            case 17: try adaptor.append(adaptor.pixelBufferPool.makeBuffer(), at: time)
            case 18: try adaptor.append(PixelBuffer(pixelFormat: .nv12, width: 64, height: 48), at: time)
            case 19: try adaptor.append(PixelBuffer(pixelFormat: .gray, width: 32, height: 48), at: time)
            case 20: _ = try AssetWriterInputPixelBufferAdaptor(input: input)
            case 21: try session.addTrack(output: output, input: input)
            case 22: _ = (session.progress, session.reports)
            case 23: session.cancel()
            case 24: _ = await session.run()
            case 25: _ = try await generator.image(at: time)
            case 26: try generator.images(at: [time, .zero, time]) { _ in }
            case 27: if Int.random(in: 0..<4, using: &random) == 0 { generator.cancel() }
            case 28:
                _ = try await waveform.waveform(
                    .init(samplesPerPixel: Int.random(in: -1...500, using: &random)))
            case 29: if Int.random(in: 0..<4, using: &random) == 0 { waveform.cancel() }
            case 30: try await export.export(to: URL(fileURLWithPath: scratch.file("e.mp4")))
            case 31: export.cancelExport()
            case 32: _ = (export.status, export.progress, export.error.map { "\($0)" })
            case 33:
                try buffer.withMutablePlane(Int.random(in: -1...4, using: &random)) { bytes, _ in bytes[0] = 1
                }
            case 34:
                try buffer.withPlane(Int.random(in: -1...4, using: &random)) { bytes, _ in
                    _ = bytes[bytes.count - 1]
                }
            case 35: _ = try SampleBuffer(pixelBuffer: buffer, pts: 0, duration: 1, timeBase: Rational(1, 25))
            case 36: _ = try PixelBuffer(pixelFormat: .none, width: 4, height: 4)
            case 37:
                _ = try PixelBuffer(
                    pixelFormat: .rgb24, width: .max, height: Int.random(in: -1...2, using: &random))
            case 38:
                try input.append(
                    SampleBuffer(
                        data: [1, 2, 3], at: time, duration: time, isKey: true, timeBase: Rational(1, 25)))
            case 39:
                try input.append(SampleBuffer(audio: [0, 1, 0], layout: .mono, sampleRate: 48_000, at: time))
            case 40:
                try input.append(SampleBuffer(audio: [0, 1], layout: .stereo, sampleRate: 44_100, at: time))
            case 41: try withSample { _ = try $0.pixelBuffer() }
            case 42: _ = asset.status(of: .duration)
            case 43: _ = try await asset.load(.tracks)
            case 44: _ = try FormatDescription.video(codec: "h264", size: PixelSize(width: 0, height: -1))
            case 45:
                _ = try FormatDescription.audio(
                    codec: "h264", sampleRate: 0, layout: .mono, sampleFormat: .none)
            case 46: try buffer.write(to: URL(fileURLWithPath: scratch.file("s.png")))
            case 47: try buffer.write(to: URL(fileURLWithPath: scratch.file("s.xyz")), quality: 3)
            case 48: try await edit(&random)
            case 49: try await reader.start()
            case 50: if let sample = try await output.next() { keep(sample) }
            case 51: _ = try AssetWriterInput(video: videoSettings(&random))
            case 52: _ = try AssetWriterInput(audio: audioSettings(&random))
            case 53:
                try buffer.withRows(ofPlane: Int.random(in: -1...4, using: &random), as: UInt8.self) {
                    _, row in
                    _ = row[row.count - 1]
                }
            case 54:
                try buffer.withMutableRows(ofPlane: Int.random(in: -1...4, using: &random), as: UInt8.self) {
                    $1[0] = UInt8(truncatingIfNeeded: $0)
                }
            case 55: try withSample { _ = try $0.interleavedSamples(of: Float.self) }
            case 56: try withSample { _ = try $0.planarSamples(of: Int16.self) }
            case 57: try withSample { try input.append($0.reference()) }
            case 58: for await _ in generator.results(for: [time, .zero]) {}
            case 59: _ = try await asset.load(.duration, .tracks, .chapters)
            case 60:
                export.videoComposition = VideoComposition(
                    inputs: [.init(track: Int.random(in: -1...2, using: &random))],
                    canvas: Canvas(
                        size: PixelSize(width: Int.random(in: -1...99, using: &random), height: 48),
                        frameRate: Rational(Int32.random(in: -1...25, using: &random), 1)))
            case 61:
                export.audioMix = AudioMix(
                    inputs: [.init(track: Int.random(in: -1...2, using: &random), volume: .full)],
                    sampleRate: Int32.random(in: -1...48_000, using: &random), layout: .mono)
            default: _ = try AssetReader(asset: asset).canAdd(output)
            }
        }

        /// Makes a call, whose error must be one of the library's.
        func attempt(_ number: Int, _ random: inout WalkGenerator) async {
            do {
                try await call(number, &random)
            } catch {
                PublicErrorTests.check(error, "call \(number)")
            }
        }

        /// Edits a composition at random; it stays valid, also if an edit throws.
        private func edit(_ random: inout WalkGenerator) async throws {
            var composition = Composition()
            for _ in 0..<8 {
                func time() -> MediaTime {
                    MediaTime(value: Int64.random(in: -3...60, using: &random), timescale: 25)
                }
                let range = TimeRange(start: time(), end: time())
                switch Int.random(in: 0..<7, using: &random) {
                case 0: try? composition.append(asset, overlap: time())
                case 1: try? composition.insert(asset, timeRange: range, at: time())
                case 2: try? composition.appendGap(time())
                case 3: try? composition.insertGap(range)
                case 4: try? composition.remove(range)
                case 5: try? composition.scale(range, to: time())
                default: try? composition.mix(asset, timeRange: range, at: time())
                }
                let hasContent = composition.canvas != nil && composition.duration > .zero
                #expect(composition.isValid || !hasContent)
                _ = composition.tracks
            }
            try await generate(composition, at: MediaTime(seconds: 1))
        }

        private func generate(_ composition: Composition, at time: MediaTime) async throws {
            let asset = Asset(.composition(composition), environment: MediaEnvironment())
            _ = try await AssetImageGenerator(asset: asset).image(at: time)
        }

        private func videoSettings(_ random: inout WalkGenerator) -> VideoSettings {
            let values = [Int.min, -1, 0, 1, 2, 25, 48, 64, 10_000, .max]
            func value() -> Int { values.randomElement(using: &random) ?? 0 }
            var settings = VideoSettings.h264(
                crf: Double(value()), size: PixelSize(width: value(), height: value()),
                frameRate: Rational(Int32(clamping: value()), Int32(clamping: value())))
            if Bool.random(using: &random) { settings.keyframeInterval = value() }
            if Bool.random(using: &random) { settings.bitDepth = value() }
            if Bool.random(using: &random) { settings.rateControl = .bitRate(Int64(value())) }
            return settings
        }

        private func audioSettings(_ random: inout WalkGenerator) -> AudioSettings {
            let values = [Int.min, -1, 0, 1, 8, 16, 24, 8000, 44_100, 48_000, 320_000, .max]
            func value() -> Int { values.randomElement(using: &random) ?? 0 }
            let layout = ChannelLayout(defaultFor: value())
            let rate = Int32(clamping: value())
            return switch Int.random(in: 0..<5, using: &random) {
            case 0: .aac(bitRate: Int64(value()), sampleRate: rate, layout: layout)
            case 1: .opus(bitRate: Int64(value()), sampleRate: rate, layout: layout)
            case 2: .flac(bitDepth: value(), sampleRate: rate, layout: layout)
            case 3: .mp3(bitRate: Int64(value()), sampleRate: rate, layout: layout)
            default: .pcm(.int24, sampleRate: rate, layout: layout)
            }
        }

        static let calls = 63
    }

    private static let seeds =
        ProcessInfo.processInfo.environment["TANDEM_ATTACK_ROUNDS"].flatMap { UInt64($0) } ?? 160

    @Test(arguments: [UInt64](1...max(1, seeds))) func randomCallsNeverTrap(_ seed: UInt64)
        async throws
    {
        let scratch = try Scratch()
        var random = WalkGenerator(state: seed)
        let objects = try TestObjects(scratch, &random)
        // Every other seed starts with calls in the correct order, so that later states are reached.
        if seed.isMultiple(of: 2) {
            for number in [0, 6, 6, 2, 8, 9] { await objects.attempt(number, &random) }
        }
        for _ in 0..<60 {
            await objects.attempt(Int.random(in: 0..<TestObjects.calls, using: &random), &random)
        }
        try await end(objects, scratch)
    }

    @Test(arguments: [UInt64](1...12)) func concurrentRandomCallsNeverTrap(
        _ seed: UInt64
    ) async throws {
        let scratch = try Scratch()
        var random = WalkGenerator(state: seed &* 977)
        let objects = try TestObjects(scratch, &random)
        if seed.isMultiple(of: 2) {
            for number in [0, 6, 6, 2, 8, 9] { await objects.attempt(number, &random) }
        }
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<3 {
                // Adding and appending are limited to one thread, as documented; other calls aren't.
                let any = [1, 4, 5, 7, 14, 15, 22, 23, 25, 27, 28, 29, 31, 32, 34, 42, 43, 46]
                let own = [3, 8, 9, 11, 12, 13, 17]
                group.addTask {
                    var random = WalkGenerator(state: seed &* 31 &+ UInt64(thread))
                    let calls = thread == 0 ? own + own + any : any
                    for _ in 0..<40 {
                        await objects.attempt(calls.randomElement(using: &random) ?? 5, &random)
                    }
                }
            }
        }
        try await end(objects, scratch)
    }

    private func end(_ objects: TestObjects, _ scratch: Scratch) async throws {
        objects.reader.cancelReading()
        objects.writer.cancelWriting()
        objects.session.cancel()
        objects.export.cancelExport()
        // Verifies that every published file is complete.
        for name in scratch.contents {
            #expect(["o", "e.mp4", "s.png"].contains(name), "unexpected file \(name)")
            let ffmpegFile = FFmpegFile(scratch.file(name))
            let errors = try ffmpegFile.decodeErrors()
            #expect(errors.isEmpty, "\(name), \(objects.writer.container.name): \(errors)")
        }
    }
}
