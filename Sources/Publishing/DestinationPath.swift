internal import CLinux
internal import ExactStrings
internal import FileSystem
internal import Glibc

/// A destination's absolute path and what tells it from every other, whatever links lead there.
package struct DestinationPath: Hashable, Sendable {
    /// The absolute path, with links of existing folders resolved.
    package let path: String
    /// The folder that exists, and what of the path is still to be made.
    package let existingFolder: String
    /// What of the path is still to be made.
    package let missing: [String]
    private let device: UInt64
    private let inode: UInt64

    /// The extended attribute that marks what Tandem published.
    package static let attribute = "user.tandem.plan"

    /// Resolves an absolute path. Nil where no part of it exists, or part of it is a file.
    package init?(_ absolute: String) {
        var rest: [String] = []
        var components = absolute.pathParts.filter { $0 != "." }
        guard let name = components.popLast() else { return nil }
        // The deepest folder that exists is looked at by the system; what is missing can have no links.
        while true {
            let candidate = "/" + components.joined(separator: "/")
            if let identity = FileIdentity(path: candidate) {
                guard identity.isDirectory, let real = Self.resolve(candidate) else { return nil }
                existingFolder = real
                device = identity.device
                inode = identity.inode
                break
            }
            guard let last = components.popLast() else { return nil }
            rest.insert(last, at: 0)
        }
        // `..` after a folder that doesn't exist yet can only mean the one before it.
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

    private static func resolve(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// The same in another name's place: outputs of one folder are resolved once.
    package func sibling(_ name: String) -> DestinationPath {
        DestinationPath(
            path: String(path[...(path.lastSlash ?? path.startIndex)]) + name,
            existingFolder: existingFolder, missing: missing.dropLast() + [name], device: device, inode: inode
        )
    }

    private init(path: String, existingFolder: String, missing: [String], device: UInt64, inode: UInt64) {
        self.path = path
        self.existingFolder = existingFolder
        self.missing = missing
        self.device = device
        self.inode = inode
    }

    /// The file's name without what stands behind its last dot.
    package var stem: String { (missing.last ?? "").nameParts.stem }

    /// The folder that the output will lie in.
    package var folder: String { String(path[..<(path.lastSlash ?? path.startIndex)]) }

    /// What is there now.
    package enum Occupant: Sendable {
        /// Nothing.
        case nothing
        /// A folder or something else that can't be replaced.
        case notAFile
        /// Somebody's file.
        case foreign
        /// A file that Tandem published.
        case published
    }

    /// Looks at what is at a path now. What another job file than `owner` published is somebody else's.
    package static func occupant(of path: String, owner: String?) -> Occupant {
        var status = stat()
        guard lstat(path, &status) == 0 else { return .nothing }
        let type = status.st_mode & S_IFMT
        guard type == S_IFREG || type == S_IFLNK else { return .notAFile }
        if type == S_IFLNK {
            // What leads to a device, a pipe or a folder is as little a file as those are.
            var target = stat()
            return stat(path, &target) == 0 && target.st_mode & S_IFMT != S_IFREG ? .notAFile : .foreign
        }
        guard let mark = mark(at: path) else { return .foreign }
        return owner == nil || mark.owner == owner ? .published : .foreign
    }

    /// The extended attribute that marks an output which failed its expectations and was kept.
    package static let failureAttribute = "user.tandem.failed"

    /// A kept failure of that job is at a path, and nobody wrote into it since.
    package static func isKeptFailure(of job: String, at path: String) -> Bool {
        mark(at: path, attribute: failureAttribute)?.job.exact == job.exact
    }

    /// The mark of an output that nobody wrote into since; nil where there is none.
    package static func mark(at path: String, attribute: String = attribute) -> Mark? {
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = tandem_getxattr(path, attribute, &bytes, bytes.count)
        guard count > 0, let mark = Mark(String(decoding: bytes.prefix(count), as: UTF8.self)),
            TemporaryFile.fingerprint(path: path) == mark.output
        else { return nil }
        return mark
    }

    /// What is said of a file that is not as Tandem left it.
    package static func foreign(at path: String) -> String {
        var byte: UInt8 = 0
        // A buffer that is too small is said by a number below 0 as well, with another reason.
        if mark(at: path) != nil { return "the destination was published for another job file" }
        return tandem_getxattr(path, attribute, &byte, 1) >= 0 || errno == ERANGE
            ? "the destination was changed since Tandem published it"
            : "the destination exists, and Tandem did not publish it"
    }

    /// Bytes that are free on its file system, for this user; nil where that can't be told.
    package var freeSpace: Int64? {
        var status = statvfs()
        // Some, as those in memory alone, tell nothing.
        guard statvfs(existingFolder, &status) == 0, status.f_blocks > 0 else { return nil }
        return Int64(
            clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
                .partialValue)
    }

    /// Tells file systems apart.
    package var fileSystem: UInt64 { device }

    /// The folder exists and can be written, as far as can be told without writing.
    package var isFolderWritable: Bool { access(existingFolder, W_OK | X_OK) == 0 }

    /// The same place on the same device.
    package static func == (a: DestinationPath, b: DestinationPath) -> Bool {
        a.device == b.device && a.inode == b.inode
            && a.missing.elementsEqual(b.missing) { $0.exact == $1.exact }
    }
    /// As `==`.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(device)
        hasher.combine(inode)
        for part in missing { hasher.combine(part.exact) }
    }
}
