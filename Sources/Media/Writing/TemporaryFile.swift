internal import ExactStrings
internal import CLinux
internal import Glibc
internal import LibAV
internal import Locking

/// A file that is complete or absent: written without a name in its destination's folder, and linked there
/// once it is finished and on disk.
///
/// `O_TMPFILE` where the file system has it, a `.name.<attempt>.part` otherwise, which a lock marks as alive
/// so that the next run can tell dead ones.
///
/// Unchecked `Sendable`: the descriptor is fixed; the state is behind the mutex.
public final class TemporaryFile: @unchecked Sendable {
    /// Where it will be published.
    public let destination: String
    /// Open for reading and writing; owned by this object.
    public let descriptor: Int32
    private let directory: String
    private let directoryDescriptor: Int32
    private let name: String

    private struct State {
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
    private let state: Guarded<State>

    /// Makes an unnamed file in the destination's folder, which must exist.
    public init(destination: String) throws {
        let parts = Self.split(destination)
        directory = parts.directory
        name = parts.name
        self.destination = destination
        let directoryDescriptor = PathRoot.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directoryDescriptor >= 0 else {
            throw MediaError.system(operation: "opening the folder \(directory)", errno: errno)
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
            throw MediaError.system(operation: "creating a file in \(directory)", errno: code)
        }
        flock(descriptor, LOCK_EX | LOCK_NB)
        self.descriptor = descriptor
        self.directoryDescriptor = directoryDescriptor
        state = Guarded(State(partName: part))
    }

    /// A file that another process made and will publish; the descriptor is this object's from here on.
    public init(lent descriptor: Int32) {
        self.descriptor = descriptor
        (destination, directory, name, directoryDescriptor) = ("", "", "", -1)
        state = Guarded(State(partName: nil))
    }

    /// A file that is published already, open for reading; it is nobody's to publish or discard again.
    /// - Throws: `MediaError.system` where it can't be opened.
    public convenience init(published path: String) throws {
        let descriptor = PathRoot.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw MediaError.system(operation: "opening the output \(path)", errno: errno)
        }
        self.init(lent: descriptor)
    }

    deinit {
        discard()
        close(descriptor)
        if directoryDescriptor >= 0 { close(directoryDescriptor) }
    }

    /// A path through which the file can be opened again before it has a name.
    public var reopenPath: String { "/proc/self/fd/\(descriptor)" }

    /// It has its name.
    public var isPublished: Bool { state.withLock { $0.isPublished } }

