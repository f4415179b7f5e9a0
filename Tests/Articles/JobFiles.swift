public import Foundation
import TandemBatch

/// Runs the example program of the article `JobFiles.md`. Returns the paths of the created files.
public func jobFiles(file: URL) async throws -> [String] {
    var created: [String] = []
    // begin
    do {
        let batch = try JobBatch(contentsOf: [file], variables: ["size": "160x120"])
        for warning in batch.warnings { print("\(warning.range): \(warning.message)") }
        let planned = try await batch.plan()
        for job in planned.plan.jobs { print("\(job.id): \(job.expectedDuration) s") }
        for record in await planned.run() {
            switch record.outcome {
            case .succeeded(let result): created += result.outputs.compactMap(\.destination)
            case .failed(let failure): print("\(record.id) failed: \(failure.message)")
            case .upToDate, .skipped, .declined, .cancelled, .notRun: print("\(record.id): nothing to do")
            }
        }
    } catch let error as JobFileError {
        for diagnostic in error.diagnostics { print("\(diagnostic.range): \(diagnostic.message)") }
    }
    // end
    return created
}
