import Dispatch
import Foundation
import TandemKit
import TestSupport
import Testing

/// Programs written for AVFoundation and ported to the library, with values that jobs don't use.
@Suite struct PortedProgramTests {
    // MARK: Settings

    /// Settings for a size that the preset would change are rejected.
    @Test(arguments: [(1920, 1080), (321, 241), (1281, 720), (64, 5000)]) func changedSizesAreRefused(
        _ width: Int, _ height: Int
    ) async throws {
        for preset in [ExportPreset.medium, .low, .h264At640x480] {
            let size = PixelSize(width: width, height: height)
            do {
                guard
                    case .encode(let settings) = try await OutputSettingsAssistant.videoSettings(
                        preset: preset, size: size, frameRate: Rational(25, 1))
                else { continue }
                #expect(settings.width == width && settings.height == height)
            } catch let error as ExportError {
                #expect(!"\(error)".isEmpty)
            }
        }
    }

    /// RGB that an adaptor's input converts to YUV is tagged with the matrix of the conversion.
    @Test(arguments: [(1280, 720, "bt709"), (320, 240, "smpte170m")], [PixelFormat.rgb24, .bgra])
    func convertedFramesAreTagged(_ size: (Int, Int, String), _ format: PixelFormat) async throws {
        let scratch = try Scratch()
        let url = URL(fileURLWithPath: scratch.file("o.mp4"))
        let writer = try AssetWriter(url: url, container: .mp4)
        let input = AssetWriterInput(
            mediaType: .video, settings: .encode(WriterSamples.settings(size.0, size.1)))
        let adaptor = try AssetWriterInputPixelBufferAdaptor(input: input, pixelFormat: format)
        try writer.add(input)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        for time in 0..<3 as Range<Int64> {
            let buffer = try adaptor.pixelBufferPool.makeBuffer()
            try buffer.withMutablePlane(0) { bytes, _ in
                for offset in bytes.indices { bytes[offset] = 0 }
                // A saturated green, for which the matrices result in different values.
                for offset in stride(from: 1, to: bytes.count, by: format == .bgra ? 4 : 3) {
                    bytes[offset] = 255
                }
            }
            try adaptor.append(buffer, at: MediaTime(value: time, timescale: 25))
        }
        try input.markAsFinished()
        try await writer.finishWriting()
        let stream = try FFmpegFile(url.path).stream("v:0", "color_space,color_range")
        #expect(stream["color_space"] as? String == size.2)
        #expect(stream["color_range"] as? String == "tv")
        let raw = try program(
            "ffmpeg",
            [
                "-v", "error", "-i", url.path, "-frames:v", "1", "-pix_fmt", "rgb24", "-f", "rawvideo", "-",
            ]
        ).output
        #expect(raw.count == size.0 * size.1 * 3)
        let pixel = [UInt8](raw.prefix(3 * 200).suffix(3))
        #expect(pixel[0] < 12 && pixel[1] > 243 && pixel[2] < 12, "\(pixel)")
    }

    /// mov stores the titles of tracks, and tags of any name.
    @Test(arguments: [false, true]) func moviesKeepTitlesAndKeys(_ isFragmented: Bool) async throws {
        let scratch = try Scratch()
        let url = URL(fileURLWithPath: scratch.file("o.mov"))
        let writer = try AssetWriter(url: url, container: .mov)
        writer.metadata = [
            MetadataEntry(key: "com.apple.quicktime.make", value: "ACME"),
            MetadataEntry(key: "com.apple.quicktime.title", value: "A title"),
            MetadataEntry(key: "title", value: "Another"), MetadataEntry(key: "x-take", value: "7"),
        ]
        if isFragmented { writer.movieFragmentInterval = MediaTime(value: 1, timescale: 1) }
        writer.shouldOptimizeForNetworkUse = !isFragmented
        let video = AssetWriterInput(mediaType: .video, settings: .encode(WriterSamples.settings()))
        video.metadata = [MetadataEntry(key: "title", value: "Camera 1")]
        try writer.add(video)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        for time in 0..<3 as Range<Int64> { try video.append(WriterSamples.frame(time)) }
        try video.markAsFinished()
        try await writer.finishWriting()
        let probed = try FFmpegFile(url.path).probe(["-show_entries", "format_tags:stream_tags"])
        let tags = (probed["format"] as? [String: Any])?["tags"] as? [String: String] ?? [:]
        #expect(tags["com.apple.quicktime.make"] == "ACME")
        #expect(tags["com.apple.quicktime.title"] == "A title")
        #expect(tags["title"] == "Another")
        #expect(tags["x-take"] == "7")
        let stream = (probed["streams"] as? [[String: Any]])?.first?["tags"] as? [String: String] ?? [:]
        #expect(stream["handler_name"] == "Camera 1")
    }

    // MARK: Ends

