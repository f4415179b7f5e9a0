public import Foundation
import TandemKit

/// Runs the example program of the article `ReadingSamples.md`.
public func readingSamples(input: URL) async throws -> (frames: Int, mean: Double) {
    // begin
    let asset = Asset(url: input)
    let reader = try AssetReader(asset: asset)
    guard let track = try await asset.load(.tracks).first(where: { $0.mediaType == .video }) else {
        throw MediaError.noTrack(.video)
    }
    let settings = VideoOutputSettings(pixelFormat: .gray)
    let output = AssetReaderTrackOutput(track: track, settings: .video(settings))
    try reader.add(output)
    reader.timeRange = TimeRange(start: .zero, duration: MediaTime(seconds: 2))
    try reader.startReading()

    var frames = 0
    var sum = 0.0
    while let sample = try output.copyNextSampleBuffer() {
        let image = try sample.pixelBuffer()
        sum += try image.withPlane(0) { bytes, plane in
            var total = 0
            for row in 0..<plane.rows {
                for column in 0..<plane.rowSize { total += Int(bytes[row * plane.bytesPerRow + column]) }
            }
            return Double(total) / Double(plane.rows * plane.rowSize)
        }
        frames += 1
    }
    print("\(frames) frames, on average \(sum / Double(frames)) bright")
    // end
    return (frames, sum / Double(frames))
}
