/// The identity of a file, regardless of its path: device and inode, with size and modification time.
package struct FileIdentity: Codable, Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64
    /// Size in bytes.
    package var size: Int64
    /// Modification time in seconds since 1970.
    package var modified: Int64
    /// Nanoseconds within the second of the modification time.
    package var modifiedNanoseconds: Int64
    /// Whether the file is a folder; false after decoding, since it isn't encoded.
    package private(set) var isDirectory = false

    private enum CodingKeys: CodingKey { case device, inode, size, modified, modifiedNanoseconds }

    /// Reads the identity of the file at a path, following links; nil if `stat` fails.
    package init?(path: String) {
        guard let status = FileStatus(path: path) else { return nil }
        self = status.identity
    }

    /// Creates the identity of a file whose values are known.
    package init(
        device: UInt64, inode: UInt64, size: Int64 = 0, modified: Int64 = 0, modifiedNanoseconds: Int64 = 0,
        isDirectory: Bool = false
    ) {
        (self.device, self.inode, self.size) = (device, inode, size)
        (self.modified, self.modifiedNanoseconds) = (modified, modifiedNanoseconds)
        self.isDirectory = isDirectory
    }

    /// Creates the identity of a remote file, of which only the size is known: it changes only with the size, and
    /// never equals the identity of a local file.
    package init(remoteSize: Int64) {
        (device, inode, modified, modifiedNanoseconds) = (0, 0, 0, 0)
        size = remoteSize
    }

    /// Returns a file's change token (`FileStatus.changeToken`); nil if the file doesn't exist.
    package static func changeToken(path: String) -> String? { FileStatus(path: path)?.changeToken }
}
