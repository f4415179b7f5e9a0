public import Foundation
import TandemKit

/// Runs the example program of the article `Passthrough.md`.
public func passthrough(input: URL, output: URL) async throws {
    // begin
    let asset = Asset(url: input)
    let reader = try AssetReader(asset: asset)
    let writer = try AssetWriter(url: output, container: .matroska)
    writer.metadata = try await asset.load(.metadata)
    let session = ReencodeSession(reader: reader, writer: writer)
    for track in try await asset.load(.tracks) where !track.isAttachedPicture {
        let settings = WriterInputSettings.passthrough(track.format, timeBase: track.timeBase)
        let input = AssetWriterInput(mediaType: track.mediaType, settings: settings)
        input.transform = track.preferredTransform
        try session.addTrack(output: AssetReaderTrackOutput(track: track), input: input)
    }
    if case .failed(let error) = await session.run() { throw error }
    // end
}
