internal import Glibc

/// A value behind a lock, as the standard library's `Mutex`, over a POSIX mutex.
///
/// Why not `Mutex`: on Linux its waiting is inside a library that ThreadSanitizer doesn't see, so every
/// access under it is reported as a race, and a real one can't be told from the others.
///
/// Unchecked `Sendable`: the value is reached through `withLock` only.
package struct Guarded<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    /// A value with a lock of its own.
    package init(_ initial: consuming Value) {
        lock = .allocate(capacity: 1)
        lock.initialize(to: pthread_mutex_t())
        pthread_mutex_init(lock, nil)
        value = .allocate(capacity: 1)
        value.initialize(to: initial)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    /// Calls `body` with the value while nobody else has it. Not to be nested.
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return try body(&value.pointee)
    }
}
