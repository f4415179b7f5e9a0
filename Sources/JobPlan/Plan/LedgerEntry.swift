/// What becomes of one thing in a source.
public struct LedgerEntry: Codable, Hashable, Sendable {
    /// What becomes of it.
    public enum Outcome: String, Codable, Sendable {
        /// Taken as it is.
        case copied
        /// Re-encoded.
        case encoded
        /// Not in the output.
        case left
    }
    /// The index of the track it is or belongs to; nil for the file's own.
    public var track: Int?
    /// What it is: `video h264 1280x720`, `chapters`, `tag title`.
    public var item: String
    /// What becomes of it.
    public var outcome: Outcome
    /// Why, or as what.
    public var reason: String
}
