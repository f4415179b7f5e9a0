/// An entry of the ledger: the outcome of one item of a source, with its reason.
package struct LedgerEntry: Codable, Hashable, Sendable {
    package enum Outcome: String, Codable, Sendable {
        /// Copied unchanged.
        case copied
        case encoded
        case dropped
    }
    /// Absolute path of the subtitle file that has the item; nil for items of the source.
    package var file: String? = nil
    /// Index of the item's track; nil for items of the file.
    package var track: Int?
    package var item: LedgerItem
    package var outcome: Outcome
    /// Reason of the outcome, or the new format of the item.
    package var reason: String
}
