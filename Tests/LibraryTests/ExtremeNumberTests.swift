import Dispatch
import Foundation
import TandemKit
import TestSupport
import Testing

@testable import LibAV
@testable import Media

/// Public calls with extreme values of numeric parameters succeed or throw, and never trap.
@Suite struct ExtremeNumberTests {
    private static let integers: [Int64] = [
        .min, .min + 1, Int64(Int32.min), -1_000_000_000, -1, 0, 1, 2, 1_000_000_000, Int64(Int32.max),
        .max - 1, .max,
    ]
    private static let scales: [Int32] = [.min, -1, 0, 1, 25, 90_000, 1_000_000_000, .max]
    private static let times = integers.flatMap { value in
        scales.map { MediaTime(value: value, timescale: $0) }
    }
    private static let ratios = scales.flatMap { num in scales.map { Rational(num, $0) } }

    @Test func timesAndRatiosDontTrap() {
        for a in Self.times {
            _ = (a.seconds, a.description, a.hashValue, a.bounded)
            for b in Self.times {
                _ = (a + b, a - b, a < b, a == b)
                let range = TimeRange(start: a, end: b)
                _ = (range.end, range.bounded, range.prefix(lasting: a), [range, range].prefix(lasting: b))
            }
            for ratio in Self.ratios {
                _ = (
                    a.ticks(in: ratio), a.ticks(in: ratio, rounding: .up), a.ticks(in: ratio, rounding: .down)
                )
            }
            for value in Self.integers {
                _ = (a.multiplied(by: value, dividedBy: 3), a.multiplied(by: 7, dividedBy: value))
            }
        }
        for ratio in Self.ratios {
            _ = (ratio.double, ratio.inverted, ratio.description, ratio.isPositive)
            for value in Self.integers {
                _ = MediaTime(ticks: value, timeBase: ratio)
                for other in Self.ratios { _ = ratio.rescale(value, to: other) }
            }
        }
        for seconds in [Double.nan, .infinity, -.infinity, .greatestFiniteMagnitude, -1e300, 1e18] {
            for scale in Self.scales { _ = MediaTime(seconds: seconds, timescale: scale) }
        }
    }

    @Test func numbersOfWaveformsDontTrap() {
        let integers = Self.integers.map { Int(clamping: $0) }
        for channels in integers {
            for count in [0, 1, 2, 3, 5, 8] {
                var data = WaveformData(sampleRate: channels, channels: channels, samplesPerPixel: channels)
                data.sampleCount = channels
                data.extremes = [Int16](repeating: .min, count: count)
                data.powers = count == 5 ? [1] : []
                _ = data.length
                for column in integers {
                    for columns in integers {
                        for channel in [Int.min, -1, 0, 1, .max] {
                            _ = data.column(column, of: columns, channel: channel)
                        }
                    }
                }
            }
        }
    }

    @Test func numbersOfFramesDontTrap() throws {
        for start in Self.integers {
            for count in Self.integers {
                let frame = try Frame.audio(format: .float, layout: .mono, sampleRate: 48_000, samples: 100)
                frame.narrow(start: Int(clamping: start), count: Int(clamping: count))
                #expect((0...100).contains(frame.sampleCount))
            }
        }
        for size in Self.integers.map({ Int(clamping: $0) }) {
            _ = try? PixelBuffer(pixelFormat: .rgb24, width: size, height: 2)
            _ = try? PixelBuffer(pixelFormat: .rgb24, width: 2, height: size)
            _ = try? FormatDescription.video(codec: "h264", size: PixelSize(width: size, height: size))
        }
        let buffer = try PixelBuffer(pixelFormat: .rgb24, width: 8, height: 8)
        let scratch = try Scratch()
        for quality in Self.integers {
            try? buffer.write(
                to: URL(fileURLWithPath: scratch.file("\(quality).jpg")), quality: Int(clamping: quality))
        }
        for time in Self.times {
            _ = try? SampleBuffer(audio: [0], layout: .mono, sampleRate: .max, at: time)
            for ratio in Self.ratios {
                _ = try? SampleBuffer(data: [1], at: time, duration: time, isKey: true, timeBase: ratio)
            }
        }
    }

    /// Tests the numeric properties of encoder configurations.
    @Test(arguments: ["libx264", "mjpeg", "aac", "libmp3lame", "flac"])
    func numbersOfEncoderConfigurationsDontTrap(_ name: String) throws {
        let scratch = try Scratch()
        let isVideo = ["libx264", "mjpeg"].contains(name)
        func attempt(_ change: (inout EncoderConfiguration) -> Void) {
            var settings = EncoderConfiguration(
                encoder: name, mediaType: isVideo ? .video : .audio,
                timeBase: Rational(1, isVideo ? 25 : 48_000))
            (settings.width, settings.height, settings.pixelFormat) = (64, 48, .yuv420p)
            (settings.sampleRate, settings.channelLayout) = (48_000, .mono)
            settings.sampleFormat = name == "flac" ? .s16 : .planarFloat
            change(&settings)
            do {
                let writer = try AssetWriter(
                    url: URL(fileURLWithPath: scratch.file("o.mkv")), container: .matroska)
                let input = AssetWriterInput(
                    mediaType: isVideo ? .video : .audio, settings: .encode(settings))
                _ = writer.canAdd(input)
                if isVideo { _ = try AssetWriterInputPixelBufferAdaptor(input: input) }
                try writer.add(input)
                defer { writer.cancelWriting() }
                try writer.startWriting()
                try writer.startSession(atSourceTime: .zero)
            } catch {}
        }
        for value in Self.integers {
            let number = Int(clamping: value)
            // Valid sizes may require gigabytes of memory.
            if value < 1 || value > Int64(Int32.max) {
                attempt { $0.width = number }
                attempt { $0.height = number }
            }
            attempt { $0.keyframeInterval = number }
            attempt { $0.bitRate = value }
            attempt { $0.maxBitRate = value }
            attempt { $0.bufferSize = value }
            attempt { $0.fixedQuantizer = number }
            attempt { $0.quality = number }
            attempt { $0.bitsPerSample = number }
            attempt { $0.level = number }
            if value < 2 { attempt { $0.threads = number } }
        }
        for ratio in Self.ratios {
            attempt { $0.timeBase = ratio }
            attempt { $0.frameRate = ratio }
            attempt { $0.sampleAspectRatio = ratio }
        }
        for rate in Self.scales { attempt { $0.sampleRate = rate } }
    }

