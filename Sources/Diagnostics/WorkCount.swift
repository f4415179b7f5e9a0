internal import Synchronization

/// A counter of the steps of loading a job file, for tests of how the number grows with the file's size.
///
/// A step is a byte that is scanned, a node or an entry that is visited, or two words that are compared.
/// Steps are counted only inside `measure`.
package final class WorkCount: Sendable {
    private let steps = Atomic<Int>(0)

    @TaskLocal private static var current: WorkCount?

    /// Returns the number of steps of `body`, on this thread and on threads that receive work through
    /// `Captured`.
    package static func measure(_ body: () throws -> Void) rethrows -> Int {
        let count = WorkCount()
        try $current.withValue(count) { try body() }
        return count.steps.load(ordering: .relaxed)
    }

    /// Adds steps to the current counter, if there is one.
    package static func add(_ steps: @autoclosure () -> Int) {
        guard let current else { return }
        current.steps.wrappingAdd(steps(), ordering: .relaxed)
    }

    /// The task-local state that is passed to other threads during loading: the counter, and the budget of
    /// suggestions.
    package struct Captured: Sendable {
        private let count = WorkCount.current
        private let budget = Suggestion.currentBudget

        /// Captures the state of the current task.
        package init() {}

        /// Runs `body` with the captured state.
        package func run<Result>(_ body: () throws -> Result) rethrows -> Result {
            try WorkCount.$current.withValue(count) { try Suggestion.with(budget, body) }
        }
    }
}
