internal import Glibc

/// Which file something is, whatever its path: device and inode, with size and time of last change.
package struct FileIdentity: Codable, Hashable, Sendable {
    /// The device it is on.
    package var device: UInt64
    /// Its number there.
    package var inode: UInt64
    /// Bytes.
    package var size: Int64
    /// Seconds of its last change.
    package var modified: Int64
    /// Nanoseconds of its last change.
    package var modifiedNanoseconds: Int64
    /// A folder.
    package private(set) var isDirectory = false

    private enum CodingKeys: CodingKey { case device, inode, size, modified, modifiedNanoseconds }

    /// Looks at a path, through links; nil where nothing is.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        modified = Int64(status.st_mtim.tv_sec)
        modifiedNanoseconds = Int64(status.st_mtim.tv_nsec)
        isDirectory = status.st_mode & S_IFMT == S_IFDIR
    }

    /// Of what is remote the size is all that is known: whether it changed is told by that alone, and it is never the same
    /// file as one that is here.
    package init(remoteSize: Int64) {
        (device, inode, modified, modifiedNanoseconds) = (0, 0, 0, 0)
        size = remoteSize
    }

    /// Everything that tells a change, as one word: also the time of the last change of anything about the file, which nobody
    /// can set. Nil where nothing is.
    package static func word(path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let (modified, changed) = (status.st_mtim, status.st_ctim)
        return
            "\(status.st_size) \(modified.tv_sec).\(modified.tv_nsec) \(changed.tv_sec).\(changed.tv_nsec) \(status.st_ino)"
    }
}
