public import Foundation
public import TandemKit

/// Runs the example program of the article `Waveforms.md`.
public func waveforms(input: URL, output: URL) async throws -> WaveformData {
    // begin
    let reader = WaveformReader(asset: Asset(url: input))
    let waveform = try await reader.waveform(WaveformReader.Settings(samplesPerPixel: 512))
    let json = WaveformFile.json(waveform, bits: .eight)
    try Data(json).write(to: output)
    print("\(waveform.length) pixels of \(waveform.samplesPerPixel) samples")
    // end
    return waveform
}
