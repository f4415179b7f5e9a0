package import SystemPackage

/// The error of a failed system call.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The operation that failed, such as `opening the folder /out`.
    package let operation: String
    /// Error code of the system call (`errno`).
    package let code: Errno

    /// Creates an error from an operation and its `errno`.
    package init(_ operation: String, errno: CInt) {
        self.operation = operation
        code = Errno(rawValue: errno)
    }

    /// The error in one line, for the user.
    package var description: String { "\(operation): \(code)" }
}
