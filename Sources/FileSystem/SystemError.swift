package import SystemPackage

/// A system call that failed.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The operation that failed, such as `opening the folder /out`.
    package let operation: String
    /// Error code of the system.
    package let code: Errno

    /// Creates an error of the system's `errno`.
    package init(_ operation: String, errno: CInt) {
        self.operation = operation
        code = Errno(rawValue: errno)
    }

    /// The error in one line, for the user.
    package var description: String { "\(operation): \(code)" }
}
