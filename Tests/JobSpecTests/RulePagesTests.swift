import Diagnostics
import Foundation
import TestSupport
import Testing

/// docs/rules.md describes every rule with the messages that are printed. `RuleExampleTests` runs the examples that
/// require sources.
@Suite struct RulePagesTests {
    @Test func everyRuleHasASection() throws {
        let ids = try RulePage.all().map(\.id)
        #expect(ids.sorted() == Rule.allCases.map(\.rawValue).sorted())
        // The table of contents has the order of the sections.
        let contents = try RulePage.text().components(separatedBy: "\n").filter { $0.hasPrefix("- [") }
        let expected = ids.compactMap { Rule(rawValue: $0) }.map {
            "- [\($0.rawValue)](#\($0.rawValue)): \($0.summary)"
        }
        #expect(contents == expected)
    }

    @Test func everyExampleHasMessageAndFix() throws {
        for page in try RulePage.all() {
            #expect(!page.failing.isEmpty && !page.call.isEmpty, "\(page.id)")
            // In text output, a job's warnings are printed without the rule.
            let mark = page.id == "job-warning" ? "warning: " : "[\(page.id)]: "
            #expect(page.message.contains(mark), "\(page.id): \(page.message)")
            #expect((page.corrected == nil) == (page.correctedCall != nil), "\(page.id)")
        }
    }

    @Test func documentedMessagesArePrinted() throws {
        for page in try RulePage.all() where page.isOfFileAlone {
            let printed = rendered(decode(page.failing).sink, page.failing)
            #expect(printed == page.message, "\(page.id)")
        }
    }

    @Test func correctedExamplesAreValid() throws {
        for page in try RulePage.all() where page.files.isEmpty {
            guard let corrected = page.corrected else { continue }
            let printed = rendered(decode(corrected.text).sink, corrected.text)
            #expect(printed == "", "\(page.id)")
        }
    }
}
