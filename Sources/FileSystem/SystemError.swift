public import SystemPackage

/// A call to the system that failed.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was to be done, such as `opening the folder /out`.
    public let operation: String
    /// What the system said.
    public let code: Errno

    /// A failure with the system's `errno`.
    public init(_ operation: String, errno: CInt) {
        self.operation = operation
        code = Errno(rawValue: errno)
    }

    /// One line for people.
    public var description: String { "\(operation): \(code)" }
}
