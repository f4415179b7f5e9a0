internal import CLinux
package import FileSystem
internal import Glibc
internal import Locking
internal import SystemPackage

/// A file that is complete or absent at its destination: it is written without a name in the destination's folder,
/// and linked there when it is complete and on disk.
///
/// The file is created with `O_TMPFILE` if the file system supports it, otherwise as `.name.<attempt>.part`. A lock
/// marks a named temporary file as in use, and distinguishes it from those of killed runs.
///
/// Unchecked `Sendable`: the descriptors are constant, and a mutex protects the state.
package final class TemporaryFile: @unchecked Sendable {
    /// Path under which the file will be published.
    package let destination: String
    /// Descriptor for reading and writing, owned by this object.
    package let descriptor: Int32
    let directory: String
    let directoryDescriptor: Int32
    let name: String

    struct State {
        /// Temporary name in the folder; nil if the file has none.
        var partName: String?
        var isPublished = false
        /// Temporary name of the replaced file; nil if there is none, and after its removal.
        var replaced: String?
        /// Locked descriptor of the replaced file. The lock prevents other runs from removing the file as abandoned.
        var replacedLock: Int32 = -1
        /// Whether the temporary name is the only name of the replaced file.
        var isReplacedMoved = false
        var publishedName: String?
        var hasReplaced = false

        mutating func unlock() {
            if replacedLock >= 0 { close(replacedLock) }
            replacedLock = -1
        }
    }
    let state: Guarded<State>

    /// Creates an unnamed file in the destination's folder, which must exist. Without support for unnamed files, the
    /// file gets a temporary name.
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
        // Value of O_TMPFILE, a macro that Swift doesn't import.
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

    /// Creates a file from a descriptor that another process passed, which publishes the file itself. This object
    /// owns the descriptor.
    package init(passed descriptor: Int32) {
        self.descriptor = descriptor
        (destination, directory, name, directoryDescriptor) = ("", "", "", -1)
        state = Guarded(State(partName: nil))
    }

    /// Opens a published file for reading. The object can't publish or discard the file.
    /// - Throws: `SystemError` if it can't be opened.
    package convenience init(published path: String, in root: PathRoot) throws {
        let descriptor = root.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw SystemError("opening the output \(path)", errno: errno)
        }
        self.init(passed: descriptor)
    }

    deinit {
        discard()
        close(descriptor)
        if directoryDescriptor >= 0 { close(directoryDescriptor) }
    }

    /// Path through which the file can be opened again, even while it has no name.
    package var reopenPath: String { "/proc/self/fd/\(descriptor)" }

    /// Whether the file was published and not withdrawn.
    package var isPublished: Bool { state.withLock { $0.isPublished } }

    /// Size of the file in bytes; 0 if it can't be determined.
    package var size: Int64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Size and modification time as text; `?` if they can't be determined.
    package var fingerprint: String {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return "?" }
        return Self.fingerprint(status)
    }

    /// Returns size and modification time of the file at a path as text, without following links; for a folder, a text
    /// that changes with any file in it. Nil if nothing exists at the path.
    package static func fingerprint(path: String) -> String? {
        FileStatus(path: path, followingLinks: false).flatMap { fingerprint(path: path, status: $0) }
    }

    /// Returns the fingerprint of the file at a path whose status is known, with links not followed.
    package static func fingerprint(path: String, status: FileStatus) -> String? {
        let identity = status.identity
        guard identity.isDirectory else {
            return fingerprint(identity.size, identity.modified, identity.modifiedNanoseconds)
        }
        return FolderTree.with(path) { FolderTree.fingerprint(of: $0) }
    }

    static func fingerprint(_ status: stat) -> String {
        fingerprint(Int64(status.st_size), Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec))
    }

    private static func fingerprint(_ size: Int64, _ seconds: Int64, _ nanoseconds: Int64) -> String {
        "\(size)-\(seconds).\(nanoseconds)"
    }

    /// Sets the modification time in seconds since 1970 (`futimens`), but not the access time.
    /// - Throws: `SystemError` if the file system doesn't allow it.
    package func setModified(seconds: Int64, nanoseconds: Int64) throws {
        // 0x3fff_fffe is UTIME_OMIT, a macro that Swift doesn't import.
        let times = [
            timespec(tv_sec: 0, tv_nsec: 0x3fff_fffe),
            timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds)),
        ]
        guard futimens(descriptor, times) == 0 else {
            throw SystemError("setting the time of the output's file", errno: errno)
        }
    }

    /// Writes an extended attribute of a published file. Returns false if it can't be written.
    package static func setAttribute(_ name: String, _ value: String, path: String, in root: PathRoot) -> Bool
    {
        let descriptor = root.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let bytes = Array(value.utf8)
        return tandem_fsetxattr(descriptor, name, bytes, bytes.count) == 0
    }

    /// Returns whether the file system of a published file supports extended attributes.
    package static func supportsAttributes(_ path: String) -> Bool {
        var byte: UInt8 = 0
        return tandem_getxattr(path, "user.tandem.none", &byte, 1) >= 0 || errno != EOPNOTSUPP
    }

    /// Writes the file's data to disk (`fsync`).
    package func synchronize() throws {
        guard fsync(descriptor) == 0 else { throw SystemError("fsync", errno: errno) }
    }

    /// Writes the file's data, but not its times, to disk (`fdatasync`). Returns the system's error number, or 0.
    package func synchronizeData() -> Int32 { fdatasync(descriptor) == 0 ? 0 : errno }

    /// Shortens the file to a number of bytes.
    package func truncate(to size: Int64) throws {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw SystemError("ftruncate", errno: errno) }
    }

    /// Truncates the file to free its space when its data is no longer needed.
    package func empty() { ftruncate(descriptor, 0) }

    /// Returns a temporary name of at most 255 bytes, regardless of the length of `name`.
    static func partName(for name: String, suffix: String = partSuffix) -> String {
        let attempt = String(UInt64.random(in: 0...UInt64.max), radix: 36)
        return ".\(stem(name)).\(attempt)\(suffix)"
    }

    static let partSuffix = ".part"
    /// Suffix of the temporary name of a replaced file that has no other name.
    static let asideSuffix = ".kept"

    static func stem(_ name: String) -> String {
        var stem = name
        while stem.utf8.count > 200 { stem.removeLast() }
        return stem
    }
}
