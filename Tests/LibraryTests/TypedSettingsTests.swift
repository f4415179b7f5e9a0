import Foundation
import TestSupport
import Testing

@testable import TandemKit

/// Typed settings of inputs: what they encode, and the messages of values that are out of bounds.
@Suite struct TypedSettingsTests {
    private static let size = PixelSize(width: 64, height: 48)
    private static let rate = Rational(25, 1)

    private static let video: [(VideoSettings, ContainerType, codec: String, format: String)] = {
        var tenBit = VideoSettings.hevc(crf: 30, size: size, frameRate: rate)
        tenBit.bitDepth = 10
        var full = VideoSettings.h264(size: size, frameRate: rate)
        full.chroma = .yuv444
        var lossless = VideoSettings.h264(size: size, frameRate: rate)
        lossless.rateControl = .lossless
        var alpha = VideoSettings.proRes(.proRes4444, size: size, frameRate: rate)
        alpha.hasAlpha = true
        return [
            (.h264(crf: 20, size: size, frameRate: rate), .mp4, "h264", "yuv420p"),
            (.h264(bitRate: 300_000, maximum: 400_000, size: size, frameRate: rate), .mp4, "h264", "yuv420p"),
            (full, .mp4, "h264", "yuv444p"), (lossless, .matroska, "h264", "yuv420p"),
            (tenBit, .mp4, "hevc", "yuv420p10le"),
            (.hevc(bitRate: 200_000, size: size, frameRate: rate), .mov, "hevc", "yuv420p"),
            (.vp9(crf: 40, size: size, frameRate: rate), .webm, "vp9", "yuv420p"),
            (.vp9(bitRate: 100_000, size: size, frameRate: rate), .webm, "vp9", "yuv420p"),
            (.av1(crf: 40, size: PixelSize(width: 64, height: 64), frameRate: rate), .mp4, "av1", "yuv420p"),
            (.proRes(.proxy, size: size, frameRate: rate), .mov, "prores", "yuv422p10le"),
            (.proRes(.hq, size: size, frameRate: rate), .mov, "prores", "yuv422p10le"),
            (alpha, .mov, "prores", "yuva444p12le"),
        ]
    }()

    /// Encodes 25 frames whose times vary.
    private func write(_ settings: VideoSettings, to url: URL, _ container: ContainerType) async throws
        -> [Double]
    {
        let writer = try AssetWriter(url: url, container: container)
        #expect(writer.canApply(settings))
        let input = try AssetWriterInput(video: settings)
        let adaptor = try AssetWriterInputPixelBufferAdaptor(input: input, pixelFormat: .gray)
        #expect(writer.canAdd(input))
        try writer.add(input)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        var times: [Double] = []
        for number in 0..<25 as Range<Int64> {
            let buffer = try adaptor.pixelBufferPool.makeBuffer()
            try buffer.withMutableRows(ofPlane: 0, as: UInt8.self) { row, pixels in
                for column in pixels.indices {
                    pixels[column] = UInt8(truncatingIfNeeded: row * 4 + column + Int(number))
                }
            }
            let time = MediaTime(value: number * 40 + number % 3, timescale: 1000)
            times.append(time.seconds)
            try adaptor.append(buffer, at: time)
        }
        try input.markAsFinished()
        try await writer.finishWriting()
        return times
    }

    /// Each setting produces its codec and its format, and keeps the times of frames that aren't at the frame rate.
    @Test(arguments: video.indices) func videoIsEncoded(_ number: Int) async throws {
        let (settings, container, codec, format) = Self.video[number]
        let scratch = try Scratch()
        let url = URL(fileURLWithPath: scratch.file("o." + container.extensions[0]))
        let times = try await write(settings, to: url, container)
        let file = FFmpegFile(url.path)
        let stream = try file.stream("v:0", "codec_name,pix_fmt,width,height")
        #expect(stream["codec_name"] as? String == codec)
        // ffmpeg's decoder of ProRes 4444 reports 12 bits.
        let own = stream["pix_fmt"] as? String
        #expect(own == format || format.hasPrefix("yuva444p") && own?.hasPrefix("yuva444p") == true)
        #expect(stream["width"] as? Int == settings.size.width)
        #expect(stream["height"] as? Int == settings.size.height)
        let written = try file.frames().times
        #expect(written.count == 25)
        #expect(zip(times, written).allSatisfy { abs($0 - $1) < 0.0011 }, "\(written)")
    }

