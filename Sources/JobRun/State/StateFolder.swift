internal import Diagnostics
internal import ExactStrings
internal import Glibc
internal import LibAV
package import FileSystem

/// The folder of the state: `.tandem` in the job file's folder, or the one given by `--state`.
package struct StateFolder: Hashable, Sendable {
    private let exactPath: ExactString
    /// Whether the folder is the default one, which may come from a checked-out repository.
    private let isAdjacentToJobFile: Bool
    private let isOutsideRoot: Bool

    /// Path of the folder, relative if it was given as a relative path.
    package var path: String { exactPath.text }

    /// Creates a reference to the folder at a path.
    package init(path: String) {
        exactPath = path.exact
        (isAdjacentToJobFile, isOutsideRoot) = (false, false)
    }

    /// Creates a reference to the default folder of a job file, which is trusted only beneath the root.
    package init(adjacentToJobFile file: String, beneath root: PathRoot) {
        let absolute = RealPath.absolute(file: file)
        let folder = absolute[..<(absolute.lastSlash ?? absolute.startIndex)]
        exactPath = (folder + "/.tandem").exact
        isAdjacentToJobFile = true
        isOutsideRoot = !root.contains(RealPath.absolute(exactPath.text))
    }

    package var absolute: String { RealPath.absolute(path) }

    /// Creates the folder, with its parents, if it doesn't exist.
    func create() throws(StateError) {
        try check()
        var created = ""
        let absolute = RealPath.absolute(path)
        for part in absolute.pathParts {
            created += "/" + part
            let mode: mode_t = created == absolute ? 0o700 : 0o777
            guard mkdir(created, mode) == 0 || errno == EEXIST || errno == EISDIR else {
                throw StateError(
                    "the state folder \(path) can't be created: \(String(cString: strerror(errno)))")
            }
        }
    }
}

extension StateFolder {
    /// Throws if the default folder can't be trusted, since it may come from a checked-out repository. It must be a
    /// directory of this user, not a link, and beneath the root.
    func check() throws(StateError) {
        guard isAdjacentToJobFile else { return }
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        let why: String
        if status.st_mode & S_IFMT != S_IFDIR {
            why = "is not a folder (links are not followed)"
        } else if status.st_uid != geteuid() {
            why = "belongs to another user"
        } else if isOutsideRoot {
            why = "is outside of the root"
        } else {
            return try checkFiles()
        }
        throw StateError("the state folder \(path) \(why); use `--state DIR` for another one")
    }

    /// Throws if a file of the folder is a link or belongs to another user.
    private func checkFiles() throws(StateError) {
        for name in ["state.sqlite", "state.sqlite-wal", "state.sqlite-shm", "lock", "owner"] {
            var status = stat()
            guard lstat(path + "/" + name, &status) == 0 else { continue }
            guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(), status.st_nlink == 1 else {
                throw StateError(
                    "\(path)/\(name) is a link or another user's file; use `--state DIR` for another folder")
            }
            // The files may contain values of environment variables.
            if status.st_mode & 0o077 != 0 { chmod(path + "/" + name, 0o600) }
        }
    }
}

/// The reason why the state can't be used.
package struct StateError: Error, Sendable, CustomStringConvertible {
    /// Reason for the user, in one line.
    package let description: String
    init(_ description: String) { self.description = description }
}

/// The lock of a state folder (`flock`), held for one run. The kernel releases it even if the process is killed.
package final class StateLock: Sendable {
    private let descriptor: Int32
    /// The locked folder.
    package let folder: StateFolder

    /// Acquires the lock. `files` are the job files that are reported to other runs. Throws if another run holds the
    /// lock, or if the folder can't be written. If `onWait` is given, it is called with the current holder, and the
    /// lock is awaited.
    package init(
        _ folder: StateFolder, for files: [String], onWait: ((_ holder: String) -> Void)? = nil
    ) throws(StateError) {
        self.folder = folder
        try folder.create()
        let path = folder.path + "/lock"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw StateError(
                "the state folder \(folder.path) can't be written: \(String(cString: strerror(errno)))")
        }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            var failure = errno
            if failure == EWOULDBLOCK, let onWait {
                onWait(Self.holder(descriptor))
                // A signal that ends the process is handled on another thread, so that waiting can continue.
                repeat { failure = flock(descriptor, LOCK_EX) == 0 ? 0 : errno } while failure == EINTR
            }
            if failure != 0 {
                let reason =
                    failure == EWOULDBLOCK
                    ? "another run is using it (\(Self.holder(descriptor))); use `--wait` to wait for it, or `--state DIR` for a separate folder"
                    : String(cString: strerror(failure))
                close(descriptor)
                throw StateError("the state folder \(folder.path) can't be locked: \(reason)")
            }
        }
        Self.writeHolder("process \(getpid()): \(files.joined(separator: ", "))", in: descriptor)
    }

    /// Writes the holder into the lock file for error messages of other runs. Failure is ignored.
    private static func writeHolder(_ text: String, in descriptor: Int32) {
        let bytes = Array(text.utf8.prefix(512))
        if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, bytes, bytes.count, 0) }
    }

    private static func holder(_ descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return count > 0
            ? SafeText.line(String(decoding: bytes.prefix(count), as: UTF8.self)) : "unknown process"
    }

    deinit { close(descriptor) }

    /// Returns whether a run holds the lock of a folder.
    static func isHeld(_ folder: StateFolder) -> Bool {
        let descriptor = open(folder.path + "/lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }
}
