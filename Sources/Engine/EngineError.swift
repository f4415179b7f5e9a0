package import JobStages

/// An error of a command without a location in a job file.
package struct EngineError: Error, Sendable, CustomStringConvertible {
    package let status: RunStatus
    /// Message, without a final period. May contain untrusted names, whose control characters must be escaped for
    /// output.
    package let message: String

    package init(_ status: RunStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    package var description: String { message }
}
