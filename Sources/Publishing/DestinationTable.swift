internal import ExactStrings

/// Destinations by their paths; the folder of many is looked at once.
package struct DestinationTable {
    private var folders: [Substring: DestinationPath?] = [:]

    /// None is known yet.
    package init() {}

    /// The destination at a path; nil where none can be.
    package mutating func resolve(_ path: String) -> DestinationPath? {
        guard let slash = path.lastSlash else { return DestinationPath(path) }
        let name = String(path[path.index(after: slash)...])
        guard !name.isEmpty, name != ".", name != ".." else { return DestinationPath(path) }
        let folder = path[..<slash]
        if let known = folders[folder] { return known?.sibling(name) }
        let made = DestinationPath(path)
        folders[folder] = .some(made)
        return made
    }
}
