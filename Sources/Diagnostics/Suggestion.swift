internal import Locking

/// Finds what was probably meant.
package enum Suggestion {
    /// The candidate nearest to `word`, where one is near enough (edit distance with swaps, a third of its length).
    package static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
        guard word.utf8.count <= 64, spend() else { return nil }
        let lowered = Array(word.lowercased())
        var best: (distance: Int, word: String)?
        for candidate in candidates where candidate.count <= 64 {
            let distance = distance(lowered, Array(candidate.lowercased()))
            guard distance <= max(1, max(lowered.count, candidate.count) / 3),
                distance < best?.distance ?? Int.max
            else {
                continue
            }
            best = (distance, candidate)
        }
        return best?.word
    }

    /// A file full of mistakes is not helped one by one: while `body` decodes it, so many words are looked for, and no more.
    package static func withBudget<Result>(of words: Int = 2000, _ body: () throws -> Result) rethrows
        -> Result
    {
        try $budget.withValue(Budget(words)) { try body() }
    }

    private final class Budget: Sendable {
        private let left: Guarded<Int>

        init(_ words: Int) { left = Guarded(words) }

        func spend() -> Bool {
            left.withLock { left in
                left -= left > 0 ? 1 : 0
                return left > 0
            }
        }
    }

    /// Nil where nobody decodes: what a person typed is always looked for.
    @TaskLocal private static var budget: Budget?

    private static func spend() -> Bool { budget?.spend() ?? true }

    /// "did you mean …?", or nil.
    package static func help(for word: String, among candidates: some Sequence<String>) -> String? {
        nearest(to: word, among: candidates).map { "did you mean `\($0)`?" }
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
