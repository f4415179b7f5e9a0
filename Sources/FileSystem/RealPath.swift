internal import Glibc

/// The resolution of paths to absolute paths without links, `.` and `..`.
package enum RealPath {
    /// Returns the absolute path of an existing file or folder, with all links resolved; nil if it doesn't exist or a
    /// folder of the path can't be searched (`realpath`).
    package static func of(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
