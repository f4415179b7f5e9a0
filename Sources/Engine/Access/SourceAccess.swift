internal import Diagnostics
internal import ExactStrings
package import FileSystem
internal import Glibc
package import JobPlan
internal import JobSpec
package import LibAV
internal import Media

/// The files and networks that a command may access. Determined before any file is read.
package struct SourceAccess: Sendable {
    /// Root folder of all paths, and whether sources may be URLs.
    package let sources: SourceEnvironment
    /// Whether the job files are untrusted: environment variables aren't available, a sandbox is required, and the
    /// state is used only if `--state` is given.
    package let isUntrusted: Bool
    /// Prober in this process. Its cache contains at most one opened source.
    package let prober: LocalProber

    /// Root folder beneath which all files must be.
    package var root: PathRoot { sources.root }
    /// Absolute path of the folder beneath which files are read and written; nil without a restriction.
    package var rootFolder: String? { root.path.map { $0.isEmpty ? "/" : $0 } }

    /// Creates an access without checking it.
    package init(sources: SourceEnvironment, isUntrusted: Bool) {
        self.sources = sources
        self.isUntrusted = isUntrusted
        prober = LocalProber(MediaEnvironment(sources: sources, cache: AssetCache(limit: 1)))
    }

    /// Grants access for the given files. If the files are untrusted and no `root` is given, the root is the folder of
    /// the first file.
    /// - Throws: A usage error if no root can be determined; an environment error if the root can't be opened.
    package static func granted(
        root: String?, isUntrusted: Bool, allowsNetwork: Bool, for files: [String]
    ) throws(EngineError) -> SourceAccess {
        if isUntrusted, root == nil {
            guard let file = files.first else {
                throw EngineError(.usage, "--untrusted requires --root here")
            }
            if let linked = firstLink(in: file) {
                throw EngineError(
                    .usage,
                    "\(SafeText.line(linked)) is a symbolic link, with which --untrusted requires --root"
                )
            }
        }
        let folder = root ?? (isUntrusted ? files.first.map(SystemSpecFiles.folder) : nil)
        return SourceAccess(
            sources: SourceEnvironment(root: try Self.root(folder), allowsNetwork: allowsNetwork),
            isUntrusted: isUntrusted)
    }

    /// Opens the root folder; nil allows all paths.
    /// - Throws: An environment error if the folder can't be opened.
    package static func root(_ folder: String?) throws(EngineError) -> PathRoot {
        guard let folder else { return .anywhere }
        guard let root = PathRoot(folder: folder) else {
            throw EngineError(.environment, "can't open the folder \(folder) of --root")
        }
        return root
    }

    /// Returns the first symbolic link among a path's folders; nil if there is none. An untrusted link could make any
    /// folder the root.
    private static func firstLink(in path: String) -> String? {
        var folder = path.utf8.first == UInt8(ascii: "/") ? "" : "."
        for part in path.pathParts.dropLast() {
            folder += "/" + part
            var status = stat()
            if lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFLNK { return folder }
        }
        return nil
    }
}
