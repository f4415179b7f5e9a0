internal import Glibc

/// The status of a file at one moment: one `stat` answers all questions about it.
package struct FileStatus: Sendable {
    /// Device, inode, size and modification time.
    package let identity: FileIdentity
    /// Whether the path itself is a symbolic link, which was not followed.
    package let isLink: Bool
    /// Time of the last status change in seconds since 1970, which can't be set.
    private let changed: Int64
    private let changedNanoseconds: Int64

    /// Reads the status of the file at a path; nil if the call fails. With `followingLinks: false`, a link at the end
    /// of the path is described itself (`lstat`).
    package init?(path: String, followingLinks: Bool = true) {
        var status = stat()
        guard (followingLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
        identity = FileIdentity(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            modified: Int64(status.st_mtim.tv_sec), modifiedNanoseconds: Int64(status.st_mtim.tv_nsec),
            isDirectory: status.st_mode & S_IFMT == S_IFDIR)
        isLink = status.st_mode & S_IFMT == S_IFLNK
        (changed, changedNanoseconds) = (Int64(status.st_ctim.tv_sec), Int64(status.st_ctim.tv_nsec))
    }

    /// Size, modification time, status change time and inode as text, which differs after any change.
    package var changeToken: String {
        "\(identity.size) \(identity.modified).\(identity.modifiedNanoseconds) \(changed).\(changedNanoseconds) \(identity.inode)"
    }
}
