internal import ExactStrings
internal import FileSystem
internal import Locking
internal import Publishing

/// A disk that records the folders whose contents decide which files patterns match.
final class VisitedFolders: DiskQueries {
    private let disk: any DiskQueries
    private let visited = Guarded<Set<ExactString>>([])

    init(on disk: any DiskQueries = SystemDisk()) { self.disk = disk }

    /// The folders that were listed, and those of single files and folders that were looked up.
    var folders: Set<ExactString> { visited.withLock { $0 } }

    private func visit(_ folder: String) {
        // Without trailing slashes, each folder has one spelling.
        let name =
            folder.utf8.count > 1 && folder.utf8.last == UInt8(ascii: "/")
            ? String(folder.dropLast()) : folder
        visited.withLock { _ = $0.insert(name.exact) }
    }

    func type(of path: String) -> FolderEntry.FileType? {
        visit(path.parentFolder)
        return disk.type(of: path)
    }

    func entries(
        of folder: String, beneath root: PathRoot, limit: Int
    ) throws(FolderProblem) -> [FolderEntry] {
        visit(folder)
        return try disk.entries(of: folder, beneath: root, limit: limit)
    }

    func identity(of path: String) -> FileIdentity? { disk.identity(of: path) }
    func realPath(of path: String) -> String? { disk.realPath(of: path) }
    func freeSpace(in folder: String) -> Int64? { disk.freeSpace(in: folder) }
    func isWritable(_ folder: String) -> Bool { disk.isWritable(folder) }
    func occupant(
        of path: String, owner: String?, kind: DestinationPath.Kind
    ) -> DestinationPath.Occupant {
        disk.occupant(of: path, owner: owner, kind: kind)
    }
    func mark(at path: String) -> DestinationPath.Mark? { disk.mark(at: path) }
    func isMarked(_ path: String) -> Bool { disk.isMarked(path) }
}
