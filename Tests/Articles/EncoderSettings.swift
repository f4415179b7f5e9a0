public import Foundation
import TandemKit

/// Runs the program of `EncoderSettings.md`.
public func encoderSettings(output: URL) async throws {
    // begin
    let video = VideoSettings.h264(
        crf: 20, size: PixelSize(width: 320, height: 240), frameRate: Rational(25, 1))
    let audio = AudioSettings.aac(bitRate: 96_000, layout: .mono)
    let writer = try AssetWriter(url: output, container: .mp4)
    let pictures = try AssetWriterInput(video: video)
    let sound = try AssetWriterInput(audio: audio)
    let adaptor = try AssetWriterInputPixelBufferAdaptor(input: pictures, pixelFormat: .gray)
    for input in [pictures, sound] { try writer.add(input) }
    try writer.startWriting()
    try writer.startSession(atSourceTime: .zero)

    for number in 0..<50 {
        let time = MediaTime(value: Int64(number), timescale: 25)
        let image = try adaptor.pixelBufferPool.makeBuffer()
        try image.withMutableRows(ofPlane: 0, as: UInt8.self) { row, pixels in
            for column in pixels.indices { pixels[column] = UInt8((row + column + number) % 256) }
        }
        try adaptor.append(image, at: time)
        let tone = (0..<1920).map { sin(Float(number * 1920 + $0) * 2 * .pi * 440 / 48_000) / 2 }
        try sound.append(
            SampleBuffer(interleaved: tone, layout: .mono, sampleRate: 48_000, at: time))
    }
    for input in [pictures, sound] { try input.markAsFinished() }
    try await writer.finishWriting()
    // end
}
