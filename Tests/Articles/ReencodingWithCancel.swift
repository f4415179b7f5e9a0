public import Foundation
import TandemKit

/// Runs the example program of the article `ReencodingWithCancel.md`.
public func reencodingWithCancel(input: URL, output: URL, patience: Duration) async throws -> String {
    // begin
    let asset = Asset(url: input)
    let assistant = try await OutputSettingsAssistant(preset: .medium, asset: asset)
    let reader = try AssetReader(asset: asset)
    let writer = try AssetWriter(url: output, container: assistant.container)
    let session = ReencodeSession(reader: reader, writer: writer)
    for track in assistant.tracks {
        try session.addTrack(output: track.makeOutput(), input: track.makeInput())
    }

    let clock = Task {
        try await Task.sleep(for: patience)
        session.cancel()
    }
    let outcome = await session.run()
    clock.cancel()
    switch outcome {
    case .completed: print("done")
    case .cancelled: print("cancelled, and nothing is left")
    case .failed(let error): throw error
    }
    // end
    return "\(outcome)"
}