    /// Bytes in it.
    public var size: Int64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Size and time of the last change, as one word.
    public var fingerprint: String {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return "?" }
        return Self.fingerprint(status)
    }

    /// Size and time of the last change of whatever is at a path, links not followed; nil where nothing is.
    public static func fingerprint(path: String) -> String? {
        var status = stat()
        return lstat(path, &status) == 0 ? fingerprint(status) : nil
    }

    private static func fingerprint(_ status: stat) -> String {
        "\(status.st_size)-\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
    }

    /// Sets the time of its last change, in seconds since 1970 (`futimens`); when it was last read stays.
    /// - Throws: `MediaError.system` where the file system refuses.
    public func setModified(seconds: Int64, nanoseconds: Int64) throws {
        // UTIME_OMIT is a macro that Swift doesn't import.
        let times = [
            timespec(tv_sec: 0, tv_nsec: 0x3fff_fffe),
            timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds)),
        ]
        guard futimens(descriptor, times) == 0 else {
            throw MediaError.system(operation: "setting the time of the output's file", errno: errno)
        }
    }

    /// Writes an extended attribute; false where the file system has none.
    @discardableResult
    public func setAttribute(_ name: String, _ value: String) -> Bool {
        let bytes = Array(value.utf8)
        return tandem_fsetxattr(descriptor, name, bytes, bytes.count) == 0
    }

    /// Writes an extended attribute of a file that is published; false where that can't be.
    public static func setAttribute(_ name: String, _ value: String, path: String) -> Bool {
        let descriptor = PathRoot.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let bytes = Array(value.utf8)
        return tandem_fsetxattr(descriptor, name, bytes, bytes.count) == 0
    }

    /// What a path leads to is this very file.
    public func isAt(_ path: String) -> Bool {
        var (own, other) = (stat(), stat())
        return fstat(descriptor, &own) == 0 && lstat(path, &other) == 0 && own.st_dev == other.st_dev
            && own.st_ino == other.st_ino
    }

    /// A published file could carry an extended attribute, as far as its file system has them.
    public static func takesAttributes(_ path: String) -> Bool {
        var byte: UInt8 = 0
        return tandem_getxattr(path, "user.tandem.none", &byte, 1) >= 0 || errno != EOPNOTSUPP
    }

    /// Brings the file's data to disk (`fsync`).
    public func synchronize() throws {
        guard fsync(descriptor) == 0 else { throw MediaError.system(operation: "fsync", errno: errno) }
    }

    /// Gives back the room of what was written and is of no use any more.
    public func empty() { ftruncate(descriptor, 0) }

    /// Makes the file visible at its destination, all at once, and brings the folder to disk. The data must
    /// be on disk already. Without `replacing`, a file that is there is left alone and the call fails.
    /// `keepsReplaced` keeps what is replaced for `withdraw`, until `forgetReplaced`.
    public func publish(replacing: Bool, keepsReplaced: Bool = false) throws {
        try publish(as: name, replacing: replacing, keepsReplaced: keepsReplaced)
    }

    /// The same under another name in the destination's folder.
    public func publish(as name: String, replacing: Bool, keepsReplaced: Bool = false) throws {
        try state.withLock { state in
            guard !state.isPublished else { return }
            guard directoryDescriptor >= 0 else {
                throw MediaError.misuse("a lent file is published by its owner")
            }
            if replacing, keepsReplaced { try keep(name, &state) }
            do {
                try takeName(name, replacing, &state)
            } catch {
                if state.isAside, let replaced = state.replaced,
                    renameat(directoryDescriptor, replaced, directoryDescriptor, name) == 0
                {
                    state.replaced = nil
                }
                throw error
            }
            state.isPublished = true
            state.publishedName = name
            state.hasReplaced = replacing
        }
        guard fsync(directoryDescriptor) == 0 else {
            throw MediaError.system(operation: "fsync of the folder", errno: errno)
        }
    }

    private func takeName(_ name: String, _ replacing: Bool, _ state: inout State) throws {
        if let part = state.partName {
            try move(part, to: name, replacing: replacing)
        } else if !replacing {
            try link(as: name)
        } else {
            // A link can't replace: it gets a name of its own first, which then takes the other's place.
            let part = Self.partName(for: name)
            try link(as: part)
            state.partName = part
            try move(part, to: name, replacing: true)
        }
        state.partName = nil
    }

    /// Gives what is about to be replaced another name; where the file system has no links, that is its only one for the
    /// moment, so a run that dies there leaves it to `collectDeadParts` to bring back.
    private func keep(_ name: String, _ state: inout State) throws {
        let lock = openat(directoryDescriptor, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if lock >= 0 { flock(lock, LOCK_SH | LOCK_NB) }
        state.replacedLock = lock
        let part = Self.partName(for: name)
        if linkat(directoryDescriptor, name, directoryDescriptor, part, 0) == 0 {
            state.replaced = part
            return
        }
        let kept = Self.partName(for: name, suffix: Self.asideSuffix)
        if renameat(directoryDescriptor, name, directoryDescriptor, kept) == 0 {
            (state.replaced, state.isAside) = (kept, true)
        } else if errno != ENOENT {
            throw MediaError.system(operation: "keeping what is replaced", errno: errno)
        }
    }

    /// Takes back its name, as far as it still has it: what it replaced is there again, or nothing.
    public func withdraw() {
        state.withLock { state in
            var (own, other) = (stat(), stat())
            guard state.isPublished, let name = state.publishedName, fstat(descriptor, &own) == 0,
                fstatat(directoryDescriptor, name, &other, AT_SYMLINK_NOFOLLOW) == 0,
                own.st_ino == other.st_ino, own.st_dev == other.st_dev
            else { return }
            let isBack =
                if let replaced = state.replaced {
                    renameat(directoryDescriptor, replaced, directoryDescriptor, name) == 0
                } else {
                    !state.hasReplaced && unlinkat(directoryDescriptor, name, 0) == 0
                }
            if isBack { (state.isPublished, state.replaced) = (false, nil) }
            state.unlock()
        }
        fsync(directoryDescriptor)
    }

    /// What it replaced is of no use any more.
    public func forgetReplaced() {
        state.withLock { state in
            // First the lock: what is open while its name goes is a hidden file where file systems are in user space.
            state.unlock()
            if let replaced = state.replaced { unlinkat(directoryDescriptor, replaced, 0) }
            state.replaced = nil
        }
    }

    /// Removes what is not published, and gives its room back: a worker may hold the file open for a moment longer.
    public func discard() {
        state.withLock { state in
            // What couldn't be brought back is left for the next run, which tries it again.
            let replaced = state.isAside && !state.isPublished ? nil : state.replaced
            for part in [state.partName, replaced].compactMap({ $0 }) {
                unlinkat(directoryDescriptor, part, 0)
            }
            (state.partName, state.replaced) = (nil, nil)
            state.unlock()
            guard directoryDescriptor >= 0, !state.isPublished else { return }
            var status = stat()
            // Whatever anybody can reach by a name stays as it is.
            if fstat(descriptor, &status) == 0, status.st_nlink == 0 { ftruncate(descriptor, 0) }
        }
    }

    private func link(as name: String) throws {
        guard linkat(AT_FDCWD, reopenPath, directoryDescriptor, name, AT_SYMLINK_FOLLOW) == 0 else {
            if errno == EEXIST { throw MediaError.destinationExists }
            throw MediaError.system(operation: "linking the file", errno: errno)
        }
    }

    private func move(_ part: String, to name: String, replacing: Bool) throws {
        if tandem_renameat2(directoryDescriptor, part, directoryDescriptor, name, replacing ? 0 : 1) == 0 {
            return
        }
        // Network and user-space file systems know no renaming that refuses to replace.
        if !replacing, [EINVAL, ENOSYS, EOPNOTSUPP].contains(errno) {
            return try moveWithoutFlags(part, to: name)
        }
        if errno == EEXIST { throw MediaError.destinationExists }
        throw MediaError.system(operation: "renaming the file", errno: errno)
    }

    /// A link refuses a name that is taken, too; where there are no links either, the name is looked for, and who takes
    /// it between the look and the renaming is replaced: an empty file that holds the name would be a partial output
    /// if the run died there.
    private func moveWithoutFlags(_ part: String, to name: String) throws {
        if linkat(directoryDescriptor, part, directoryDescriptor, name, 0) == 0 {
            unlinkat(directoryDescriptor, part, 0)
            return
        }
        if errno == EEXIST { throw MediaError.destinationExists }
        guard [EPERM, ENOSYS, EOPNOTSUPP, EMLINK].contains(errno) else {
            throw MediaError.system(operation: "linking the file", errno: errno)
        }
        var status = stat()
        if fstatat(directoryDescriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 {
            throw MediaError.destinationExists
        }
        guard errno == ENOENT, renameat(directoryDescriptor, part, directoryDescriptor, name) == 0 else {
            throw MediaError.system(operation: "renaming the file", errno: errno)
        }
    }

    private static func split(_ path: String) -> (directory: String, name: String) {
        guard let slash = path.lastSlash else { return (".", path) }
        let directory = String(path[..<slash])
        return (directory.isEmpty ? "/" : directory, String(path[path.index(after: slash)...]))
    }

    /// At most 255 bytes, whatever the name.
    private static func partName(for name: String, suffix: String = partSuffix) -> String {
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
