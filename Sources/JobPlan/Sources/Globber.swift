internal import ExactStrings
internal import Glibc
internal import JobSpec
internal import LibAV
internal import FileSystem

/// Finds the files that a pattern matches, in the order of their names, folder by folder.
struct Globber {
    /// More folders' entries were looked at than anybody means.
    struct TooMany: Error {}

    /// What a pattern leads to and can't be taken; the rest is.
    enum Obstacle {
        /// A folder can't be looked into, with its `errno`: what it has would be missing without a word.
        case unreadable(folder: String, errno: Int32)
        /// A link that leads nowhere, or something else that is neither file nor folder.
        case noFile(path: String)
        /// A file matches whose name is no UTF-8.
        case noText(path: String)
    }

    private static let entryLimit = 250_000
    private static let matchLimit = 100_000
    private let root: PathRoot
    private var looked = 0
    private var found: [String] = []
    /// A pattern with two `**` leads to one file in several ways.
    private var taken: Set<ExactString> = []
    private var obstacles: [Obstacle] = []
    private static let obstacleLimit = 100

    private init(root: PathRoot) { self.root = root }

    /// The paths, as the pattern writes them, and what stood in its way. `base` is what relative ones start from.
    static func paths(_ pattern: String, from base: String, beneath root: PathRoot) throws(TooMany) -> (
        paths: [String], obstacles: [Obstacle]
    ) {
        var globber = Globber(root: root)
        let isAbsolute = pattern.hasPrefix("/")
        let parts = pattern.pathParts.filter { $0 != "." }
        try globber.walk(parts[...], folder: isAbsolute ? "/" : base, written: isAbsolute ? "/" : "")
        return (globber.found, globber.obstacles)
    }

    /// Depth is bounded by the pattern's parts, and by `PATH_MAX` under `**`.
    /// `known` are the folder's entries where they were read already.
    private mutating func walk(
        _ parts: ArraySlice<String>, folder: String, written: String, known: [Entry]? = nil
    ) throws(TooMany) {
        guard let part = parts.first else { return }
        let rest = parts.dropFirst()
        if !GlobPattern.isPattern(part) {
            let path = Self.join(folder, part)
            if rest.isEmpty {
                if Self.type(of: path) == .file { try add(written + part) }
            } else if Self.type(of: path) == .folder {
                try walk(rest, folder: path, written: written + part + "/")
            }
            return
        }
        let isDeep = part == "**"
        var entries = known ?? []
        if known == nil { entries = try self.entries(of: folder) }
        if isDeep {
            // `**` stands for no folder too.
            try walk(rest, folder: folder, written: written, known: entries)
        }
        for entry in entries {
            // Links are not followed down, or a circle of them would never end.
            if isDeep, !entry.isFolder || entry.name.utf8.first == 0x2e { continue }
            if !isDeep, !GlobPattern.matches(entry.name, part) { continue }
            let path = Self.join(folder, entry.name)
            guard entry.isText else {
                meet(.noText(path: path))
                continue
            }
            if isDeep {
                if path.utf8.count < 4096 {
                    try walk(parts, folder: path, written: written + entry.name + "/")
                }
            } else if rest.isEmpty {
                switch entry.isFile ? .file : entry.isFolder ? .folder : Self.type(of: path) {
                case .file: try add(written + entry.name)
                case .folder: break
                case .other: meet(.noFile(path: path))
                }
            } else if entry.isFolder || !entry.isFile && Self.type(of: path) == .folder {
                try walk(rest, folder: path, written: written + entry.name + "/")
            }
        }
    }

    private mutating func meet(_ obstacle: Obstacle) {
        if obstacles.count < Self.obstacleLimit { obstacles.append(obstacle) }
    }

    private mutating func add(_ path: String) throws(TooMany) {
        guard taken.insert(path.exact).inserted else { return }
        guard found.count < Self.matchLimit else { throw TooMany() }
        found.append(path)
    }

    private struct Entry {
        let name: String
        /// The name is as the folder has it.
        let isText: Bool
        let isFile: Bool
        let isFolder: Bool
    }

    /// Nothing outside the root is listed, whatever link or `..` leads there.
    private func isReachable(_ folder: String) -> Bool {
        guard root.path != nil else { return true }
        guard let real = realpath(folder, nil) else { return false }
        defer { free(real) }
        return root.holds(String(cString: real) + "/")
    }

    private mutating func entries(of folder: String) throws(TooMany) -> [Entry] {
        guard isReachable(folder) else { return [] }
        guard let stream = opendir(folder) else {
            // It is not there, or went meanwhile.
            if errno == ENOENT || errno == ENOTDIR { return [] }
            meet(.unreadable(folder: folder, errno: errno))
            return []
        }
        defer { closedir(stream) }
        var entries: [Entry] = []
        while let entry = readdir(stream) {
            let type = Int32(entry.pointee.d_type)
            let (name, isText) = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) {
                    (String(cString: $0), String(validatingCString: $0) != nil)
                }
            }
            if name == "." || name == ".." { continue }
            looked += 1
            guard looked <= Self.entryLimit else { throw TooMany() }
            entries.append(
                Entry(
                    name: name, isText: isText, isFile: type == Int32(DT_REG), isFolder: type == Int32(DT_DIR)
                ))
        }
        return entries.sorted { $0.name.exact < $1.name.exact }
    }

    private enum Kind {
        case file
        case folder
        case other
    }

    private static func type(of path: String) -> Kind {
        var status = stat()
        guard stat(path, &status) == 0 else { return .other }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFDIR: return .folder
        default: return .other
        }
    }

    private static func join(_ folder: String, _ name: String) -> String {
        folder.hasSuffix("/") ? folder + name : folder + "/" + name
    }
}
