package import Dispatch

extension DispatchQueue {
    /// Returns the results of `body` for the integers from 0 to `count - 1`, in this order. The calls are concurrent, as
    /// many as there are processors; the caller waits for all of them.
    package static func concurrentMap<Result: Sendable>(
        _ count: Int, _ body: @Sendable (Int) -> Result
    ) -> [Result] {
        let results = Guarded([Result?](repeating: nil, count: count))
        concurrentPerform(iterations: count) { @Sendable index in
            let result = body(index)
            results.withLock { $0[index] = result }
        }
        return results.withLock { $0.compactMap(\.self) }
    }

    /// Returns the results of a throwing `body` for the integers from 0 to `count - 1`, as the function above.
    /// - Throws: The error of the lowest integer whose call fails. Once a call has failed, none begins for a greater
    ///   integer.
    package static func concurrentMap<Value: Sendable, Failure: Error>(
        throwing count: Int, _ body: @Sendable (Int) throws(Failure) -> Value
    ) throws(Failure) -> [Value] {
        let lowestFailure = Guarded(count)
        let results = concurrentMap(count) { index -> Result<Value, Failure>? in
            guard lowestFailure.withLock({ index < $0 }) else { return nil }
            let result = Result { () throws(Failure) in try body(index) }
            if case .failure = result { lowestFailure.withLock { $0 = min($0, index) } }
            return result
        }
        var values: [Value] = []
        values.reserveCapacity(count)
        // Only results after a failure are nil.
        for case let result? in results { values.append(try result.get()) }
        return values
    }
}
