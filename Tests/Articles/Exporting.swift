public import Foundation
public import TandemKit

/// Runs the example program of the article `Exporting.md`.
public func exporting(input: URL, output: URL) async throws -> ExportResult {
    // begin
    let session = ExportSession(asset: Asset(url: input), preset: .h264At640x480)
    session.timeRange = TimeRange(start: MediaTime(seconds: 0.5), duration: MediaTime(seconds: 1))
    session.metadata = [MetadataEntry(key: "title", value: "A part")]
    let estimate = try await session.estimate()
    print("\(estimate.duration) s, about \(estimate.fileLength ?? 0) bytes")
    let result = try await session.export(to: output)
    print("\(result.fileLength) bytes")
    // end
    return result
}
