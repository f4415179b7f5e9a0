/// A file or folder that is complete or absent at its destination.
package protocol PublishableItem: AnyObject {
    /// Whether the item was published and not withdrawn.
    var isPublished: Bool { get }
    /// Size of all its data in bytes.
    var size: Int64 { get }
    /// Size and modification time as text, by which a later change is recognized.
    var fingerprint: String { get }

    /// Writes an extended attribute. Returns false if it can't be written, as on file systems without support.
    @discardableResult
    func setAttribute(_ name: String, _ value: String) -> Bool
    /// Writes the data to disk.
    func synchronize() throws
    /// Gives the item its final name in one step. Without `replacing`, throws `PublishingError.destinationExists` if
    /// the destination exists. With `keepsReplaced`, the replaced item is kept for `withdraw` until `removeReplaced`.
    func publish(replacing: Bool, keepsReplaced: Bool) throws
    /// Withdraws a published item if it still has its final name: restores the replaced one, or removes the name.
    func withdraw()
    /// Removes the replaced item, after which `withdraw` can't restore it.
    func removeReplaced()
    /// Removes an unpublished item.
    func discard()
    /// Returns whether a path leads to this item, by device and inode.
    func isAt(_ path: String) -> Bool
}

extension TemporaryFile: PublishableItem {}
