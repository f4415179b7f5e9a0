internal import Synchronization

/// Counts the steps that loading takes, for tests of how they grow with the size of a file.
///
/// A step is a byte that is scanned, a node or an entry that is visited, or two words that are compared. Nothing is counted
/// outside of `measure`.
package final class WorkCount: Sendable {
    private let steps = Atomic<Int>(0)

    @TaskLocal private static var current: WorkCount?

    /// The steps that `body` takes, on this thread and on those that it hands work to through `Carried`.
    package static func measure(_ body: () throws -> Void) rethrows -> Int {
        let count = WorkCount()
        try $current.withValue(count) { try body() }
        return count.steps.load(ordering: .relaxed)
    }

    /// Counts steps.
    package static func add(_ steps: @autoclosure () -> Int) {
        guard let current else { return }
        current.steps.wrappingAdd(steps(), ordering: .relaxed)
    }

    /// What loading on one thread hands to another: the count, and the budget of suggestions.
    package struct Carried: Sendable {
        private let count = WorkCount.current
        private let budget = Suggestion.currentBudget

        /// That of this thread.
        package init() {}

        /// Runs `body` with it.
        package func run<Result>(_ body: () throws -> Result) rethrows -> Result {
            try WorkCount.$current.withValue(count) { try Suggestion.with(budget, body) }
        }
    }
}
