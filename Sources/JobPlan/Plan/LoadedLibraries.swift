internal import ExactStrings
internal import CLinux
internal import Glibc

/// The shared libraries that are loaded by this process.
enum LoadedLibraries {
    /// File names of the libraries with links resolved, such as `libx264.so.164`.
    static let names: [String] = {
        guard let text = tandem_loaded_libraries() else { return [] }
        defer { free(text) }
        return String(cString: text).split(separator: "\n").map { path in
            path.pathParts.last ?? String(path)
        }
    }()
}
