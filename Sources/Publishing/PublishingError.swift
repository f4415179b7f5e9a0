/// An error of publishing a file, other than a system error.
package enum PublishingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A file exists at the destination.
    case destinationExists
    /// The file was received from another process, which publishes it.
    case ownedByOtherProcess

    /// Description of the error in one line.
    package var description: String {
        switch self {
        case .destinationExists: "the destination exists"
        case .ownedByOtherProcess: "the file is lent; its owner publishes it"
        }
    }
}
