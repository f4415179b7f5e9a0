import Foundation
import TandemKit

/// The examples on the pages of further settings, sources and results.
enum FurtherExamples {
    static func audioOutput() -> AudioOutputSettings {
        // begin AudioOutputSettings
        let settings = AudioOutputSettings(sampleFormat: .s16, sampleRate: 44_100, layout: .stereo)
        // end AudioOutputSettings
        return settings
    }

    static func outputSettings() -> [ReaderOutputSettings] {
        // begin ReaderOutputSettings
        let copied = ReaderOutputSettings.passthrough
        let decoded = ReaderOutputSettings.video(VideoOutputSettings(pixelFormat: .nv12))
        // end ReaderOutputSettings
        return [copied, decoded]
    }

    static func copyingInput(track: AssetTrack) -> AssetWriterInput {
        // begin WriterInputSettings
        let settings = WriterInputSettings.passthrough(track.format, timeBase: track.timeBase)
        let input = AssetWriterInput(mediaType: track.mediaType, settings: settings)
        // end WriterInputSettings
        return input
    }

    static func extent(reader: AssetReader) {
        // begin ReadingExtent
        let parts = [(0.0, 0.5), (1.0, 1.5)].map {
            TimeRange(start: MediaTime(seconds: $0), end: MediaTime(seconds: $1))
        }
        reader.extent = ReadingExtent(ranges: parts)
        // end ReadingExtent
    }

    static func contents(asset: Asset) async throws {
        // begin AssetContents
        let contents = try await asset.load(.contents)
        let title = contents.metadata.first { $0.key == "title" }?.value
        print("\(contents.container), \(contents.fileSize) bytes, \(title ?? "no title")")
        // end AssetContents
    }

    static func transform(input: AssetWriterInput) {
        // begin DisplayTransform
        input.transform = DisplayTransform(clockwiseDegrees: 90)
        // end DisplayTransform
    }

    static func images(folder: URL) -> Asset {
        // begin ImageSequence
        let path = folder.appending(path: "frame-%04d.png").path
        let numbers = ImageSequence.Numbers(first: 1, count: 2)
        let sequence = ImageSequence(numbered: path, numbers, frameRate: Rational(25, 1))
        let asset = Asset(.images(sequence), environment: MediaEnvironment())
        // end ImageSequence
        return asset
    }

    static func pattern() -> Asset {
        // begin TestPattern
        let pattern = TestPattern(
            name: "testsrc", width: 320, height: 240, frameRate: Rational(25, 1),
            duration: MediaTime(seconds: 2), toneFrequency: 440)
        let asset = Asset(.pattern(pattern), environment: MediaEnvironment())
        // end TestPattern
        return asset
    }

    static func results(generator: AssetImageGenerator, times: [MediaTime]) async -> Int {
        var count = 0
        // begin StillImageResults
        for await result in generator.results(for: times) {
            switch result {
            case .success(let still): count += still.image.width > 0 ? 1 : 0
            case .failure(let time, let error): print("\(time) s: \(error)")
            }
        }
        // end StillImageResults
        return count
    }

    static func stills(generator: AssetImageGenerator, times: [MediaTime]) async throws -> [PixelBuffer] {
        // begin StillImageSequence
        var images: [PixelBuffer] = []
        for try await still in generator.images(for: times) { images.append(still.image) }
        // end StillImageSequence
        return images
    }

    static func opening(url: URL) async throws -> String? {
        // begin InputError
        do {
            _ = try await Asset(url: url).load(.tracks)
        } catch let error as InputError {
            return "\(error.path): \(error.kind)"
        }
        // end InputError
        return nil
    }

    static func exporting(session: ExportSession, to url: URL) async throws -> [String] {
        // begin ExportError
        do {
            let result = try await session.export(to: url)
            return result.warnings
        } catch let error as ExportError {
            return error.messages
        }
        // end ExportError
    }
}
