import Engine
import Foundation
import JobSpec
import TestSupport
import Testing

/// Tests that pages describe the exit statuses of the program.
@Suite struct RunStatusTests {
    @Test func referenceIsUpToDate() throws {
        let checkedIn = try String(
            contentsOfFile: TestPaths.repository + "/docs/reference.md", encoding: .utf8)
        #expect(
            ReferenceGenerator.reference(statuses: RunStatus.reference) == checkedIn,
            "the reference is out of date; replace it by the output of `tandem schema --reference`")
    }

    @Test func theFirstStatusThatAppliesIsReturned() {
        #expect(RunStatus.first(of: [.jobFailed, .environment]) == .environment)
        #expect(RunStatus.first(of: [.expectationFailed, .jobFailed]) == .jobFailed)
        #expect(RunStatus.first(of: [.interrupted, .terminated]) == .terminated)
        #expect(RunStatus.first(of: []) == nil)
    }

    @Test func readmeListsEachStatus() throws {
        let readme = try String(contentsOfFile: TestPaths.repository + "/README.md", encoding: .utf8)
        let table = try #require(readme.components(separatedBy: "| exit status | meaning |").last)
        let rows = table.split(separator: "\n").dropFirst().prefix { $0.hasPrefix("|") }
        let numbers = rows.flatMap { row in
            row.split(separator: "|")[0].split(separator: ",").compactMap {
                Int32($0.trimmingCharacters(in: .whitespaces))
            }
        }
        #expect(numbers == RunStatus.allCases.map(\.rawValue).sorted())
    }
}
