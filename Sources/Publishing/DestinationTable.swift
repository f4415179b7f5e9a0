internal import ExactStrings

/// A cache of resolved destinations, in which each folder is resolved once.
package struct DestinationTable {
    private let disk: any DiskQueries
    private var folders: [Substring: DestinationPath?] = [:]

    /// Creates an empty cache.
    package init(on disk: any DiskQueries = SystemDisk()) { self.disk = disk }

    /// Returns the destination at a path; nil if the path can't be a destination.
    package mutating func resolve(_ path: String) -> DestinationPath? {
        guard let slash = path.lastSlash else { return DestinationPath(path, on: disk) }
        let name = String(path[path.index(after: slash)...])
        guard !name.isEmpty, name != ".", name != ".." else { return DestinationPath(path, on: disk) }
        let folder = path[..<slash]
        if let known = folders[folder] { return known?.sibling(name) }
        let resolved = DestinationPath(path, on: disk)
        folders[folder] = .some(resolved)
        return resolved
    }
}
