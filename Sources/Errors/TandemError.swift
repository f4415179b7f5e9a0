public import FoundationEssentials

/// An error of the library. Everything that a public call throws is a `TandemError`, or `CancellationError` after a
/// cancel; errors that a caller's closure throws are passed on.
///
/// `kind` distinguishes errors in programs. `description` and `localizedDescription` are the message for the user, in
/// one line. The types that conform have further details, such as the track and the time of `MediaError`.
public protocol TandemError: LocalizedError, CustomStringConvertible, Sendable {
    /// The kind of the error.
    var kind: ErrorKind { get }
}

extension TandemError {
    /// The message: what is wrong, and what is allowed.
    public var errorDescription: String? { description }
    /// A remedy; nil if there is none.
    public var recoverySuggestion: String? { kind.recoverySuggestion }
    /// Nil: the message contains the reason.
    public var failureReason: String? { nil }
    /// Nil: there is no help book.
    public var helpAnchor: String? { nil }
}
