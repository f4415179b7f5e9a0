internal import ExactStrings
internal import CLinux
internal import Glibc

/// A folder beneath which everything lies that is read and written, whatever links and `..` a path has (`openat2` with
/// `RESOLVE_BENEATH`); or none, which is everywhere.
public final class PathRoot: Sendable {
    /// The folder, without a slash at its end; nil where there is none.
    public let path: String?
    private let descriptor: Int32

    /// Everything that the system lets this process have.
    public static let anywhere = PathRoot(path: nil, descriptor: -1)

    private init(path: String?, descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Nothing outside a folder. Nil where it can't be opened.
    public convenience init?(folder: String) {
        guard let real = realpath(folder, nil) else { return nil }
        defer { free(real) }
        let descriptor = Glibc.open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let path = String(cString: real)
        self.init(path: path == "/" ? "" : path, descriptor: descriptor)
    }

    /// A path whose links are resolved lies beneath the folder, or there is none.
    public func holds(_ path: String) -> Bool {
        guard let root = self.path else { return true }
        return path.hasExactPrefix(root + "/") && !path.pathParts.contains("..")
    }

    /// `open(2)`, beneath the folder where there is one: -1 with EXDEV for what leads out of it.
    public func open(_ path: String, _ flags: Int32) -> Int32 {
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