    private static let audio: [(AudioSettings, ContainerType, codec: String)] = [
        (.aac(bitRate: 96_000, layout: .mono), .mp4, "aac"), (.aac(layout: .mono), .matroska, "aac"),
        (.opus(bitRate: 64_000, layout: .mono), .webm, "opus"), (.mp3(layout: .mono), .mp3, "mp3"),
        (.flac(bitDepth: 24, layout: .mono), .flac, "flac"), (.alac(layout: .mono), .mp4, "alac"),
        (.pcm(.int24, layout: .mono), .wav, "pcm_s24le"), (.pcm(.float32, layout: .mono), .mov, "pcm_f32le"),
    ]

    /// Frames with pixels that aren't square are declared as such.
    @Test func pixelAspectRatioIsDeclared() async throws {
        let scratch = try Scratch()
        let url = URL(fileURLWithPath: scratch.file("o.mp4"))
        var settings = VideoSettings.h264(size: Self.size, frameRate: Self.rate)
        settings.pixelAspectRatio = Rational(4, 3)
        _ = try await write(settings, to: url, .mp4)
        let stream = try FFmpegFile(url.path).stream("v:0", "sample_aspect_ratio")
        #expect(stream["sample_aspect_ratio"] as? String == "4:3")
        let track = try #require(try await Asset(url: url).loadTracks(withMediaType: .video).first)
        #expect(abs(track.displaySize.width - 64 * 4 / 3.0) < 1)
    }

    @Test(arguments: audio.indices) func audioIsEncoded(_ number: Int) async throws {
        let (settings, container, codec) = Self.audio[number]
        let scratch = try Scratch()
        let url = URL(fileURLWithPath: scratch.file("o." + container.extensions[0]))
        let writer = try AssetWriter(url: url, container: container)
        #expect(writer.canApply(settings))
        let input = try AssetWriterInput(audio: settings)
        try writer.add(input)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        let tone = (0..<48_000).map { sin(Float($0) * 2 * .pi * 440 / 48_000) / 2 }
        try input.append(SampleBuffer(interleaved: tone, layout: .mono, sampleRate: 48_000, at: .zero))
        try input.markAsFinished()
        try await writer.finishWriting()
        let file = FFmpegFile(url.path)
        #expect(try file.stream("a:0", "codec_name")["codec_name"] as? String == codec)
        let samples = try file.samples(channels: 1, rate: 48_000)
        #expect(abs(samples.count - 48_000) <= 2400)
        #expect((samples.dropFirst(10_000).prefix(20_000).map(abs).max() ?? 0) > 0.45)
    }

