public import Foundation
public import TandemKit

/// Runs the example program of the article `Stills.md`.
public func stills(input: URL, output: URL) async throws -> [StillImage] {
    // begin
    let generator = AssetImageGenerator(
        asset: Asset(url: input), maximumSize: PixelSize(width: 160, height: 160))
    let still = try await generator.image(at: MediaTime(seconds: 1))
    try still.image.write(to: output)
    print("requested \(still.requestedTime) s, got \(still.actualTime) s")
    // end
    var found: [StillImage] = []
    for try await still in generator.images(for: [0.1, 0.5, 0.9].map { MediaTime(seconds: $0) }) {
        found.append(still)
    }
    return [still] + found
}
