/// The account of one item of a source.
package struct LedgerEntry: Codable, Hashable, Sendable {
    /// The outcome of an item.
    package enum Outcome: String, Codable, Sendable {
        /// Copied unchanged.
        case copied
        /// Re-encoded.
        case encoded
        /// Dropped: not in the output.
        case left
    }
    /// Index of the track that the item is or belongs to; nil for items of the file.
    package var track: Int?
    /// Name of the item: `video h264 1280x720`, `chapters`, `tag title`.
    package var item: String
    /// Outcome of the item.
    package var outcome: Outcome
    /// Reason of the outcome, or the new form of the item.
    package var reason: String
}