    private static let wrongVideo: [(String, @Sendable (inout VideoSettings) -> Void)] = [
        ("`crf` is 52.0; expected a number from 0 to 51 for H.264", { $0.rateControl = .crf(52) }),
        ("`crf` is -1.0; expected a number from 0 to 51 for H.264", { $0.rateControl = .crf(-1) }),
        ("`crf` is nan; expected a number from 0 to 51 for H.264", { $0.rateControl = .crf(.nan) }),
        ("`crf` is inf; expected a number from 0 to 51 for H.264", { $0.rateControl = .crf(.infinity) }),
        (
            "`bitRate` is 0; expected 1000 to 1000000000 bits per second",
            { $0.rateControl = .bitRate(0) }
        ),
        (
            "`bitRate` is \(Int64.max); expected 1000 to 1000000000 bits per second",
            { $0.rateControl = .bitRate(.max) }
        ),
        (
            "`maximum` is 1000; expected `bitRate` (2000) to 1000000000 bits per second",
            { $0.rateControl = .bitRate(2000, maximum: 1000) }
        ),
        (
            "`size` is 63x48; H.264 with 4:2:0 requires a width that is a multiple of 2 and a height that is a multiple of 2",
            { $0.size.width = 63 }
        ),
        (
            "`size` is 0x48; expected a width and height from 1 to 16384",
            { $0.size.width = 0 }
        ),
        (
            "`size` is 64x\(Int.max); expected a width and height from 1 to 16384",
            { $0.size.height = .max }
        ),
        ("`frameRate` is 0; expected a rate from 1/100 to 1000", { $0.frameRate = Rational(0, 1) }),
        ("`frameRate` is 1/0; expected a rate from 1/100 to 1000", { $0.frameRate = Rational(1, 0) }),
        (
            "`frameRate` is 2147483647; expected a rate from 1/100 to 1000",
            { $0.frameRate = Rational(.max, 1) }
        ),
        ("`keyframeInterval` is 0; expected 1 to 100000 frames", { $0.keyframeInterval = 0 }),
        ("`bitDepth` is 9; expected 8, 10 or 12", { $0.bitDepth = 9 }),
        ("H.264 doesn't support 12-bit 4:2:0", { $0.bitDepth = 12 }),
        ("H.264 doesn't support 8-bit 4:2:0 with alpha", { $0.hasAlpha = true }),
        (
            "`pixelAspectRatio` is -1; expected a ratio from 1/100 to 100",
            { $0.pixelAspectRatio = Rational(-1, 1) }
        ),
    ]

    /// A value out of bounds is refused when the input is created, with its bounds.
    @Test(arguments: wrongVideo.indices) func errorsForVideoValuesStateTheBounds(_ number: Int) throws {
        let (message, change) = Self.wrongVideo[number]
        let scratch = try Scratch()
        let writer = try AssetWriter(url: URL(fileURLWithPath: scratch.file("o.mp4")), container: .mp4)
        var settings = VideoSettings.h264(size: Self.size, frameRate: Self.rate)
        #expect(writer.canApply(settings))
        change(&settings)
        #expect(!writer.canApply(settings))
        Self.expect(message) { _ = try AssetWriterInput(video: settings) }
    }

    private static func expect(_ message: String, _ body: () throws -> Void) {
        do {
            try body()
            Issue.record("accepted, instead of: \(message)")
        } catch {
            #expect("\(error)" == message)
            #expect(ErrorKind(error) == .invalidSettings)
        }
    }

    @Test func errorsForOtherCodecsStateTheBounds() throws {
        Self.expect("`crf` is 20.5; expected a whole number from 0 to 63 for AV1") {
            let size = PixelSize(width: 64, height: 64)
            _ = try AssetWriterInput(video: .av1(crf: 20.5, size: size, frameRate: Self.rate))
        }
        Self.expect("`size` is 64x48; expected a width and height from 64 to 16384") {
            _ = try AssetWriterInput(video: .av1(size: Self.size, frameRate: Self.rate))
        }
        Self.expect("`crf` is 64.0; expected a number from 0 to 63 for VP9") {
            _ = try AssetWriterInput(video: .vp9(crf: 64, size: Self.size, frameRate: Self.rate))
        }
        var prores = VideoSettings.proRes(.hq, size: Self.size, frameRate: Self.rate)
        prores.rateControl = .bitRate(1_000_000)
        Self.expect("ProRes doesn't support `bitRate`; the profile determines it") {
            _ = try AssetWriterInput(video: prores)
        }
        prores.rateControl = .standard
        prores.chroma = .yuv444
        Self.expect("ProRes hq doesn't support 10-bit 4:4:4") { _ = try AssetWriterInput(video: prores) }
        // VP9 has no constraint on odd sizes.
        _ = try AssetWriterInput(
            video: .vp9(size: PixelSize(width: 63, height: 47), frameRate: Self.rate))
    }

