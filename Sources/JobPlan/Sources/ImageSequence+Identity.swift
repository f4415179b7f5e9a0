internal import FileSystem
internal import LibAV
package import Media

extension ImageSequence {
    /// What tells a change of any of its files; nil where one is gone.
    package var filesIdentity: String? {
        var hasher = SHA256Hasher()
        for path in files {
            guard let file = FileIdentity(path: path), !file.isDirectory else { return nil }
            hasher.update("\(file.inode) \(file.size) \(file.modified).\(file.modifiedNanoseconds)\n")
        }
        return hasher.finish()
    }
}
