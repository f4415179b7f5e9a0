public import Foundation
import TandemKit

/// Runs the program of `KeepingSamples.md`.
public func keepingSamples(input: URL, output: URL) async throws {
    // begin
    let asset = Asset(url: input)
    guard let track = try await asset.loadTracks(withMediaType: .video).first else {
        throw MediaError.noTrack(.video)
    }
    let reader = try await AssetReader(loading: asset)
    let frames = AssetReaderTrackOutput(track: track, settings: .video(VideoOutputSettings()))
    try reader.add(frames)
    try await reader.start()

    let last = SampleBufferQueue()
    while let frame = try await frames.next() {
        last.append(frame)
        if last.count > 12 { _ = last.popFirst() }
    }

    let size = PixelSize(width: track.format.width, height: track.format.height)
    let encoded = try AssetWriterInput(
        video: .h264(size: size, frameRate: track.nominalFrameRate ?? Rational(25, 1)))
    let writer = try AssetWriter(url: output, container: .mp4)
    try writer.add(encoded)
    try writer.startWriting()
    try writer.startSession(atSourceTime: last.withFirst { $0.presentationTime } ?? .zero)
    while let frame = last.popFirst() { try encoded.append(frame) }
    try encoded.markAsFinished()
    try await writer.finishWriting()
    // end
}
