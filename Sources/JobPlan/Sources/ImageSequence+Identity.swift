internal import FileSystem
internal import LibAV
package import Media

extension ImageSequence {
    /// Identity of all files, which changes with any of them; nil if one is missing.
    package var filesIdentity: String? {
        var hasher = SHA256Hasher()
        for path in files {
            guard let file = FileIdentity(path: path), !file.isDirectory else { return nil }
            hasher.update("\(file.inode) \(file.size) \(file.modified).\(file.modifiedNanoseconds)\n")
        }
        return hasher.finish()
    }
}
