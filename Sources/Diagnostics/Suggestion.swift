internal import Locking

/// The search for known words that are similar to a misspelled one.
package enum Suggestion {
    /// Returns the candidate nearest to `word` with an edit distance (including transpositions) of at most a third of
    /// the length; nil if there is none. Candidates are evaluated only while the budget lasts.
    package static func nearest<Words: Sequence<String>>(
        to word: String, among candidates: @autoclosure () -> Words
    ) -> String? {
        guard word.utf8.count <= 64, budget?.takeWord() ?? true else { return nil }
        let lowered = Array(word.lowercased())
        var best: (distance: Int, word: String)?
        var steps = 0
        for candidate in candidates() {
            steps += 1
            // Most candidates are excluded by their lengths.
            let count = candidate.utf8.count > 256 ? 256 : candidate.count
            let most = min(max(1, max(lowered.count, count) / 3), (best?.distance ?? Int.max) - 1)
            guard count <= 64, abs(count - lowered.count) <= most else { continue }
            steps += lowered.count
            let distance = distance(lowered, Array(candidate.lowercased()))
            if distance <= most { best = (distance, candidate) }
        }
        budget?.spend(steps)
        WorkCount.add(steps)
        return best?.word
    }

    /// Runs `body`, which decodes a file, with a budget for the search: a number of words, and 500 steps per word on
    /// average. The budget limits the time for files with many mistakes.
    package static func withBudget<Result>(of words: Int = 2000, _ body: () throws -> Result) rethrows
        -> Result
    {
        try $budget.withValue(Budget(words: words, steps: words * 500)) { try body() }
    }

    /// The remaining budget while a file is decoded.
    final class Budget: Sendable {
        private struct Remaining: Sendable {
            var words: Int
            var steps: Int
        }
        private let remaining: Guarded<Remaining>

        init(words: Int, steps: Int) { remaining = Guarded(Remaining(words: words, steps: steps)) }

        /// Consumes a word of the budget. Returns false once the words or the steps are used up.
        func takeWord() -> Bool {
            remaining.withLock { left in
                left.words -= left.words > 0 ? 1 : 0
                return left.words > 0 && left.steps > 0
            }
        }

        func spend(_ steps: Int) { remaining.withLock { $0.steps = max(0, $0.steps - steps) } }
    }

    /// Budget of the current task; nil outside of `withBudget`, as for words of the command line, whose search is
    /// unlimited.
    @TaskLocal private static var budget: Budget?

    /// Budget of the current task, for passing it to another thread.
    static var currentBudget: Budget? { budget }

    /// Runs `body` with a budget that was captured on another thread.
    static func with<Result>(_ budget: Budget?, _ body: () throws -> Result) rethrows -> Result {
        try $budget.withValue(budget) { try body() }
    }

    /// Returns "did you mean …?", or nil if no candidate is near enough.
    package static func help<Words: Sequence<String>>(
        for word: String, among candidates: @autoclosure () -> Words
    ) -> String? {
        nearest(to: word, among: candidates()).map { "did you mean `\($0)`?" }
    }

    private static func distance(_ a: [Character], _ b: [Character]) -> Int {
        if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
        var before: [Int] = []
        var last = Array(0...b.count)
        for i in 1...a.count {
            var row = [i] + [Int](repeating: 0, count: b.count)
            for j in 1...b.count {
                row[j] = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                    row[j] = min(row[j], before[j - 2] + 1)
                }
            }
            before = last
            last = row
        }
        return last[b.count]
    }
}
