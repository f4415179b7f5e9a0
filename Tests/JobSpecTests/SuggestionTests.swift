import Diagnostics
import Testing

/// How much help a file full of mistakes gets: so much, and the next file as much again.
@Suite struct SuggestionTests {
    @Test func eachFileHasABudgetOfItsOwn() {
        func helped(_ words: Int) -> Int {
            Suggestion.withBudget(of: 10) {
                (0..<words).count { _ in Suggestion.nearest(to: "presett", among: ["preset"]) == "preset" }
            }
        }
        #expect(helped(5) == 5)
        #expect(helped(50) == 9)
        #expect(helped(5) == 5, "what one file used is not another's")
        // What a person typed is no file.
        #expect((0..<50).allSatisfy { _ in Suggestion.nearest(to: "presett", among: ["preset"]) == "preset" })
    }
}
