internal import Glibc

/// A value that is protected by a POSIX mutex, with the interface of the standard library's `Mutex`.
///
/// `Mutex` isn't used because on Linux its locking code is in a library that ThreadSanitizer doesn't instrument:
/// every protected access would be reported as a race, and real races couldn't be distinguished.
///
/// Unchecked `Sendable`: the value is accessed only through `withLock`.
package struct Guarded<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    /// Creates a protected value with a separate mutex.
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

    /// Calls `body` with exclusive access to the value. The mutex isn't recursive: `body` must not call `withLock` of
    /// this value.
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return try body(&value.pointee)
    }
}
