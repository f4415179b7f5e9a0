import Foundation
public import Testing

/// Compares a text with the content of a file. A missing file is written, and the test fails: read it, and commit it.
public func expectGolden(
    _ text: String, _ path: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    guard FileManager.default.fileExists(atPath: path) else {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        Issue.record(
            "\(path) was missing and is written; read it, and commit it", sourceLocation: sourceLocation)
        return
    }
    #expect(try text == String(contentsOfFile: path, encoding: .utf8), sourceLocation: sourceLocation)
}
