internal import CLinux
package import FileSystem
internal import Glibc
internal import Locking
internal import SystemPackage

/// A file that is complete or absent: written without a name in its destination's folder, and linked there
/// once it is finished and on disk.
///
/// `O_TMPFILE` where the file system has it, a `.name.<attempt>.part` otherwise, which a lock marks as alive
/// so that the next run can tell dead ones.
///
/// Unchecked `Sendable`: the descriptor is fixed; the state is behind the mutex.
package final class TemporaryFile: @unchecked Sendable {
    /// Where it will be published.
    package let destination: String
    /// Open for reading and writing; owned by this object.
    package let descriptor: Int32
    let directory: String
    let directoryDescriptor: Int32
    let name: String

    struct State {
        /// Its name while it has one in the folder.
        var partName: String?
        var isPublished = false
        /// The name under which what it replaced is kept, until it is forgotten.
        var replaced: String?
        /// Locks that, so that no other run takes it for a dead one's.
        var replacedLock: Int32 = -1
        /// What it replaced has no other name.
        var isAside = false
        var publishedName: String?
        var hasReplaced = false

        mutating func unlock() {
            if replacedLock >= 0 { close(replacedLock) }
            replacedLock = -1
        }
    }
    let state: Guarded<State>

    /// Makes an unnamed file in the destination's folder, which must exist.
    package init(destination: String, in root: PathRoot) throws {
        let path = FilePath(destination)
        let folder = path.removingLastComponent()
        directory = folder.isEmpty ? "." : folder.string
        name = path.lastComponent?.string ?? ""
        self.destination = destination
        let directoryDescriptor = root.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directoryDescriptor >= 0 else {
            throw SystemError("opening the folder \(directory)", errno: errno)
        }
        // O_TMPFILE is a combination of bits that Swift doesn't import.
        let unnamed: Int32 = 0o20_000_000 | O_DIRECTORY
        var part: String?
        var descriptor = openat(directoryDescriptor, ".", unnamed | O_RDWR | O_CLOEXEC, 0o666)
        if descriptor < 0, [EOPNOTSUPP, EISDIR, ENOENT, EINVAL].contains(errno) {
            let candidate = Self.partName(for: name)
            descriptor = openat(
                directoryDescriptor, candidate, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
            part = candidate
        }
        guard descriptor >= 0 else {
            let code = errno
            close(directoryDescriptor)
            throw SystemError("creating a file in \(directory)", errno: code)
        }
        flock(descriptor, LOCK_EX | LOCK_NB)
        self.descriptor = descriptor
        self.directoryDescriptor = directoryDescriptor
        state = Guarded(State(partName: part))
    }

    /// A file that another process made and will publish; the descriptor is this object's from here on.
    package init(lent descriptor: Int32) {
        self.descriptor = descriptor
        (destination, directory, name, directoryDescriptor) = ("", "", "", -1)
        state = Guarded(State(partName: nil))
    }

    /// A file that is published already, open for reading; it is nobody's to publish or discard again.
    /// - Throws: `SystemError` where it can't be opened.
    package convenience init(published path: String, in root: PathRoot) throws {
        let descriptor = root.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw SystemError("opening the output \(path)", errno: errno)
        }
        self.init(lent: descriptor)
    }

    deinit {
        discard()
        close(descriptor)
        if directoryDescriptor >= 0 { close(directoryDescriptor) }
    }

    /// A path through which the file can be opened again before it has a name.
    package var reopenPath: String { "/proc/self/fd/\(descriptor)" }

    /// It has its name.
    package var isPublished: Bool { state.withLock { $0.isPublished } }

    /// Bytes in it.
    package var size: Int64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Size and time of the last change, as one word.
    package var fingerprint: String {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return "?" }
        return Self.fingerprint(status)
    }

    /// Size and time of the last change of whatever is at a path, links not followed; nil where nothing is.
    package static func fingerprint(path: String) -> String? {
        var status = stat()
        return lstat(path, &status) == 0 ? fingerprint(status) : nil
    }

    static func fingerprint(_ status: stat) -> String {
        "\(status.st_size)-\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
    }

    /// Sets the time of its last change, in seconds since 1970 (`futimens`); when it was last read stays.
    /// - Throws: `SystemError` where the file system refuses.
    package func setModified(seconds: Int64, nanoseconds: Int64) throws {
        // UTIME_OMIT is a macro that Swift doesn't import.
        let times = [
            timespec(tv_sec: 0, tv_nsec: 0x3fff_fffe),
            timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds)),
        ]
        guard futimens(descriptor, times) == 0 else {
            throw SystemError("setting the time of the output's file", errno: errno)
        }
    }

    /// Writes an extended attribute; false where the file system has none.
    @discardableResult
    package func setAttribute(_ name: String, _ value: String) -> Bool {
        let bytes = Array(value.utf8)
        return tandem_fsetxattr(descriptor, name, bytes, bytes.count) == 0
    }

    /// Writes an extended attribute of a file that is published; false where that can't be.
    package static func setAttribute(_ name: String, _ value: String, path: String, in root: PathRoot) -> Bool
    {
        let descriptor = root.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let bytes = Array(value.utf8)
        return tandem_fsetxattr(descriptor, name, bytes, bytes.count) == 0
    }

    /// What a path leads to is this very file.
    package func isAt(_ path: String) -> Bool {
        var (own, other) = (stat(), stat())
        return fstat(descriptor, &own) == 0 && lstat(path, &other) == 0 && own.st_dev == other.st_dev
            && own.st_ino == other.st_ino
    }

    /// A published file could carry an extended attribute, as far as its file system has them.
    package static func takesAttributes(_ path: String) -> Bool {
        var byte: UInt8 = 0
        return tandem_getxattr(path, "user.tandem.none", &byte, 1) >= 0 || errno != EOPNOTSUPP
    }

    /// Brings the file's data to disk (`fsync`).
    package func synchronize() throws {
        guard fsync(descriptor) == 0 else { throw SystemError("fsync", errno: errno) }
    }

    /// Gives back the room of what was written and is of no use any more.
    package func empty() { ftruncate(descriptor, 0) }

    /// At most 255 bytes, whatever the name.
    static func partName(for name: String, suffix: String = partSuffix) -> String {
        let attempt = String(UInt64.random(in: 0...UInt64.max), radix: 36)
        return ".\(stem(name)).\(attempt)\(suffix)"
    }

    static let partSuffix = ".part"
    /// What is replaced ends in this while it has no other name.
    static let asideSuffix = ".kept"

    static func stem(_ name: String) -> String {
        var stem = name
        while stem.utf8.count > 200 { stem.removeLast() }
        return stem
    }
}
