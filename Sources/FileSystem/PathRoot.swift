internal import ExactStrings
internal import CLinux
internal import Glibc

/// A root folder beneath which all files are read and written, regardless of links and `..` in paths (`openat2` with
/// `RESOLVE_BENEATH`). Without a root, all paths are allowed.
public final class PathRoot: Sendable {
    /// Path of the folder, without a slash at its end; nil if there is no root.
    public let path: String?
    private let descriptor: Int32

    /// No root: every path is allowed.
    public static let anywhere = PathRoot(path: nil, descriptor: -1)

    private init(path: String?, descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Creates a root at a folder; nil if the folder can't be opened.
    public convenience init?(folder: String) {
        guard let path = RealPath.of(folder) else { return nil }
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        self.init(path: path == "/" ? "" : path, descriptor: descriptor)
    }

    /// Returns whether a path with resolved links is beneath the folder, or there is no root.
    public func contains(_ path: String) -> Bool {
        guard let root = self.path else { return true }
        return path.hasExactPrefix(root + "/") && !path.pathParts.contains("..")
    }

    /// `O_PATH`, which Swift's Glibc module lacks.
    private static let pathOnly: Int32 = 0o10_000_000

    /// Returns whether a path leaves the folder, by its text or by links; false for a path that doesn't exist.
    package func excludes(_ path: String) -> Bool {
        guard self.path != nil else { return false }
        let descriptor = open(path, Self.pathOnly | O_CLOEXEC)
        if descriptor < 0 { return errno == EXDEV }
        close(descriptor)
        return false
    }

    /// Calls `open(2)`, beneath the folder if there is a root. Returns -1 with EXDEV for a path that leaves the
    /// folder.
    package func open(_ path: String, _ flags: Int32) -> Int32 {
        guard let root = self.path else { return Glibc.open(path, flags) }
        guard path.utf8.elementsEqual(root.utf8) || path.hasExactPrefix(root + "/") else {
            errno = EXDEV
            return -1
        }
        let rest = String(
            decoding: path.utf8.dropFirst(root.utf8.count).drop { $0 == UInt8(ascii: "/") }, as: UTF8.self)
        return tandem_open_beneath(descriptor, rest.isEmpty ? "." : rest, flags)
    }
}
