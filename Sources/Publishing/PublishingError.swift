public import Errors

/// The reason why a file can't be published, other than a system error.
public enum PublishingError: TandemError, Hashable {
    /// Another file is at the destination.
    case destinationExists
    /// The file was received from another process, which publishes it.
    case ownedByOtherProcess

    /// The kind of the error.
    public var kind: ErrorKind {
        switch self {
        case .destinationExists: .destinationExists
        case .ownedByOtherProcess: .misuse
        }
    }

    /// The reason in one line.
    public var description: String {
        switch self {
        case .destinationExists: "the destination exists"
        case .ownedByOtherProcess: "the file is lent; its owner publishes it"
        }
    }
}
