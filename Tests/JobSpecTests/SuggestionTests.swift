import Diagnostics
import Testing

/// Suggestions are limited per file.
@Suite struct SuggestionTests {
    @Test func eachFileHasItsOwnBudget() {
        func helped(_ words: Int) -> Int {
            Suggestion.withBudget(of: 10) {
                (0..<words).count { _ in Suggestion.nearest(to: "presett", among: ["preset"]) == "preset" }
            }
        }
        #expect(helped(5) == 5)
        #expect(helped(50) == 9)
        #expect(helped(5) == 5, "the budget must not be shared between files")
        // Suggestions for words on the command line are not limited.
        #expect((0..<50).allSatisfy { _ in Suggestion.nearest(to: "presett", among: ["preset"]) == "preset" })
    }
}
