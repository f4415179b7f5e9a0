package import FileSystem
internal import CLinux
internal import FoundationEssentials
internal import Glibc

/// Queries of the file system for planning, which opens no file. `SystemDisk` passes them to the system.
package protocol DiskQueries: Sendable {
    /// Returns the identity of a path, following links; nil if it doesn't exist (`stat`).
    func identity(of path: String) -> FileIdentity?
    /// Returns the absolute path of an existing file or folder, with all links resolved; nil if there is none
    /// (`realpath`).
    func realPath(of path: String) -> String?
    /// Returns the names in a folder, in any order; none if it can't be read (`readdir`).
    func names(in folder: String) -> [String]
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

/// The file system of this machine.
package struct SystemDisk: DiskQueries {
    package init() {}

    package func identity(of path: String) -> FileIdentity? { FileIdentity(path: path) }
    package func realPath(of path: String) -> String? { RealPath.of(path) }

    package func names(in folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
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
