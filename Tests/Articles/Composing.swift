public import Foundation
public import TandemKit

/// Runs the example program of the article `Composing.md`.
public func composing(intro: URL, talk: URL, output: URL) async throws -> ExportResult {
    // begin
    var composition = Composition()
    composition.canvas = Canvas(
        size: PixelSize(width: 640, height: 360), frameRate: Rational(25, 1))
    try composition.append(Asset(url: intro))
    let second = MediaTime(seconds: 1)
    let part = TimeRange(start: .zero, duration: MediaTime(seconds: 1.5))
    try composition.append(Asset(url: talk), timeRange: part, join: .dissolve, overlap: second)
    try composition.appendGap(MediaTime(seconds: 0.5))
    try composition.mix(Asset(url: intro), at: second, volume: .rising(from: second, for: second))
    let asset = Asset(.composition(composition), environment: MediaEnvironment())
    let result = try await ExportSession(asset: asset, preset: .low).export(to: output)
    // end
    return result
}
