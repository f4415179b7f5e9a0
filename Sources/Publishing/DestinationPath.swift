internal import CLinux
internal import ExactStrings
internal import FileSystem
internal import Glibc

/// The absolute path of a destination. Folders are compared by device and inode, regardless of the links that
/// lead to them.
package struct DestinationPath: Hashable, Sendable {
    /// Absolute path, with links of existing folders resolved.
    package let path: String
    /// Deepest existing folder of the path, with links resolved.
    package let existingFolder: String
    /// Components of the path that don't exist yet, including the file's name.
    package let missing: [String]
    private let device: UInt64
    private let inode: UInt64

    /// Name of the extended attribute that contains the mark of a published output.
    package static let attribute = "user.tandem.plan"

    /// Resolves an absolute path. Returns nil if no part of it exists, or if part of it is a file.
    package init?(_ absolute: String, on disk: any DiskQueries = SystemDisk()) {
        var rest: [String] = []
        var components = absolute.pathParts.filter { $0 != "." }
        guard let name = components.popLast() else { return nil }
        // The system resolves the deepest existing folder. Missing components can't be links.
        while true {
            let candidate = "/" + components.joined(separator: "/")
            if let identity = disk.identity(of: candidate) {
                guard identity.isDirectory, let real = disk.realPath(of: candidate) else { return nil }
                existingFolder = real
                device = identity.device
                inode = identity.inode
                break
            }
            guard let last = components.popLast() else { return nil }
            rest.insert(last, at: 0)
        }
        // `..` after a missing folder removes that folder; further `..` make the path invalid.
        var folders: [String] = []
        for part in rest {
            if part == ".." {
                guard folders.popLast() != nil else { return nil }
            } else {
                folders.append(part)
            }
        }
        missing = folders + [name]
        path = (existingFolder == "/" ? "" : existingFolder) + "/" + missing.joined(separator: "/")
    }

    /// Returns the destination with another file name in the same folder, without resolving the folder again.
    package func sibling(_ name: String) -> DestinationPath {
        DestinationPath(
            path: String(path[...(path.lastSlash ?? path.startIndex)]) + name,
            existingFolder: existingFolder, missing: missing.dropLast() + [name], device: device, inode: inode
        )
    }

    /// Returns the destination of a file in the folder at this path.
    package func child(_ name: String) -> DestinationPath {
        DestinationPath(
            path: path + "/" + name, existingFolder: existingFolder, missing: missing + [name],
            device: device,
            inode: inode)
    }

    private init(path: String, existingFolder: String, missing: [String], device: UInt64, inode: UInt64) {
        self.path = path
        self.existingFolder = existingFolder
        self.missing = missing
        self.device = device
        self.inode = inode
    }

    /// Name of the file without its extension.
    package var stem: String { (missing.last ?? "").nameParts.stem }

    /// Path of the destination's folder.
    package var folder: String { String(path[..<(path.lastSlash ?? path.startIndex)]) }

    /// The kind of an output: a file, or a folder that is published as a whole.
    package enum Kind: Sendable {
        case file
        case folder
    }

    /// The kind of file or folder that exists at a path.
    package enum Occupant: Sendable {
        /// No file or folder exists at the path. An output that is a folder also accepts an empty one.
        case nothing
        /// A device, or a file or folder of another kind than the output, which can't be replaced.
        case wrongKind
        /// A file or folder that wasn't published for the owner, or that was changed afterwards.
        case foreign
        /// An unchanged file or folder that was published for the owner.
        case published
    }

    /// Returns what exists at the path of an output. An output that was published for another owner is `foreign`; a nil
    /// `owner` accepts any owner.
    package static func occupant(of path: String, owner: String?, kind: Kind = .file) -> Occupant {
        var status = stat()
        guard lstat(path, &status) == 0 else { return .nothing }
        switch (status.st_mode & S_IFMT, kind) {
        case (S_IFREG, .file): break
        case (S_IFLNK, .file):
            // A link to a device, a pipe or a folder can't be replaced either.
            var target = stat()
            return stat(path, &target) == 0 && target.st_mode & S_IFMT != S_IFREG ? .wrongKind : .foreign
        case (S_IFDIR, .folder):
            if FolderTree.isEmpty(path) { return .nothing }
        default: return .wrongKind
        }
        guard let mark = mark(at: path) else { return .foreign }
        return owner == nil || mark.owner == owner ? .published : .foreign
    }

    /// Name of the extended attribute that contains the mark of an output that failed its expectations and was kept.
    package static let failureAttribute = "user.tandem.failed"

    /// Returns whether the file at a path is an unchanged output of a job that failed its expectations and was kept.
    package static func isKeptFailure(of job: String, at path: String) -> Bool {
        mark(at: path, attribute: failureAttribute)?.job.exact == job.exact
    }

    /// Returns the mark of an output that is unchanged since it was published; nil if there is no mark, or if the
    /// file was changed.
    package static func mark(at path: String, attribute: String = attribute) -> Mark? {
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = tandem_getxattr(path, attribute, &bytes, bytes.count)
        guard count > 0, let mark = Mark(String(decoding: bytes.prefix(count), as: UTF8.self)),
            TemporaryFile.fingerprint(path: path) == mark.output
        else { return nil }
        return mark
    }

    /// Returns a message about a file that is not an unchanged output of the job file.
    package static func foreign(at path: String, on disk: any DiskQueries = SystemDisk()) -> String {
        if disk.mark(at: path) != nil { return "the destination was published for another job file" }
        return disk.isMarked(path)
            ? "the destination was changed since Tandem published it"
            : "the destination exists, and Tandem did not publish it"
    }

    /// Identifier of the file system (`st_dev`).
    package var fileSystem: UInt64 { device }

    /// Returns whether the paths are equal below the same existing folder.
    package static func == (a: DestinationPath, b: DestinationPath) -> Bool {
        a.device == b.device && a.inode == b.inode
            && a.missing.elementsEqual(b.missing) { $0.exact == $1.exact }
    }
    package func hash(into hasher: inout Hasher) {
        hasher.combine(device)
        hasher.combine(inode)
        for part in missing { hasher.combine(part.exact) }
    }
}
