import FileSystem
import Locking
import Publishing

/// A file system of values. It has the folders of its files, and those that are added.
struct FakeDisk: DiskQueries {
    private var files: Set<String> = []
    private var folders: Set<String> = ["/"]
    /// Targets of links to folders and files, by path.
    var links: [String: String] = [:]
    /// Marks of outputs that are unchanged.
    var marks: [String: DestinationPath.Mark] = [:]
    /// Paths of outputs that were changed since they were marked.
    var changed: Set<String> = []
    /// Free bytes of the file system; nil if unknown.
    var space: Int64?
    /// Other file systems, with their device numbers and free bytes, by the folders at which they are mounted.
    var mounts: [String: (device: UInt64, space: Int64?)] = [:]
    /// Folders in which no file can be created.
    var readOnly: Set<String> = []
    /// The paths whose identities were queried; shared by copies.
    let queries = QueryLog()

    final class QueryLog: Sendable {
        private let log = Guarded([String]())
        var paths: [String] { log.withLock { $0 } }
        func add(_ path: String) { log.withLock { $0.append(path) } }
    }

    init(_ files: String..., folders: [String] = []) {
        for file in files { add(file) }
        for folder in folders { add(folder + "/.") }
    }

    mutating func add(_ file: String) {
        var folder = ""
        for part in file.split(separator: "/").dropLast() {
            folder += "/" + part
            folders.insert(folder)
        }
        if !file.hasSuffix("/.") { files.insert(file) }
    }

    /// Returns the path without links, `.` and `..`. After a missing folder, `..` leads nowhere.
    private func resolved(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == ".." {
                guard folders.contains("/" + parts.joined(separator: "/")) else { return "" }
                _ = parts.popLast()
                continue
            }
            parts.append(part)
            if let target = links["/" + parts.joined(separator: "/")] {
                parts = target.split(separator: "/")
            }
        }
        return "/" + parts.joined(separator: "/")
    }

    func realPath(of path: String) -> String? {
        let path = resolved(path)
        return files.contains(path) || folders.contains(path) ? path : nil
    }

    func identity(of path: String) -> FileIdentity? {
        queries.add(path)
        guard let path = realPath(of: path) else { return nil }
        let isFolder = folders.contains(path)
        let number = path.utf8.reduce(UInt64(1)) { $0 &* 31 &+ UInt64($1) }
        return FileIdentity(device: mount(of: path)?.device ?? 1, inode: number, isDirectory: isFolder)
    }

    func names(in folder: String) -> [String] {
        let start = folder + "/"
        return files.union(folders).filter { $0.hasPrefix(start) }
            .map { String($0.dropFirst(start.count)) }.filter { !$0.contains("/") }
    }

    private func mount(of path: String) -> (device: UInt64, space: Int64?)? {
        mounts.first { path == $0.key || path.hasPrefix($0.key + "/") }?.value
    }

    func freeSpace(in folder: String) -> Int64? {
        mount(of: folder).map(\.space) ?? space
    }
    func isWritable(_ folder: String) -> Bool { !readOnly.contains(folder) }

    func occupant(
        of path: String, owner: String?, kind: DestinationPath.Kind
    ) -> DestinationPath.Occupant {
        guard let path = realPath(of: path) else { return .nothing }
        guard kind == .file ? files.contains(path) : folders.contains(path) else { return .wrongKind }
        if kind == .folder, names(in: path).isEmpty { return .nothing }
        guard let mark = marks[path] else { return .foreign }
        return owner == nil || mark.owner == owner ? .published : .foreign
    }

    func mark(at path: String) -> DestinationPath.Mark? { marks[resolved(path)] }
    func isMarked(_ path: String) -> Bool { mark(at: path) != nil || changed.contains(path) }
}
