public import Foundation
import TandemKit

/// Runs the program of `HandlingErrors.md`.
public func handlingErrors(input: URL, output: URL) async -> String {
    var message = ""
    // begin
    do {
        let session = ExportSession(asset: Asset(url: input), preset: .medium)
        try await session.export(to: output)
        message = "done"
    } catch is CancellationError {
        message = "cancelled"
    } catch let error as any TandemError {
        switch error.kind {
        case .destinationExists: message = "\(output.lastPathComponent) exists; choose another name"
        case .diskFull: message = "no space is left"
        case .notFound, .unsupportedFormat, .damagedData:
            message = "can't open \(input.lastPathComponent): \(error.localizedDescription)"
        default: message = error.localizedDescription
        }
    } catch {
        message = "\(error)"
    }
    // end
    return message
}