    private static let wrongAudio: [(AudioSettings, String)] = [
        (
            .opus(sampleRate: 44_100),
            "`sampleRate` is 44100; expected one of 8000, 12000, 16000, 24000, 48000 Hz for Opus"
        ),
        (.aac(sampleRate: 0), "`sampleRate` is 0; expected 1 to 768000 Hz"),
        (.aac(sampleRate: .max), "`sampleRate` is 2147483647; expected 1 to 768000 Hz"),
        (.aac(bitRate: 0), "`bitRate` is 0; expected 1 to 1000000000 bits per second"),
        (
            .aac(bitRate: 900_000),
            "`bitRate` is 900000; AAC supports 576000 bits per second at most for stereo at 48000 Hz"
        ),
        (
            .mp3(bitRate: 100_000),
            "`bitRate` is 100000; expected one of 32000, 40000, 48000, 56000, 64000, 80000, 96000, 112000, 128000, 160000, 192000, 224000, 256000, 320000 bits per second for MP3 at 48000 Hz"
        ),
        (.flac(bitDepth: 20), "`bitDepth` is 20; expected 16 or 24 for FLAC"),
        (.alac(bitDepth: 0), "`bitDepth` is 0; expected 16 or 24 for Apple Lossless"),
        (
            .opus(layout: ChannelLayout(defaultFor: 5)),
            "`layout` is 5.0; expected one of mono, stereo, 3.0, quad, 5.1, 7.1 for Opus"
        ),
    ]

    @Test(arguments: wrongAudio.indices) func errorsForAudioValuesStateTheBounds(_ number: Int) {
        let (settings, message) = Self.wrongAudio[number]
        Self.expect(message) { _ = try AssetWriterInput(audio: settings) }
    }

    /// `canApply` compares the codec with the container.
    @Test func containersRefuseOtherCodecs() throws {
        let scratch = try Scratch()
        let writer = try AssetWriter(url: URL(fileURLWithPath: scratch.file("o.webm")), container: .webm)
        #expect(!writer.canApply(.h264(size: Self.size, frameRate: Self.rate)))
        #expect(writer.canApply(.vp9(size: Self.size, frameRate: Self.rate)))
        #expect(!writer.canApply(.aac()))
        #expect(writer.canApply(.opus()))
        let wave = try AssetWriter(url: URL(fileURLWithPath: scratch.file("o.wav")), container: .wav)
        #expect(!wave.canApply(.h264(size: Self.size, frameRate: Self.rate)))
        #expect(wave.canApply(.pcm()))
    }

    // MARK: Assistant

    private func configuration(_ settings: WriterInputSettings?) throws -> EncoderConfiguration {
        guard case .encode(let configuration)? = settings else {
            throw MediaError.misuse("no encoder settings")
        }
        return configuration
    }

