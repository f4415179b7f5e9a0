/// What becomes of one thing in a source.
package struct LedgerEntry: Codable, Hashable, Sendable {
    /// What becomes of it.
    package enum Outcome: String, Codable, Sendable {
        /// Taken as it is.
        case copied
        /// Re-encoded.
        case encoded
        /// Not in the output.
        case left
    }
    /// The index of the track it is or belongs to; nil for the file's own.
    package var track: Int?
    /// What it is: `video h264 1280x720`, `chapters`, `tag title`.
    package var item: String
    /// What becomes of it.
    package var outcome: Outcome
    /// Why, or as what.
    package var reason: String
}
