internal import ExactStrings
internal import Glibc
internal import Locking

/// Files that are open already, perhaps by another process, by the paths under which they are asked for: who may open
/// nothing itself still reads what it was given.
public final class PassedDescriptors: Sendable {
    private let files = Guarded<[ExactString: Int32]>([:])

    /// None.
    public init() {}

    /// From now on a path is read through this descriptor, which must stay open until it is taken back.
    public func lend(_ descriptor: Int32, for path: String) {
        files.withLock { $0[path.exact] = descriptor }
    }

    /// Nothing is read through them any more: they may be closed, and their numbers become other files'. Whoever comes late opens
    /// what lies at the path, as far as it may.
    public func takeBack() { files.withLock { $0 = [:] } }

    /// A descriptor of its own for whoever asks for a path; nil where it is not lent.
    func duplicate(_ path: String) -> Int32? {
        files.withLock { files in
            guard let descriptor = files[path.exact] else { return nil }
            let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
            return copy >= 0 ? copy : nil
        }
    }
}