    /// An assistant without an asset adapts a preset to source formats.
    @Test func assistantAdaptsToFormats() async throws {
        var assistant = try OutputSettingsAssistant(preset: .medium)
        #expect(try await assistant.videoSettings() == nil)
        #expect(try await assistant.audioSettings() == nil)
        #expect(assistant.sourceVideoMinFrameDuration == MediaTime(value: 1, timescale: 30))
        assistant.sourceVideoFormat = try .frames(size: PixelSize(width: 1920, height: 1080))
        assistant.sourceVideoAverageFrameDuration = MediaTime(value: 1001, timescale: 30_000)
        assistant.sourceVideoMinFrameDuration = MediaTime(value: 1001, timescale: 60_000)
        let video = try configuration(try await assistant.videoSettings())
        #expect((video.width, video.height) == (1280, 720))
        #expect(video.frameRate == Rational(30_000, 1001))
        #expect(MediaTime(value: 1001, timescale: 60_000).ticks(in: video.timeBase) == 2002)
        for (rate, layout, expected) in [
            (48_000, ChannelLayout.stereo, 48_000), (192_000, .mono, 96_000), (44_100, .mono, 44_100),
        ] as [(Int32, ChannelLayout, Int32)] {
            assistant.sourceAudioFormat = try .samples(sampleRate: rate, layout: layout)
            let audio = try configuration(try await assistant.audioSettings())
            #expect(audio.sampleRate == expected && audio.channelLayout == layout)
            #expect(audio.bitRate == 128_000)
        }
        var copying = try OutputSettingsAssistant(preset: .passthrough)
        copying.sourceVideoFormat = assistant.sourceVideoFormat
        #expect(try await copying.videoSettings() == nil)
        assistant.sourceVideoMinFrameDuration = .zero
        await #expect(throws: ExportError.self) { _ = try await assistant.videoSettings() }
        #expect(throws: ExportError.self) {
            _ = try OutputSettingsAssistant(preset: .proRes422, container: .mp4)
        }
    }

    /// An assistant of an asset has the asset's formats and frame durations.
    @Test func assistantHasFormatsOfItsAsset() async throws {
        let scratch = try Scratch()
        let asset = Asset(url: try await ArticleTests.movie(in: scratch))
        let assistant = try await OutputSettingsAssistant(preset: .low, asset: asset)
        #expect(assistant.sourceVideoFormat?.width == 320)
        #expect(assistant.sourceAudioFormat?.sampleRate == 48_000)
        #expect(assistant.sourceVideoMinFrameDuration == MediaTime(value: 1, timescale: 25))
        #expect(assistant.sourceVideoAverageFrameDuration == MediaTime(value: 1, timescale: 25))
        #expect(try configuration(try await assistant.videoSettings()).width == 320)
    }

    // MARK: Cancellation

    /// Queries of an export end when their task is cancelled while the source is read: its server never answers.
    @Test(arguments: 0..<4) func queriesEndWhenTheirTaskIsCancelled(
        _ query: Int
    ) async throws {
        let scratch = try Scratch()
        let server = try SilentServer()
        let environment = MediaEnvironment(sources: SourceEnvironment(allowsNetwork: true))
        let asset = Asset(url: server.url, environment: environment)
        let output = URL(fileURLWithPath: scratch.file("o.mp4"))
        let task = Task {
            switch query {
            case 0: _ = try await ExportSession(asset: asset, preset: .low).estimate()
            case 1:
                let presets = await ExportSession.presets(compatibleWith: asset)
                #expect(presets.isEmpty)
                throw CancellationError()
            case 2: _ = try await OutputSettingsAssistant(preset: .low, asset: asset)
            default: try await ExportSession(asset: asset, preset: .low).export(to: output)
            }
        }
        // The source is being read.
        for await _ in server.connections { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(scratch.contents.isEmpty)
    }

    /// A cancellation doesn't wait for work that can't be interrupted, such as the opening of an encoder.
    @Test func cancellationDoesNotWaitForUninterruptibleWork() async {
        let signal = CancellationSignal()
        let release = DispatchSemaphore(value: 0)
        let (starts, continuation) = AsyncStream<Void>.makeStream()
        let waiting = Task {
            await signal.result { (completion: @escaping @Sendable (Int) -> Void) in
                DispatchQueue.global().async { @Sendable in
                    continuation.yield()
                    release.wait()
                    completion(1)
                }
            }
        }
        for await _ in starts { break }
        signal.raise()
        #expect(await waiting.value == nil)
        release.signal()
        // Work isn't started afterwards.
        let later: Int? = await signal.result { _ in Issue.record("the work was started") }
        #expect(later == nil)
        let result: Int? = await CancellationSignal().result { completion in completion(2) }
        #expect(result == 2)
    }

    /// The settings for generated frames are those of an assistant with the format of the frames.
    @Test func settingsOfGeneratedFramesAreThoseOfAnAssistant() async throws {
        let (size, rate) = (PixelSize(width: 320, height: 180), Rational(30_000, 1001))
        for preset in [ExportPreset.low, .hevcHighest, .proRes422] {
            var assistant = try OutputSettingsAssistant(preset: preset)
            assistant.sourceVideoFormat = try .frames(size: size)
            assistant.sourceVideoAverageFrameDuration = MediaTime(value: 1001, timescale: 30_000)
            assistant.sourceVideoMinFrameDuration = assistant.sourceVideoAverageFrameDuration
            var expected = try configuration(try await assistant.videoSettings())
            expected.timeBase = rate.inverted
            let settings = try await OutputSettingsAssistant.videoSettings(
                preset: preset, size: size, frameRate: rate)
            #expect(try configuration(settings) == expected, "\(preset.name)")
        }
    }
}
