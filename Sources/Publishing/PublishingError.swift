/// Why a file can't be published, where the system is not to blame.
package enum PublishingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Somebody's file is at the destination.
    case destinationExists
    /// A lent file is published by who made it.
    case lent

    /// One line for people.
    package var description: String {
        switch self {
        case .destinationExists: "the destination exists"
        case .lent: "a lent file is published by its owner"
        }
    }
}
