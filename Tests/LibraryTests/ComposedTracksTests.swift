import Foundation
import TandemKit
import TestSupport
import Testing

@testable import Media

/// Tests outputs that are composed of several tracks of an asset (`AssetReaderVideoCompositionOutput`,
/// `AssetReaderAudioMixOutput`).
@Suite struct ComposedTracksTests {
    /// Creates a file with two video and two audio tracks.
    private func movie(in scratch: Scratch) throws -> Asset {
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc=s=320x240:r=25:d=2", "-f", "lavfi", "-i",
            "testsrc2=s=160x120:r=25:d=2",
            "-f", "lavfi", "-i", "sine=f=440:r=48000:d=2", "-f", "lavfi", "-i", "sine=f=880:r=48000:d=2",
            "-map", "0",
            "-map", "1", "-map", "2", "-map", "3", "-c:v", "libx264", "-qp", "0", "-pix_fmt", "yuv420p",
            "-c:a", "pcm_s16le",
            scratch.file("in.mkv"))
        return Asset(url: URL(fileURLWithPath: scratch.file("in.mkv")))
    }

    private func encode(
        _ output: AssetReaderOutput, of asset: Asset, to name: String, in scratch: Scratch,
        range: TimeRange? = nil
    ) async throws -> FFmpegFile {
        let format = output.track.format
        var settings = EncoderConfiguration(encoder: "ffv1", mediaType: .video, timeBase: Rational(1, 25))
        (settings.width, settings.height) = (format.width, format.height)
        settings.pixelFormat = .yuv420p
        let url = URL(fileURLWithPath: scratch.file(name))
        let reader = try AssetReader(asset: asset)
        reader.timeRange = range
        let session = ReencodeSession(reader: reader, writer: try AssetWriter(url: url, container: .matroska))
        try session.addTrack(
            output: output, input: AssetWriterInput(mediaType: .video, settings: .encode(settings)))
        if case .failed(let error) = await session.run() { throw error }
        return FFmpegFile(url.path)
    }

    @Test func videoCompositionOverlaysTwoTracks() async throws {
        let scratch = try Scratch()
        let asset = try movie(in: scratch)
        let tracks = try await asset.load(.tracks)
        try ffmpeg(
            "-i", scratch.file("in.mkv"), "-filter_complex",
            "[0:v:0][0:v:1]overlay=140:100:enable='between(n,10,34)'", "-c:v", "ffv1",
            scratch.file("wanted.mkv"))
        var composition = VideoComposition(of: tracks[0])
        #expect(composition.canvas.size == PixelSize(width: 320, height: 240))
        composition.inputs.append(
            .init(
                track: 1, in: PixelRectangle(x: 140, y: 100, width: 160, height: 120),
                timeRange: TimeRange(
                    start: MediaTime(value: 10, timescale: 25), end: MediaTime(value: 35, timescale: 25))))
        let output = try AssetReaderVideoCompositionOutput(tracks: tracks, videoComposition: composition)
        let composed = try await encode(output, of: asset, to: "o.mkv", in: scratch)
        #expect(try composed.frames().times.count == 50)
        let wanted = FFmpegFile(scratch.file("wanted.mkv"))
        #expect(try composed.lowestPSNR(against: wanted, first: 0, count: 50, own: 0) > 40)
        // A range at half the frame rate: every second frame from frame 12 on.
        composition.canvas.frameRate = Rational(25, 2)
        let half = try AssetReaderVideoCompositionOutput(tracks: tracks, videoComposition: composition)
        let range = TimeRange(
            start: MediaTime(value: 12, timescale: 25), end: MediaTime(value: 32, timescale: 25))
        let part = try await encode(half, of: asset, to: "p.mkv", in: scratch, range: range)
        #expect(try part.frames().times.count == 10)
        #expect(try part.lowestPSNR(against: wanted, first: 12, count: 1, own: 0) > 40)
        #expect(try part.lowestPSNR(against: wanted, first: 30, count: 1, own: 9) > 40)
    }

    /// A composed output and outputs of the same tracks share decoders.
    @Test func composedOutputsShareDecodersWithTrackOutputs() async throws {
        let scratch = try Scratch()
        let asset = try movie(in: scratch)
        let tracks = try await asset.load(.tracks)
        let reader = try AssetReader(asset: asset)
        reader.sharesDecoders = true
        let composition = VideoComposition(
            inputs: [
                .init(track: 1), .init(track: 0, in: PixelRectangle(x: 0, y: 0, width: 80, height: 60)),
            ],
            canvas: Canvas(size: PixelSize(width: 160, height: 120), frameRate: Rational(25, 1)))
        let mix = AudioMix(
            inputs: [2, 3].map { AudioMix.Input(track: $0, volume: .full) }, sampleRate: 48_000, layout: .mono
        )
        let outputs: [AssetReaderOutput] = [
            AssetReaderTrackOutput(track: tracks[0], settings: .video(VideoOutputSettings())),
            try AssetReaderVideoCompositionOutput(tracks: tracks, videoComposition: composition),
            AssetReaderTrackOutput(track: tracks[0], settings: .video(VideoOutputSettings())),
            try AssetReaderAudioMixOutput(
                tracks: tracks, audioMix: mix,
                settings: AudioOutputSettings(sampleRate: 48_000, layout: .mono)),
        ]
        for output in outputs { try reader.add(output) }
        try reader.startReading()
        let counts = await withTaskGroup(of: (Int, Int).self) { group in
            for (number, output) in outputs.enumerated() {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        DispatchQueue(label: "read").async { @Sendable in
                            var count = 0
                            while let sample = try? output.copyNextSampleBuffer() {
                                count += number == 3 ? Int(sample.duration) : 1
                            }
                            continuation.resume(returning: (number, count))
                        }
                    }
                }
            }
            return await group.reduce(into: [0, 0, 0, 0]) { $0[$1.0] = $1.1 }
        }
        #expect(counts == [50, 50, 50, 96_000])
        #expect(reader.status == .completed)
    }

    @Test func invalidCompositionsAndMixesThrow() async throws {
        let scratch = try Scratch()
        let asset = try movie(in: scratch)
        let tracks = try await asset.load(.tracks)
        let canvas = Canvas(size: PixelSize(width: 160, height: 120), frameRate: Rational(25, 1))
        func output(_ inputs: [VideoComposition.Input], _ canvas: Canvas) throws -> AssetReaderOutput {
            try AssetReaderVideoCompositionOutput(
                tracks: tracks, videoComposition: VideoComposition(inputs: inputs, canvas: canvas))
        }
        let late = TimeRange(start: MediaTime(seconds: 3), duration: MediaTime(seconds: 1))
        let early = TimeRange(start: MediaTime(seconds: -3), duration: MediaTime(seconds: 1))
        let emptyRectangle = PixelRectangle(x: 0, y: 0, width: 0, height: -3)
        let wrong: [[VideoComposition.Input]] = [
            [], [.init(track: 2)], [.init(track: 9)], [.init(track: 0, timeRange: late)],
            [.init(track: 0, timeRange: early)], [.init(track: 0, in: emptyRectangle)],
            [.init(track: 0, rotation: .max)],
        ]
        for inputs in wrong {
            #expect(throws: MediaError.self, "\(inputs)") { try output(inputs, canvas) }
        }
        for size in [
            PixelSize(width: 161, height: 120), PixelSize(width: 0, height: 0),
            PixelSize(width: 1 << 40, height: 2),
        ] {
            #expect(throws: MediaError.self) {
                try output([.init(track: 0)], Canvas(size: size, frameRate: Rational(25, 1)))
            }
        }
        #expect(throws: MediaError.self) {
            try output([.init(track: 0)], Canvas(size: canvas.size, frameRate: Rational(0, 0)))
        }
        let mix = AudioMix(inputs: [.init(track: 0, volume: .full)], sampleRate: 48_000, layout: .mono)
        #expect(throws: MediaError.self) {
            try AssetReaderAudioMixOutput(tracks: tracks, audioMix: mix, settings: AudioOutputSettings())
        }
        // Outputs of another asset and of a composition.
        let good = try output([.init(track: 0), .init(track: 1)], canvas)
        let pattern = TestPattern(
            name: "testsrc", width: 64, height: 48, frameRate: Rational(25, 1),
            duration: MediaTime(seconds: 1), toneFrequency: nil)
        let other = try AssetReader(asset: Asset(.pattern(pattern), environment: MediaEnvironment()))
        #expect(!other.canAdd(good))
        #expect(throws: MediaError.self) { try other.add(good) }
        var composition = Composition()
        try composition.append(asset)
        let composed = Asset(.composition(composition), environment: MediaEnvironment())
        let composedReader = try AssetReader(asset: composed)
        try composedReader.add(
            AssetReaderVideoCompositionOutput(
                tracks: try await composed.load(.tracks),
                videoComposition: VideoComposition(inputs: [.init(track: 0)], canvas: canvas)))
        #expect(throws: MediaError.self) { try composedReader.startReading() }
        #expect(composedReader.status == .failed)
    }
}
