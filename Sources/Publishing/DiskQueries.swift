package import FileSystem
internal import CLinux
internal import Glibc

/// Queries of the file system for planning, which opens no file. `SystemDisk` passes them to the system.
package protocol DiskQueries: Sendable {
    /// Returns the identity of a path, following links; nil if it doesn't exist (`stat`).
    func identity(of path: String) -> FileIdentity?
    /// Returns the absolute path of an existing file or folder, with all links resolved; nil if there is none
    /// (`realpath`).
    func realPath(of path: String) -> String?
    /// Returns the type of a path, following links; nil if it doesn't exist (`stat`).
    func type(of path: String) -> FolderEntry.FileType?
    /// Returns the entries of a folder beneath a root, in any order (`readdir`).
    /// - Throws: `FolderProblem` if the folder can't be read, or has more entries than `limit`.
    func entries(
        of folder: String, beneath root: PathRoot, limit: Int
    ) throws(FolderProblem) -> [FolderEntry]
    /// Returns the free bytes on a folder's file system for this user; nil if unknown (`statvfs`).
    func freeSpace(in folder: String) -> Int64?
    /// Returns whether files can be created in a folder, as far as this can be determined without writing (`access`).
    func isWritable(_ folder: String) -> Bool
    /// Returns what exists at the path of an output of that kind, for an owner; nil accepts any owner.
    func occupant(of path: String, owner: String?, kind: DestinationPath.Kind) -> DestinationPath.Occupant
    /// Returns the mark of an output that is unchanged since its publication; nil if there is none.
    func mark(at path: String) -> DestinationPath.Mark?
    /// Returns whether a file has a mark, even one of an earlier content.
    func isMarked(_ path: String) -> Bool
}

/// An entry of a folder, other than `.` and `..`.
package struct FolderEntry: Sendable {
    package enum FileType: Sendable {
        case file
        case folder
        /// A pipe, a socket or a device.
        case other
    }

    /// Name; bytes that aren't UTF-8 are replaced.
    package var name: String
    /// Whether the name is valid UTF-8.
    package var isText: Bool
    /// Type of the entry; nil for a link, and if the file system doesn't state it.
    package var type: FileType?

    package init(name: String, isText: Bool = true, type: FileType?) {
        (self.name, self.isText, self.type) = (name, isText, type)
    }
}

/// The error of a folder whose entries can't be listed.
package enum FolderProblem: Error {
    /// The folder can't be opened, with the `errno`.
    case unreadable(errno: Int32)
    /// The folder has more entries than the limit.
    case tooMany
}

/// The file system of this machine.
package struct SystemDisk: DiskQueries {
    package init() {}

    package func identity(of path: String) -> FileIdentity? { FileIdentity(path: path) }
    package func realPath(of path: String) -> String? { RealPath.of(path) }

    package func type(of path: String) -> FolderEntry.FileType? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFDIR: return .folder
        default: return .other
        }
    }

    package func entries(
        of folder: String, beneath root: PathRoot, limit: Int
    ) throws(FolderProblem) -> [FolderEntry] {
        let descriptor = root.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(errno: errno) }
        guard let stream = fdopendir(descriptor) else {
            let code = errno
            close(descriptor)
            throw .unreadable(errno: code)
        }
        defer { closedir(stream) }
        var entries: [FolderEntry] = []
        while let entry = readdir(stream) {
            let (name, isText) = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) {
                    (String(cString: $0), String(validatingCString: $0) != nil)
                }
            }
            if name == "." || name == ".." { continue }
            guard entries.count < limit else { throw .tooMany }
            let type: FolderEntry.FileType? =
                switch Int32(entry.pointee.d_type) {
                case Int32(DT_REG): .file
                case Int32(DT_DIR): .folder
                case Int32(DT_LNK), Int32(DT_UNKNOWN): nil
                default: .other
                }
            entries.append(FolderEntry(name: name, isText: isText, type: type))
        }
        return entries
    }

    package func freeSpace(in folder: String) -> Int64? {
        var status = statvfs()
        // Some file systems, such as those in memory, report no size.
        guard statvfs(folder, &status) == 0, status.f_blocks > 0 else { return nil }
        return Int64(
            clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
                .partialValue)
    }

    package func isWritable(_ folder: String) -> Bool { access(folder, W_OK | X_OK) == 0 }

    package func occupant(
        of path: String, owner: String?, kind: DestinationPath.Kind
    ) -> DestinationPath.Occupant {
        DestinationPath.occupant(of: path, owner: owner, kind: kind)
    }

    package func mark(at path: String) -> DestinationPath.Mark? { DestinationPath.mark(at: path) }

    package func isMarked(_ path: String) -> Bool {
        var byte: UInt8 = 0
        // A buffer that is too small results in a negative number too, with ERANGE.
        return tandem_getxattr(path, DestinationPath.attribute, &byte, 1) >= 0 || errno == ERANGE
    }
}
