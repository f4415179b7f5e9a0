import Foundation
import TandemKit

/// The examples on the pages of writers, their inputs and their settings.
enum WritingExamples {
    static func writer(frames: SampleBufferQueue, size: PixelSize, output: URL) async throws {
        // begin AssetWriter
        let writer = try AssetWriter(url: output, container: .mp4)
        let input = try AssetWriterInput(video: .h264(size: size, frameRate: Rational(25, 1)))
        try writer.add(input)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        while let frame = frames.popFirst() { try input.append(frame) }
        try input.markAsFinished()
        try await writer.finishWriting()
        // end AssetWriter
    }

    static func input(
        _ input: AssetWriterInput, of writer: AssetWriter, frames: SampleBufferQueue,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        // begin AssetWriterInput
        input.requestMediaDataWhenReady(on: DispatchQueue(label: "video")) {
            while input.isReadyForMoreMediaData {
                guard let frame = frames.popFirst() else {
                    try? input.markAsFinished()
                    return writer.finishWriting(completion: completion)
                }
                do { try input.append(frame) } catch { print("\(error)") }
            }
        }
        // end AssetWriterInput
    }

    static func adaptor(input: AssetWriterInput, writer: AssetWriter) async throws {
        // begin AssetWriterInputPixelBufferAdaptor
        let adaptor = try AssetWriterInputPixelBufferAdaptor(input: input, pixelFormat: .rgb24)
        try writer.add(input)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        for number in 0..<25 as Range<Int64> {
            let image = try adaptor.pixelBufferPool.makeBuffer()
            try image.withMutableRows(ofPlane: 0, as: UInt8.self) { row, pixels in
                for column in pixels.indices { pixels[column] = UInt8((row + column) % 256) }
            }
            try adaptor.append(image, at: MediaTime(value: number, timescale: 25))
        }
        // end AssetWriterInputPixelBufferAdaptor
        try input.markAsFinished()
        try await writer.finishWriting()
    }

    // begin AssetWriterDelegate
    final class Files: AssetWriterDelegate {
        let folder: URL

        init(folder: URL) { self.folder = folder }

        func assetWriter(
            _ writer: AssetWriter, didOutputSegmentData data: Data, segmentType: AssetSegmentType,
            segmentReport: AssetSegmentReport
        ) throws {
            let start = segmentReport.trackReports.first?.earliestPresentationTime
            let name = start.map { "\($0).m4s" } ?? "init.mp4"
            try data.write(to: folder.appending(path: name))
        }
    }
    // end AssetWriterDelegate

    static func segmentWriter(folder: URL) -> AssetWriter {
        AssetWriter(segments: .cmaf, delegate: Files(folder: folder))
    }

    static func videoSettings(writer: AssetWriter) throws -> AssetWriterInput {
        // begin VideoSettings
        var settings = VideoSettings.h264(
            crf: 20, size: PixelSize(width: 1280, height: 720), frameRate: Rational(25, 1))
        settings.keyframeInterval = 50
        guard writer.canApply(settings) else { throw MediaError.noEncoder(codec: "h264") }
        let input = try AssetWriterInput(video: settings)
        // end VideoSettings
        return input
    }

    static func audioSettings() throws -> AssetWriterInput {
        // begin AudioSettings
        let input = try AssetWriterInput(audio: .aac(bitRate: 128_000, layout: .stereo))
        // end AudioSettings
        return input
    }

    static func configuration() throws -> AssetWriterInput {
        // begin EncoderConfiguration
        let settings = VideoSettings.h264(
            size: PixelSize(width: 640, height: 360), frameRate: Rational(25, 1))
        var configuration = try settings.configuration()
        configuration.options.append(MetadataEntry(key: "tune", value: "animation"))
        let input = AssetWriterInput(mediaType: .video, settings: .encode(configuration))
        // end EncoderConfiguration
        return input
    }

    static func session(asset: Asset, output: URL) async throws {
        // begin ReencodeSession
        let reader = try await AssetReader(loading: asset)
        let writer = try AssetWriter(url: output, container: .mp4)
        let session = ReencodeSession(reader: reader, writer: writer)
        for track in try await asset.loadTracks(withMediaType: .video) {
            let size = PixelSize(width: track.format.width, height: track.format.height)
            let rate = track.nominalFrameRate ?? Rational(25, 1)
            try session.addTrack(
                output: AssetReaderTrackOutput(track: track, settings: .video(VideoOutputSettings())),
                input: AssetWriterInput(video: .h264(size: size, frameRate: rate)))
        }
        switch await session.run() {
        case .completed: print("\(session.progress) s written")
        case .failed(let error): throw error
        case .cancelled: throw CancellationError()
        }
        // end ReencodeSession
    }

    static func export(input: URL, output: URL) async throws {
        // begin ExportSession
        let session = ExportSession(asset: Asset(url: input), preset: .medium)
        let progress = Task {
            for await (_, fraction) in session.states() { print("\(Int(fraction * 100)) %") }
        }
        defer { progress.cancel() }
        let result = try await session.export(to: output)
        print("\(result.duration) s, \(result.fileLength) bytes")
        // end ExportSession
    }

    static func presets(asset: Asset) async -> [ExportPreset] {
        // begin ExportPreset
        let presets = await ExportSession.presets(compatibleWith: asset)
        for preset in presets { print("\(preset.name): \(preset.summary)") }
        // end ExportPreset
        return presets
    }

    static func assistant(asset: Asset, output: URL) async throws {
        // begin OutputSettingsAssistant
        let assistant = try await OutputSettingsAssistant(preset: .medium, asset: asset)
        let session = ReencodeSession(
            reader: try await AssetReader(loading: asset),
            writer: try AssetWriter(url: output, container: assistant.container))
        for track in assistant.tracks {
            try session.addTrack(output: track.makeOutput(), input: track.makeInput())
        }
        if case .failed(let error) = await session.run() { throw error }
        // end OutputSettingsAssistant
    }
}
