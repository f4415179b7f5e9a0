package import SystemPackage

/// A call to the system that failed.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was to be done, such as `opening the folder /out`.
    package let operation: String
    /// What the system said.
    package let code: Errno

    /// A failure with the system's `errno`.
    package init(_ operation: String, errno: CInt) {
        self.operation = operation
        code = Errno(rawValue: errno)
    }

    /// One line for people.
    package var description: String { "\(operation): \(code)" }
}