    /// A range after the end of the asset contains no samples of any media type.
    @Test(
        arguments: (TestPaths.media == nil
            ? [] : ["bikes.mp4", "bigbuckbunny.mp4", "big_buck_bunny_0_30.webm", "gapless.mp3"]) + [""])
    func rangesPastTheEndAreEmpty(_ name: String) async throws {
        let pattern = TestPattern(
            name: "testsrc", width: 64, height: 48, frameRate: Rational(25, 1),
            duration: MediaTime(value: 1, timescale: 1), toneFrequency: 440)
        let asset =
            name.isEmpty
            ? Asset(.pattern(pattern), environment: MediaEnvironment())
            : Asset(url: URL(fileURLWithPath: (TestPaths.media ?? "") + "/" + name))
        for track in try await asset.load(.tracks) where [.video, .audio].contains(track.mediaType) {
            let decoded: ReaderOutputSettings =
                track.mediaType == .video ? .video(VideoOutputSettings()) : .audio(AudioOutputSettings())
            for settings in name.isEmpty ? [decoded] : [decoded, .passthrough] {
                let reader = try AssetReader(asset: asset)
                reader.timeRange = TimeRange(
                    start: MediaTime(value: 1_000_000, timescale: 1),
                    duration: MediaTime(value: 1, timescale: 1))
                let output = AssetReaderTrackOutput(track: track, settings: settings)
                try reader.add(output)
                try reader.startReading()
                var count = 0
                do {
                    while try output.copyNextSampleBuffer() != nil { count += 1 }
                } catch is MediaError {}
                #expect(count == 0, "\(name) \(track.mediaType) \(settings)")
            }
        }
    }

    /// A missing folder is an error of every call that writes a file, and the folder isn't created.
    @Test func missingFoldersAreErrors() async throws {
        let scratch = try Scratch()
        let url = URL(fileURLWithPath: scratch.file("missing/deeper/o.mp4"))
        let pattern = TestPattern(
            name: "testsrc", width: 64, height: 48, frameRate: Rational(25, 1),
            duration: MediaTime(value: 1, timescale: 1), toneFrequency: 440)
        let asset = Asset(.pattern(pattern), environment: MediaEnvironment())
        await #expect(throws: ExportError.self) {
            try await ExportSession(asset: asset, preset: .low).export(to: url)
        }
        #expect(throws: (any Error).self) { _ = try AssetWriter(url: url, container: .mp4) }
        #expect(throws: (any Error).self) {
            try PixelBuffer(pixelFormat: .rgb24, width: 8, height: 8)
                .write(to: url.deletingPathExtension().appendingPathExtension("png"))
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.file("missing")))
    }

    /// The measured duration of audio equals that of the samples that a decoder returns.
    @Test(
        .enabled(if: TestPaths.media != nil),
        arguments: ["gapless.mp3", "bear-vbr-xing-header.mp3", "bear.opus", "opus-5.1.mka"])
    func preciseDurationsCountSamples(_ name: String) async throws {
        let media = try #require(TestPaths.media)
        let path = media + "/" + name
        let asset = Asset(url: URL(fileURLWithPath: path), timing: .precise)
        let track = try #require(try await asset.load(.tracks).first { $0.mediaType == .audio })
        let rate = Int(track.format.sampleRate)
        let decoded = try FFmpegFile(path).samples(channels: 1, rate: rate).count
        let samples = track.timeRange.duration.ticks(in: Rational(1, track.format.sampleRate))
        // Matroska stores times in milliseconds.
        let tolerance = name.hasSuffix(".mka") ? rate / 500 : 0
        #expect(abs(Int(samples) - decoded) <= tolerance, "\(samples) \(decoded)")
    }

    // MARK: Cancelled tasks

    /// Cancelling the task of `load` ends it, and other callers still receive the result.
    @Test func cancelledLoadsEnd() async throws {
        let scratch = try Scratch()
        let url = try await ArticleTests.endlessMovie(in: scratch)
        let alone = Asset(url: url, timing: .precise)
        let task = Task { try await alone.load(.duration) }
        try await Task.sleep(for: .milliseconds(5))
        task.cancel()
        do {
            _ = try await task.value
        } catch {
            #expect(error is CancellationError, "\(error)")
        }
        // A later call loads the asset again.
        #expect(try await alone.load(.duration).seconds > 5900)

        let shared = Asset(url: url, timing: .precise)
        let (first, second) = (
            Task { try await shared.load(.duration) }, Task { try await shared.load(.tracks) }
        )
        try await Task.sleep(for: .milliseconds(5))
        first.cancel()
        _ = try? await first.value
        #expect(try await second.value.count == 2)
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await Asset(url: url).load(.duration)
        }
        await #expect(throws: CancellationError.self) { _ = try await cancelled.value }
    }
}
