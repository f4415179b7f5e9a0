internal import Foundation
internal import PlanFuzzing
internal import Testing

/// Runs the fuzzer's entry point on every job file of the repository and on earlier findings.
@Test func jobFilesPassTheFuzzersEntryPoint() throws {
    let project = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../..").standardizedFileURL
    var count = 0
    for folder in ["Fuzz/regressions", "Tests/JobSpecTests/ok", "Tests/JobSpecTests/err", "jobs"] {
        let files = try FileManager.default.contentsOfDirectory(
            at: project.appending(path: folder), includingPropertiesForKeys: nil)
        for file in files where file.pathExtension != "out" && !file.hasDirectoryPath {
            fuzzPlan(Array(try Data(contentsOf: file)))
            count += 1
        }
    }
    #expect(count > 100)
}
