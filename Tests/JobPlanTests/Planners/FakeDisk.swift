import FileSystem
import Glibc
import Locking
import Publishing

/// A file system of values. It has the folders of its files, and those that are added.
struct FakeDisk: DiskQueries {
    private var files: Set<String> = []
    private var folders: Set<String> = ["/"]
    /// Targets of links to folders and files, by path.
    var links: [String: String] = [:]
    /// Folders that can't be read, with their `errno`.
    var unreadable: [String: Int32] = [:]
    /// Numbers of other entries in folders.
    var crowded: [String: Int] = [:]
    /// Pipes, sockets and devices among the files.
    var special: Set<String> = []
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

    func type(of path: String) -> FolderEntry.FileType? {
        guard let path = realPath(of: path) else { return nil }
        return folders.contains(path) ? .folder : special.contains(path) ? .other : .file
    }

    func entries(
        of folder: String, beneath root: PathRoot, limit: Int
    ) throws(FolderProblem) -> [FolderEntry] {
        let folder = resolved(folder)
        if let code = unreadable[folder] { throw .unreadable(errno: code) }
        guard folders.contains(folder) else { throw .unreadable(errno: ENOENT) }
        guard root.contains(folder + "/") else { throw .unreadable(errno: EXDEV) }
        let start = folder == "/" ? folder : folder + "/"
        let entries = files.union(folders).union(links.keys).filter { $0.hasPrefix(start) }
            .map { String($0.dropFirst(start.count)) }.filter { !$0.isEmpty && !$0.contains("/") }
            .map {
                FolderEntry(
                    name: $0, isText: !$0.contains("\u{FFFD}"),
                    type: links[start + $0] == nil ? type(of: start + $0) : nil)
            }
        let others = crowded[folder] ?? 0
        guard entries.count + others <= limit else { throw .tooMany }
        return entries + (0..<others).map { FolderEntry(name: "other\($0)", type: .other) }
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
        let entries = try? entries(of: path, beneath: .anywhere, limit: .max)
        if kind == .folder, entries?.isEmpty == true { return .nothing }
        guard let mark = marks[path] else { return .foreign }
        return owner == nil || mark.owner == owner ? .published : .foreign
    }

    func mark(at path: String) -> DestinationPath.Mark? { marks[resolved(path)] }
    func isMarked(_ path: String) -> Bool { mark(at: path) != nil || changed.contains(path) }
}
