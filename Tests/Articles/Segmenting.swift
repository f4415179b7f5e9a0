public import Foundation
public import TandemKit

/// Runs the program of `Segmenting.md`.
public func segmenting(input: URL, folder: URL) async throws -> MediaTime {
    // begin
    final class SegmentFiles: AssetWriterDelegate, @unchecked Sendable {
        let folder: URL
        var (count, end) = (0, MediaTime.zero)
        init(folder: URL) { self.folder = folder }

        func assetWriter(
            _ writer: AssetWriter, didOutputSegmentData data: Data, segmentType: AssetSegmentType,
            segmentReport: AssetSegmentReport
        ) throws {
            let name = segmentType == .initialization ? "init.mp4" : "\(count).m4s"
            try data.write(to: folder.appending(path: name))
            guard let track = segmentReport.trackReports.first else { return }
            count += 1
            end = track.earliestPresentationTime + track.duration
        }
    }

    let asset = Asset(url: input)
    let files = SegmentFiles(folder: folder)
    let writer = AssetWriter(segments: .hls, delegate: files)
    writer.preferredOutputSegmentInterval = MediaTime(value: 2, timescale: 1)
    let session = ReencodeSession(reader: try AssetReader(asset: asset), writer: writer)
    for track in try await asset.load(.tracks) {
        let settings = WriterInputSettings.passthrough(track.format, timeBase: track.timeBase)
        try session.addTrack(
            output: AssetReaderTrackOutput(track: track),
            input: AssetWriterInput(mediaType: track.mediaType, settings: settings))
    }
    if case .failed(let error) = await session.run() { throw error }
    // end
    return files.end
}
