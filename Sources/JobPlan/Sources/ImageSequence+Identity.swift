internal import FileSystem
internal import LibAV
package import Media
internal import Publishing

extension ImageSequence {
    /// Identity of all files, which changes with any of them; nil if one is missing.
    package var filesIdentity: String? { filesIdentity(on: SystemDisk()) }

    /// Returns the identity of all files on a disk; nil if one is missing.
    func filesIdentity(on disk: any DiskQueries) -> String? {
        var hasher = SHA256Hasher()
        for path in files {
            guard let file = disk.identity(of: path), !file.isDirectory else { return nil }
            hasher.update("\(file.inode) \(file.size) \(file.modified).\(file.modifiedNanoseconds)\n")
        }
        return hasher.finish()
    }
}
