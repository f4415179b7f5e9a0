internal import ExactStrings
internal import Glibc
internal import JobSpec
internal import LibAV
internal import FileSystem
internal import Publishing

/// The search for files that patterns match, in the order of their names, folder by folder. The limits apply to all
/// searches of a value together.
struct Globber {
    /// The error of patterns that examine more entries, or match more files, than the limits allow.
    struct TooMany: Error {}

    /// A match or a folder that can't be used. Other matches are still used.
    enum Obstacle {
        /// An unreadable folder, with the `errno`. It is reported because its files are missing from the result.
        case unreadable(folder: String, errno: Int32)
        /// A dangling link, or an entry that is neither a file nor a folder.
        case noFile(path: String)
        /// A matching file whose name isn't UTF-8.
        case noText(path: String)
    }

    private static let entryLimit = 250_000
    private static let matchLimit = 100_000
    private let root: PathRoot
    private let disk: any DiskQueries
    private var folderCount = 0
    private var matchCount = 0
    private var found: [String] = []
    /// Paths in `found`, to report each once: a pattern with two `**` can match a file in several ways.
    private var seen: Set<ExactString> = []
    private var obstacles: [Obstacle] = []
    private static let obstacleLimit = 100

    init(beneath root: PathRoot, on disk: any DiskQueries) { (self.root, self.disk) = (root, disk) }

    /// Returns the matching paths, in the spelling of the pattern, and the obstacles. Relative patterns start from
    /// `base`.
    mutating func paths(_ pattern: String, from base: String) throws(TooMany) -> (
        paths: [String], obstacles: [Obstacle]
    ) {
        (found, seen, obstacles) = ([], [], [])
        for branch in GlobPattern.branches(of: pattern) {
            try walk(
                branch.components[...], folder: branch.isAbsolute ? "/" : base,
                written: branch.isAbsolute ? "/" : "")
        }
        return (found, obstacles)
    }

    /// Walks a folder. The depth is limited by the pattern's components, and by `PATH_MAX` under `**`. `known`: the
    /// folder's entries, if they were read already.
    private mutating func walk(
        _ parts: ArraySlice<[String]>, folder: String, written: String, known: [FolderEntry]? = nil
    ) throws(TooMany) {
        guard let part = parts.first else { return }
        let rest = parts.dropFirst()
        // The folder isn't listed for names without a wildcard.
        if !part.contains(where: GlobPattern.isPattern) {
            for name in part.sorted(by: { $0.exact < $1.exact }) {
                let path = Self.join(folder, name)
                if rest.isEmpty {
                    if disk.type(of: path) == .file { try add(written + name) }
                } else if disk.type(of: path) == .folder {
                    try walk(rest, folder: path, written: written + name + "/")
                }
            }
            return
        }
        let isDeep = part == ["**"]
        var entries = known ?? []
        if known == nil { entries = try self.entries(of: folder) }
        if isDeep {
            // `**` also matches zero folders.
            try walk(rest, folder: folder, written: written, known: entries)
        }
        for entry in entries {
            // `**` doesn't follow symbolic links, which may form a cycle.
            if isDeep, entry.type != .folder || entry.name.utf8.first == 0x2e { continue }
            if !isDeep, !part.contains(where: { GlobPattern.matches(entry.name, $0) }) { continue }
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
                switch entry.type ?? disk.type(of: path) {
                case .file: try add(written + entry.name)
                case .folder: break
                case .other, nil: meet(.noFile(path: path))
                }
            } else if entry.type ?? disk.type(of: path) == .folder {
                try walk(rest, folder: path, written: written + entry.name + "/")
            }
        }
    }

    private mutating func meet(_ obstacle: Obstacle) {
        if obstacles.count < Self.obstacleLimit { obstacles.append(obstacle) }
    }

    private mutating func add(_ path: String) throws(TooMany) {
        guard seen.insert(path.exact).inserted else { return }
        matchCount += 1
        guard matchCount <= Self.matchLimit else { throw TooMany() }
        found.append(path)
    }

    /// Returns whether a folder is beneath the root, with all links and `..` resolved. No other folder is listed.
    private func isReachable(_ folder: String) -> Bool {
        guard root.path != nil else { return true }
        return disk.realPath(of: folder).map { root.contains($0 + "/") } ?? false
    }

    private mutating func entries(of folder: String) throws(TooMany) -> [FolderEntry] {
        guard isReachable(folder) else { return [] }
        do throws(FolderProblem) {
            let entries = try disk.entries(
                of: folder, beneath: .anywhere, limit: Self.entryLimit - folderCount)
            folderCount += entries.count
            return entries.sorted { $0.name.exact < $1.name.exact }
        } catch {
            switch error {
            case .tooMany: throw TooMany()
            // The folder doesn't exist, or was removed meanwhile.
            case .unreadable(ENOENT), .unreadable(ENOTDIR): break
            case .unreadable(let code): meet(.unreadable(folder: folder, errno: code))
            }
            return []
        }
    }

    private static func join(_ folder: String, _ name: String) -> String {
        folder.hasSuffix("/") ? folder + name : folder + "/" + name
    }
}
