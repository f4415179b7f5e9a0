public import Foundation
public import TandemKit

/// Runs the program of `SamplesAndPlanes.md`.
public func samplesAndPlanes(
    input: URL
) async throws -> (duration: MediaTime, peak: Float, brightest: UInt8) {
    // begin
    let asset = Asset(url: input)
    let (duration, tracks) = try await asset.load(.duration, .tracks)
    guard let audio = tracks.first(where: { $0.mediaType == .audio }),
        let video = tracks.first(where: { $0.mediaType == .video })
    else { throw MediaError.noTrack(.audio) }
    let sound = AssetReaderTrackOutput(
        track: audio, settings: .audio(AudioOutputSettings(sampleFormat: .float)))
    let pictures = AssetReaderTrackOutput(
        track: video, settings: .video(VideoOutputSettings(pixelFormat: .yuv420p)))
    let reader = try await AssetReader(loading: asset)
    for output in [sound, pictures] { try reader.add(output) }
    try await reader.start()

    var peak: Float = 0
    while let block = try await sound.next() {
        try block.withSamples(of: Float.self) { samples in
            for index in samples.indices { peak = max(peak, abs(samples[index])) }
        }
    }
    var brightest: UInt8 = 0
    while let frame = try await pictures.next() {
        try frame.pixelBuffer().withRows(ofPlane: 0, as: UInt8.self) { _, luma in
            for column in luma.indices { brightest = max(brightest, luma[column]) }
        }
    }
    print("\(duration) s, peak \(peak), brightest \(brightest)")
    // end
    return (duration, peak, brightest)
}
