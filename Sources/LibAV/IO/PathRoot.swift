internal import ExactStrings
internal import CLinux
internal import Glibc
internal import Locking

/// Keeps everything that is read and written beneath one folder, whatever links and `..` a path has: one gate a process,
/// closed once (`openat2` with `RESOLVE_BENEATH`).
public enum PathRoot {
    private struct Root: Sendable {
        let path: String
        let descriptor: Int32
    }
    private static let root = Guarded<Root?>(nil)

    /// From now on nothing outside a folder is opened. False where the folder can't be.
    public static func confine(to folder: String) -> Bool {
        guard let real = realpath(folder, nil) else { return false }
        defer { free(real) }
        let descriptor = Glibc.open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        let path = String(cString: real)
        root.withLock { $0 = Root(path: path == "/" ? "" : path, descriptor: descriptor) }
        return true
    }

    /// The folder; nil where there is none.
    public static var path: String? { root.withLock { $0?.path } }

    /// A path whose links are resolved lies beneath the folder, or there is none.
    public static func holds(_ path: String) -> Bool {
        guard let root = self.path else { return true }
        return path.hasExactPrefix(root + "/") && !path.pathParts.contains("..")
    }

    /// `open(2)`, beneath the folder where there is one: -1 with EXDEV for what leads out of it.
    public static func open(_ path: String, _ flags: Int32) -> Int32 {
        guard let root = root.withLock({ $0 }) else { return Glibc.open(path, flags) }
        guard path.utf8.elementsEqual(root.path.utf8) || path.hasExactPrefix(root.path + "/") else {
            errno = EXDEV
            return -1
        }
        let rest = String(
            decoding: path.utf8.dropFirst(root.path.utf8.count).drop { $0 == UInt8(ascii: "/") },
            as: UTF8.self)
        return tandem_open_beneath(root.descriptor, rest.isEmpty ? "." : rest, flags)
    }
}