    /// Tests the times of samples, sessions, fragments and adaptors.
    @Test(arguments: [true, false]) func timesOfWritersDontTrap(_ isVideo: Bool) throws {
        let scratch = try Scratch()
        var video = EncoderConfiguration(encoder: "libx264", mediaType: .video, timeBase: Rational(1, 25))
        (video.width, video.height, video.pixelFormat) = (64, 48, .yuv420p)
        video.options = [MetadataEntry(key: "preset", value: "ultrafast")]
        var audio = EncoderConfiguration(encoder: "aac", mediaType: .audio, timeBase: Rational(1, 48_000))
        (audio.sampleRate, audio.sampleFormat, audio.channelLayout) = (48_000, .planarFloat, .mono)
        for (number, time) in Self.times.enumerated() where number.isMultiple(of: 7) {
            let other = Self.times[(number * 7) % Self.times.count]
            do {
                let writer = try AssetWriter(
                    url: URL(fileURLWithPath: scratch.file("o.mp4")), container: .mp4)
                defer { writer.cancelWriting() }
                let input = AssetWriterInput(
                    mediaType: isVideo ? .video : .audio, settings: .encode(isVideo ? video : audio))
                let adaptor = isVideo ? try AssetWriterInputPixelBufferAdaptor(input: input) : nil
                try writer.add(input)
                if number.isMultiple(of: 2) { writer.movieFragmentInterval = other }
                if number.isMultiple(of: 5) { writer.fileLengthLimit = other.value }
                try writer.startWriting()
                try writer.startSession(atSourceTime: time)
                if number.isMultiple(of: 4) { try? writer.endSession(atSourceTime: other) }
                for own in [time, other, .zero] {
                    if let adaptor { try? adaptor.append(adaptor.pixelBufferPool.makeBuffer(), at: own) }
                    let buffer = try PixelBuffer(pixelFormat: .yuv420p, width: 64, height: 48)
                    if isVideo {
                        try? input.append(
                            SampleBuffer(
                                pixelBuffer: buffer, pts: own.value, duration: other.value,
                                timeBase: Rational(1, own.timescale)))
                    } else {
                        try? input.append(
                            SampleBuffer(audio: [0, 1], layout: .mono, sampleRate: 48_000, at: own))
                    }
                }
                _ = (input.appendedTime, input.appendedSamples)
                // A delay of many years would result in a file of many gigabytes.
            } catch {}
        }
    }

    /// Tests the ranges, rates and times of readers, generators and compositions.
    @Test func numbersOfReadersDontTrap() async throws {
        let pattern = TestPattern(
            name: "testsrc", width: 64, height: 48, frameRate: Rational(25, 1),
            duration: MediaTime(value: 1, timescale: 1), toneFrequency: 440)
        let asset = Asset(.pattern(pattern), environment: MediaEnvironment())
        let tracks = try await asset.load(.tracks)
        let generator = AssetImageGenerator(asset: asset)
        for (number, time) in Self.times.enumerated() where number.isMultiple(of: 4) {
            let other = Self.times[(number * 11) % Self.times.count]
            _ = try? await generator.image(at: time)
            for track in tracks {
                let reader = try AssetReader(asset: asset)
                // An endless range of silence would never be read completely.
                reader.timeRange = TimeRange(start: time, end: other)
                let output = AssetReaderTrackOutput(
                    track: track,
                    settings: track.mediaType == .video
                        ? .video(VideoOutputSettings()) : .audio(AudioOutputSettings()))
                try reader.add(output)
                do {
                    try reader.startReading()
                    for _ in 0..<3 { _ = try output.copyNextSampleBuffer() }
                } catch {}
                reader.cancelReading()
            }
            var composition = Composition()
            try? composition.insert(asset, timeRange: TimeRange(start: time, end: other), at: time)
            try? composition.append(asset, overlap: time)
            try? composition.appendGap(time)
            try? composition.insertGap(TimeRange(start: time, duration: other))
            try? composition.scale(TimeRange(start: time, duration: other), to: time)
            try? composition.mix(asset, timeRange: TimeRange(start: .zero, end: time), at: other)
            try? composition.remove(TimeRange(start: other, duration: time))
            _ = (composition.isValid, composition.duration, composition.tracks)
        }
        for rate in [Double.nan, .infinity, -1, 0, .leastNonzeroMagnitude, .greatestFiniteMagnitude] {
            let reader = try AssetReader(asset: asset)
            reader.playbackRate = rate
            try reader.add(AssetReaderTrackOutput(track: tracks[0], settings: .video(VideoOutputSettings())))
            #expect(throws: MediaError.self) { try reader.startReading() }
        }
        for value in Self.integers where value <= 0 || value > Int64(Int32.max) {
            _ = try? await WaveformReader(asset: asset).waveform(.init(samplesPerPixel: Int(clamping: value)))
            _ = try? await OutputSettingsAssistant.videoSettings(
                preset: .low, size: PixelSize(width: Int(clamping: value), height: 48),
                frameRate: Rational(Int32(clamping: value), Int32(clamping: value)))
        }
    }
}
