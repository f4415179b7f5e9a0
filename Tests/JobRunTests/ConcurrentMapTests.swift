import Dispatch
import Locking
import Testing

/// Concurrent calls, whose results are in the order of their arguments.
@Suite struct ConcurrentMapTests {
    private struct Failed: Error, Equatable { let index: Int }

    @Test(arguments: [0, 1, 2, 1000]) func resultsAreInOrder(_ count: Int) {
        #expect(DispatchQueue.concurrentMap(count) { $0 * 2 } == (0..<count).map { $0 * 2 })
    }

    /// Calls after the failing ones are made too.
    @Test func lowestFailureIsThrown() {
        let calls = Guarded(0)
        let error = #expect(throws: Failed.self) {
            _ = try DispatchQueue.concurrentMap(throwing: 100) { (index) throws(Failed) in
                calls.withLock { $0 += 1 }
                if index % 30 == 7 { throw Failed(index: index) }
                return index
            }
        }
        #expect(error == Failed(index: 7))
        #expect(calls.withLock { $0 } == 100)
    }
}
