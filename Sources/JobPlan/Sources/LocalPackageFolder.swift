internal import ExactStrings
package import FileSystem
internal import Glibc
package import Streaming

/// A package's folder in the file system. Only files beneath it are read, regardless of links.
package struct LocalPackageFolder: PackageFolder {
    /// The root at the folder.
    package let root: PathRoot

    /// Creates the folder of a manifest.
    ///
    /// - Throws: `PackageFolderProblem` if the folder can't be opened, or isn't beneath `root`.
    package init(of manifest: String, beneath root: PathRoot) throws(PackageFolderProblem) {
        guard let folder = PathRoot(folder: manifest.parentFolder) else { throw .unreadable }
        guard let resolved = folder.path, root.path == resolved || root.contains(resolved) else {
            throw .outsideRoot
        }
        self.root = folder
    }

    private func open(_ path: String, _ flags: Int32) -> Int32 {
        root.open((root.path ?? "") + "/" + path, flags)
    }

    package func contents(of path: String, limit: Int) throws(PackageReadingError) -> [UInt8] {
        do throws(RegularFile.ReadingError) {
            return try RegularFile.contents(limit: limit) { open(path, $0) }
        } catch {
            switch error {
            case .notRegular: throw PackageReadingError(path, "not a regular file")
            case .system(EXDEV):
                throw PackageReadingError(path, "the path leaves the package's folder by a link")
            case .system(let code): throw PackageReadingError(path, String(cString: strerror(code)))
            case .tooLarge(let size):
                throw PackageReadingError(
                    path, "the manifest has \(size) bytes; at most \(limit) are supported")
            }
        }
    }

    package func size(of path: String) -> Int64? { try? RegularFile.size { open(path, $0) } }

    /// Returns the identity of a regular file; nil if there is none beneath the folder.
    func identity(of path: String) -> FileIdentity? {
        try? RegularFile.identity { open(path, $0) }
    }
}

/// The reason why a package's folder can't be used.
package enum PackageFolderProblem: Error {
    /// The folder doesn't exist, or can't be opened.
    case unreadable
    /// The folder isn't beneath the root.
    case outsideRoot
}
