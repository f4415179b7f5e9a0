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

    /// Returns the absolute form of a path; links are resolved if the path exists.
    package static func absolute(_ path: String) -> String {
        if let real = of(path) { return real }
        guard !path.hasPrefix("/"), let here = getcwd(nil, 0) else { return path }
        defer { free(here) }
        return String(cString: here) + "/" + path
    }

    /// Returns the absolute path of a job file. Links in its folder are resolved; a link of the file itself is not,
    /// because the folder through which a file is read determines its relative paths.
    package static func absolute(file: String) -> String {
        guard let slash = file.utf8.lastIndex(of: 0x2f) else { return absolute(".") + "/" + file }
        let folder = slash == file.startIndex ? "/" : String(file[..<slash])
        let name = String(file[file.index(after: slash)...])
        let real = absolute(folder)
        return (real == "/" ? "" : real) + "/" + name
    }
}
