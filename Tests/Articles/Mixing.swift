public import Foundation
import TandemKit

/// Runs the example program of the article `Mixing.md`.
public func mixing(input: URL, output: URL) async throws {
    // begin
    let asset = Asset(url: input)
    let tracks = try await asset.load(.tracks).filter { $0.mediaType == .audio }
    let fade = VolumeEnvelope([
        .init(time: .zero, thousandths: 0), .init(time: MediaTime(seconds: 1), thousandths: 1000),
    ])
    let inputs = tracks.map { AudioMix.Input(track: $0.index, volume: fade) }
    let mix = AudioMix(inputs: inputs, sampleRate: 48_000, layout: .mono)
    let form = AudioOutputSettings(sampleFormat: .s16, sampleRate: 48_000, layout: .mono)
    let source = try AssetReaderAudioMixOutput(tracks: tracks, audioMix: mix, settings: form)

    var settings = EncoderConfiguration(
        encoder: "pcm_s16le", mediaType: .audio, timeBase: Rational(1, 48_000))
    (settings.sampleRate, settings.sampleFormat, settings.channelLayout) = (48_000, .s16, .mono)
    let session = ReencodeSession(
        reader: try AssetReader(asset: asset), writer: try AssetWriter(url: output, container: .wav))
    try session.addTrack(
        output: source, input: AssetWriterInput(mediaType: .audio, settings: .encode(settings)))
    if case .failed(let error) = await session.run() { throw error }
    // end
}
