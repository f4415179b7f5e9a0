internal import CLinux
internal import Glibc

/// A file or folder that is complete or absent at its destination.
package protocol PublishableItem: AnyObject {
    /// Descriptor of the file or folder, owned by the item.
    var descriptor: Int32 { get }
    /// Whether the item was published and not withdrawn.
    var isPublished: Bool { get }
    /// Size of all its data in bytes.
    var size: Int64 { get }
    /// Size and modification time as text, by which a later change is recognized.
    var fingerprint: String { get }

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
}

extension PublishableItem {
    /// Writes an extended attribute. Returns false if it can't be written, as on file systems without support.
    @discardableResult
    package func setAttribute(_ name: String, _ value: String) -> Bool {
        let bytes = Array(value.utf8)
        return tandem_fsetxattr(descriptor, name, bytes, bytes.count) == 0
    }

    /// Returns whether a path leads to this item, by device and inode.
    package func isAt(_ path: String) -> Bool { isAt(path, in: AT_FDCWD) }

    /// Returns whether a path that is relative to a folder leads to this item.
    func isAt(_ path: String, in folder: Int32) -> Bool {
        var (own, other) = (stat(), stat())
        return fstat(descriptor, &own) == 0 && fstatat(folder, path, &other, AT_SYMLINK_NOFOLLOW) == 0
            && own.st_dev == other.st_dev && own.st_ino == other.st_ino
    }
}

extension TemporaryFile: PublishableItem {}
