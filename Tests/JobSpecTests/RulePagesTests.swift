import Diagnostics
import Foundation
import TestSupport
import Testing

/// The pages of the rules, the list of the rules and what is emitted are one.
@Suite struct RulePagesTests {
    private struct Page {
        var id: String
        var text: String
        var examples: [String]
    }

    private func pages() throws -> [Page] {
        let text = try String(contentsOfFile: Places.repository + "/docs/rules.md", encoding: .utf8)
        return text.components(separatedBy: "\n## ").dropFirst().map { section in
            let id = section.prefix { $0 != "\n" }
            let blocks = section.components(separatedBy: "```yaml\n").dropFirst().map {
                $0.components(separatedBy: "\n```")[0] + "\n"
            }
            return Page(id: String(id), text: section, examples: blocks)
        }
    }

    @Test func everyRuleHasItsPage() throws {
        #expect(try pages().map(\.id) == Rule.allCases.map(\.rawValue).sorted())
        for page in try pages() {
            let rule = try #require(Rule(rawValue: page.id))
            #expect(page.text.contains(rule.summary + ". "), "\(page.id)")
        }
    }

    @Test func theExamplesShowTheRule() throws {
        for page in try pages() {
            let rule = try #require(Rule(rawValue: page.id))
            let isShown = page.text.contains("\nWrong:\n")
            #expect(page.examples.count == (isShown ? 2 : 1), "\(page.id)")
            if isShown, let wrong = page.examples.first {
                let found = decode(wrong).sink
                #expect(
                    found.diagnostics.contains { $0.rule == rule }, "\(page.id): \(rendered(found, wrong))")
            }
            if let right = page.examples.last {
                let found = decode(right).sink
                #expect(!found.hasErrors, "\(page.id): \(rendered(found, right))")
            }
        }
    }
}
