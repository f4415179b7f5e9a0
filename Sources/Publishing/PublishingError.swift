/// The reason why a file can't be published, other than a system error.
package enum PublishingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another file is at the destination.
    case destinationExists
    /// The file belongs to another process, which publishes it.
    case ownedByOtherProcess

    /// The reason in one line.
    package var description: String {
        switch self {
        case .destinationExists: "the destination exists"
        case .ownedByOtherProcess: "the file is lent; its owner publishes it"
        }
    }
}
