import Foundation
import TandemKit

/// The examples on the pages of readers and their outputs.
enum ReadingExamples {
    static func frameCount(of asset: Asset) async throws -> Int {
        let reader = try await AssetReader(loading: asset)
        guard let track = try await asset.loadTracks(withMediaType: .video).first else { return 0 }
        let output = AssetReaderTrackOutput(track: track, settings: .video(VideoOutputSettings()))
        try reader.add(output)
        try await reader.start()
        var count = 0
        while try await output.next() != nil { count += 1 }
        return count
    }

    static func reader(input: URL) async throws -> Int {
        // begin AssetReader
        let asset = Asset(url: input)
        guard let track = try await asset.loadTracks(withMediaType: .video).first else {
            throw MediaError.noTrack(.video)
        }
        let reader = try await AssetReader(loading: asset)
        reader.timeRange = TimeRange(start: .zero, duration: MediaTime(seconds: 1))
        let output = AssetReaderTrackOutput(track: track, settings: .video(VideoOutputSettings()))
        try reader.add(output)
        try await reader.start()
        var count = 0
        while try await output.next() != nil { count += 1 }
        // end AssetReader
        return count
    }

    static func output(reader: AssetReader, track: AssetTrack) async throws -> Int {
        // begin AssetReaderOutput
        let settings = AudioOutputSettings(sampleFormat: .float, sampleRate: 16_000, layout: .mono)
        let output = AssetReaderTrackOutput(track: track, settings: .audio(settings))
        try reader.add(output)
        try await reader.start()
        var count = 0
        while let block = try await output.next() { count += block.sampleCount }
        print("\(count) samples, \(output.damagedSamples.skipped) packets skipped")
        // end AssetReaderOutput
        return count
    }

    static func trackOutputs(track: AssetTrack) -> [AssetReaderTrackOutput] {
        // begin AssetReaderTrackOutput
        let packets = AssetReaderTrackOutput(track: track)
        let frames = AssetReaderTrackOutput(
            track: track, settings: .video(VideoOutputSettings(pixelFormat: .rgb24)))
        // end AssetReaderTrackOutput
        return [packets, frames]
    }

    static func mixOutput(asset: Asset, reader: AssetReader) async throws -> AssetReaderOutput {
        // begin AssetReaderAudioMixOutput
        let tracks = try await asset.loadTracks(withMediaType: .audio)
        let mix = AudioMix(
            inputs: tracks.map { AudioMix.Input(track: $0.index, volume: .full) },
            sampleRate: 48_000, layout: .stereo)
        let output = try AssetReaderAudioMixOutput(
            tracks: tracks, audioMix: mix, settings: AudioOutputSettings(sampleFormat: .float))
        try reader.add(output)
        // end AssetReaderAudioMixOutput
        return output
    }

    static func compositionOutput(
        asset: Asset, reader: AssetReader
    ) async throws -> AssetReaderOutput {
        // begin AssetReaderVideoCompositionOutput
        let tracks = try await asset.loadTracks(withMediaType: .video)
        let composition = VideoComposition(
            inputs: tracks.map { VideoComposition.Input(track: $0.index) },
            canvas: Canvas(size: PixelSize(width: 640, height: 360), frameRate: Rational(25, 1)))
        let output = try AssetReaderVideoCompositionOutput(
            tracks: tracks, videoComposition: composition)
        try reader.add(output)
        // end AssetReaderVideoCompositionOutput
        return output
    }

    static func videoSettings() -> VideoOutputSettings {
        // begin VideoOutputSettings
        var settings = VideoOutputSettings(
            pixelFormat: .bgra, size: PixelSize(width: 640, height: 360))
        settings.deinterlacing = .auto
        settings.fit = .contain
        // end VideoOutputSettings
        return settings
    }

    static func damage(asset: Asset) async throws -> AssetReader {
        // begin DamageTally
        let reader = try await AssetReader(loading: asset)
        reader.extent.damagePolicy = .skip
        // Afterwards, `damagedSamples` of each output contains the counts.
        // end DamageTally
        return reader
    }

    static func generator(input: URL) async throws -> [MediaTime] {
        // begin AssetImageGenerator
        let generator = AssetImageGenerator(
            asset: Asset(url: input), maximumSize: PixelSize(width: 160, height: 90),
            tolerance: .keyFrame)
        var times: [MediaTime] = []
        for try await still in generator.images(for: [.zero, MediaTime(seconds: 1)]) {
            times.append(still.actualTime)
        }
        // end AssetImageGenerator
        return times
    }

    static func waveform(input: URL) async throws -> WaveformData {
        // begin WaveformReader
        let reader = WaveformReader(asset: Asset(url: input))
        let waveform = try await reader.waveform(WaveformReader.Settings(samplesPerPixel: 512))
        // end WaveformReader
        return waveform
    }

    static func values(of waveform: WaveformData) -> Double {
        // begin WaveformData
        let columns = (0..<100).compactMap { waveform.column($0, of: 100, channel: 0) }
        let peak = columns.map { max(abs($0.low), abs($0.high)) }.max() ?? 0
        // end WaveformData
        return peak
    }

    static func drawing(of waveform: WaveformData, output: URL) throws {
        // begin WaveformImage
        let image = WaveformImage(waveform, size: PixelSize(width: 800, height: 100), measure: .peak)
        if let background = WaveformImage.Color("#ffffff"), let color = WaveformImage.Color("#3060c0") {
            try Data(image.svg(background: background, waveform: color)).write(to: output)
        }
        // end WaveformImage
    }
}
