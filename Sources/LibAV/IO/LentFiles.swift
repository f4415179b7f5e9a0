internal import ExactStrings
internal import Glibc
internal import Locking

/// Files that another process opened for this one, by the paths under which they are asked for: a process that may open
/// nothing itself still reads what it was given.
public enum LentFiles {
    private static let files = Guarded<[ExactString: Int32]>([:])

    /// From now on a path is read through this descriptor, which must stay open until it is taken back.
    public static func lend(_ descriptor: Int32, for path: String) {
        files.withLock { $0[path.exact] = descriptor }
    }

    /// Takes one back.
    public static func takeBack(_ path: String) { files.withLock { $0[path.exact] = nil } }

    /// Takes all of them back.
    public static func takeBack() { files.withLock { $0 = [:] } }

    /// A descriptor of its own for whoever asks for a path; nil where it is not lent.
    static func duplicate(_ path: String) -> Int32? {
        files.withLock { files in
            guard let descriptor = files[path.exact] else { return nil }
            let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
            return copy >= 0 ? copy : nil
        }
    }
}
