internal import ExactStrings

/// Short names of files for the user: the last component of each path, with the folders that distinguish equal names.
package struct FileNames {
    private var names: [ExactString: String] = [:]

    /// Creates the names of some absolute paths.
    package init(_ paths: some Sequence<String>) {
        let all = Set(paths.map(\.exact)).map(\.text)
        let parts = all.map(\.pathParts)
        for (path, own) in zip(all, parts) {
            var count = 1
            while count < own.count,
                parts.count(where: { Self.suffix($0, count) == Self.suffix(own, count) }) > 1
            {
                count += 1
            }
            names[path.exact] = own.suffix(count).joined(separator: "/")
        }
    }

    private static func suffix(_ parts: [String], _ count: Int) -> [ExactString] {
        parts.suffix(count).map(\.exact)
    }

    /// Returns the name of a path; the path itself if it is not one of those that the names were created for.
    package subscript(path: String) -> String { names[path.exact] ?? path }
}

extension OutputPlan {
    /// Names of the subtitle files that the output reads.
    package var fileNames: FileNames { FileNames(allTracks.compactMap(\.file?.path)) }
}
