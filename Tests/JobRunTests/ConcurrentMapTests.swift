import Dispatch
import Locking
import Testing

/// Concurrent calls, whose results are in the order of their arguments.
@Suite struct ConcurrentMapTests {
    private struct Failed: Error, Equatable { let index: Int }

    @Test(arguments: [0, 1, 2, 1000]) func resultsAreInOrder(_ count: Int) {
        #expect(DispatchQueue.concurrentMap(count) { $0 * 2 } == (0..<count).map { $0 * 2 })
    }

    /// Calls before the lowest failure are all made, and few after it.
    @Test(arguments: [0, 7, 99_999]) func lowestFailureIsThrown(_ lowest: Int) {
        let calls = Guarded<Set<Int>>([])
        let error = #expect(throws: Failed.self) {
            _ = try DispatchQueue.concurrentMap(throwing: 100_000) { (index) throws(Failed) in
                calls.withLock { _ = $0.insert(index) }
                if index >= lowest { throw Failed(index: index) }
                return index
            }
        }
        #expect(error == Failed(index: lowest))
        let made = calls.withLock { $0 }
        #expect(made.isSuperset(of: 0...lowest))
        // At most one call per thread of Dispatch begins before the first failure is known.
        #expect(made.count <= lowest + 1 + 512)
    }

    @Test func resultsOfThrowingCallsAreInOrder() throws {
        let values = try DispatchQueue.concurrentMap(throwing: 1000) { (index) throws(Failed) in index * 2 }
        #expect(values == (0..<1000).map { $0 * 2 })
    }
}
