package import Dispatch

extension DispatchQueue {
    /// Runs blocking work on this queue and suspends the caller until it is done. Returns or throws the work's
    /// result.
    package nonisolated(nonsending) func result<Value: Sendable, Failure: Error>(
        of work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            async { @Sendable in
                continuation.resume(returning: Result { () throws(Failure) in try work() })
            }
        }
        return try result.get()
    }
}
