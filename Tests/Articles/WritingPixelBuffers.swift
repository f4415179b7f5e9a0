public import Foundation
import TandemKit

/// Runs the example program of the article `WritingPixelBuffers.md`.
public func writingPixelBuffers(output: URL) async throws {
    // begin
    let size = PixelSize(width: 320, height: 240)
    let settings = try await OutputSettingsAssistant.videoSettings(
        preset: .medium, size: size, frameRate: Rational(25, 1))
    let writer = try AssetWriter(url: output, container: .mp4)
    let input = AssetWriterInput(mediaType: .video, settings: settings)
    let adaptor = try AssetWriterInputPixelBufferAdaptor(input: input, pixelFormat: .rgb24)
    try writer.add(input)
    try writer.startWriting()
    try writer.startSession(atSourceTime: .zero)

    for number in 0..<50 {
        let image = try adaptor.pixelBufferPool.makeBuffer()
        try image.withMutablePlane(0) { bytes, plane in
            for row in 0..<plane.rows {
                for column in 0..<plane.rowSize / 3 {
                    let pixel = row * plane.bytesPerRow + column * 3
                    bytes[pixel] = UInt8(number * 5)
                    bytes[pixel + 1] = UInt8(row)
                    bytes[pixel + 2] = UInt8(column % 256)
                }
            }
        }
        try adaptor.append(image, at: MediaTime(value: Int64(number), timescale: 25))
    }
    try input.markAsFinished()
    try await writer.finishWriting()
    // end
}
