internal import CLinux
package import ExactStrings
internal import Glibc

extension TemporaryFile {
    /// Removes the temporary files and folders of killed runs from a folder, and returns their names. `names` are the
    /// outputs in the folder. Files that are being written are locked, and are not removed. A replaced file whose only name is
    /// temporary gets its original name back, unless another file has that name.
    package static func removeAbandonedParts(in folder: String, of names: Set<ExactString>) -> [String] {
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return [] }
        defer { close(directory) }
        let owners = Dictionary(grouping: names) { stem($0.text).exact }
        var removed: [String] = []
        for name in entries(of: directory) {
            guard let part = PartName(name, suffix: partSuffix) ?? PartName(name, suffix: asideSuffix),
                let owned = owners[part.stem.exact]
            else { continue }
            var descriptor = openat(directory, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
            if descriptor < 0, errno == EISDIR {
                descriptor = FolderTree.open(name, in: directory)
            }
            guard descriptor >= 0 else { continue }
            let isDead = flock(descriptor, LOCK_EX | LOCK_NB) == 0
            close(descriptor)
            guard isDead else { continue }
            // Several long names can have the same stem; the original name is then unknown.
            let isBack =
                name.hasSuffix(asideSuffix) && owned.count == 1
                && restore(name, to: owned[0].text, in: directory)
            if isBack || FolderTree.remove(name, in: directory) { removed.append(name) }
        }
        return removed
    }

    private static func restore(_ part: String, to name: String, in folder: Int32) -> Bool {
        if tandem_renameat2(folder, part, folder, name, 1) == 0 { return true }
        // Replaced files are renamed only on file systems without hard links, which often don't support an exclusive
        // rename either.
        var status = stat()
        guard [EINVAL, ENOSYS, EOPNOTSUPP].contains(errno),
            fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0, errno == ENOENT
        else { return false }
        return renameat(folder, part, folder, name) == 0
    }

    /// Returns the names in a folder that begin with a dot, as those of temporary files do.
    static func entries(of folder: Int32) -> [String] {
        (FolderTree.names(in: folder) ?? []).filter { $0.hasPrefix(".") }
    }

    /// The components of a temporary name, `.name.<attempt>.part`.
    struct PartName {
        /// Final name of the file, truncated to 200 bytes.
        let stem: String

        /// Parses a temporary name. Returns nil if it has another format.
        init?(_ name: String, suffix: String) {
            guard name.hasPrefix("."), name.hasSuffix(suffix) else { return nil }
            let named = name.dropFirst().dropLast(suffix.count)
            guard let dot = named.lastIndex(of: ".") else { return nil }
            let attempt = named[named.index(after: dot)...]
            guard !attempt.isEmpty, attempt.allSatisfy({ $0.isASCII && ($0.isLowercase || $0.isNumber) })
            else {
                return nil
            }
            stem = String(named[..<dot])
        }
    }
}
