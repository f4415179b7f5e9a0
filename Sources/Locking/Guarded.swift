internal import Glibc

/// A value behind a lock, like the standard library's `Mutex`, on a POSIX mutex.
///
/// `Mutex` isn't used because on Linux it waits inside a library that ThreadSanitizer doesn't instrument: every
/// access under it is reported as a race, and a real race can't be distinguished.
///
/// Unchecked `Sendable`: the value is accessed only through `withLock`.
package struct Guarded<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    /// Creates a value with its own lock.
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

    /// Calls `body` with exclusive access to the value. Must not be nested.
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return try body(&value.pointee)
    }
}
