public import Foundation
import TandemKit

/// Runs the program of `Recording.md`.
public func recording(output: URL, isRecording: (Int) -> Bool) async throws {
    // begin
    let settings = try await OutputSettingsAssistant.videoSettings(
        preset: .medium, size: PixelSize(width: 320, height: 240), frameRate: Rational(25, 1))
    let writer = try AssetWriter(url: output, container: .mp4, publishing: .immediately)
    writer.movieFragmentInterval = MediaTime(value: 1, timescale: 1)
    let input = AssetWriterInput(mediaType: .video, settings: settings)
    let adaptor = try AssetWriterInputPixelBufferAdaptor(input: input)
    try writer.add(input)
    try writer.startWriting()
    try writer.startSession(atSourceTime: .zero)

    var number = 0
    while isRecording(number) {
        let image = try adaptor.pixelBufferPool.makeBuffer()
        try adaptor.append(image, at: MediaTime(value: Int64(number), timescale: 25))
        number += 1
    }
    try input.markAsFinished()
    try await writer.finishWriting()
    // end
}
