internal import ExactStrings
internal import Glibc

/// The folder in which a batch remembers what it did: `.tandem` beside the job file, unless another one is named.
public struct StateFolder: Hashable, Sendable {
    private let exactPath: ExactString

    /// Its absolute path.
    public var path: String { exactPath.text }

    /// A folder by its path.
    public init(path: String) {
        exactPath = path.exact
    }

    /// The one beside a job file.
    public init(besideJobFile file: String) {
        let absolute = Self.absolute(file: file)
        let folder = absolute[..<(absolute.lastIndex(of: "/") ?? absolute.startIndex)]
        self.init(path: folder + "/.tandem")
    }

    /// The absolute path of a job file: links of its folder are resolved, the file's own name stays. Through which name a file
    /// is read decides what its relative paths mean.
    static func absolute(file: String) -> String {
        guard let slash = file.lastIndex(of: "/") else { return absolute(".") + "/" + file }
        let folder = slash == file.startIndex ? "/" : String(file[..<slash])
        let name = String(file[file.index(after: slash)...])
        let real = absolute(folder)
        return (real == "/" ? "" : real) + "/" + name
    }

    /// Its path from the root on.
    public var absolute: String { Self.absolute(path) }

    /// The absolute form of a path, links of what exists resolved.
    static func absolute(_ path: String) -> String {
        if let real = realpath(path, nil) {
            defer { free(real) }
            return String(cString: real)
        }
        guard !path.hasPrefix("/"), let here = getcwd(nil, 0) else { return path }
        defer { free(here) }
        return String(cString: here) + "/" + path
    }

    /// Makes the folder where it is missing.
    func make() throws(StateError) {
        var made = ""
        for part in StateFolder.absolute(path).split(separator: "/") {
            made += "/" + part
            guard mkdir(made, 0o777) == 0 || errno == EEXIST || errno == EISDIR else {
                throw StateError(
                    "the state folder \(path) can't be made: \(String(cString: strerror(errno)))")
            }
        }
    }
}

/// Why the state can't be used.
public struct StateError: Error, Sendable, CustomStringConvertible {
    /// One line for people.
    public let description: String
    init(_ description: String) { self.description = description }
}

/// Holds a state folder for one run. The kernel gives it back, however the run ends.
public final class StateLock: Sendable {
    private let descriptor: Int32
    /// What is held.
    public let folder: StateFolder

    /// Takes it; throws where another run has it, or where the folder can't be written.
    public init(_ folder: StateFolder) throws(StateError) {
        self.folder = folder
        try folder.make()
        let path = folder.path + "/lock"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o666)
        guard descriptor >= 0 else {
            throw StateError(
                "the state folder \(folder.path) can't be written: \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let reason =
                errno == EWOULDBLOCK
                ? "another run is using it; `--state DIR` gives this one a folder of its own"
                : String(cString: strerror(errno))
            close(descriptor)
            throw StateError("the state folder \(folder.path): \(reason)")
        }
    }

    deinit { close(descriptor) }

    /// A run has the folder now.
    static func isHeld(_ folder: StateFolder) -> Bool {
        let descriptor = open(folder.path + "/lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }
}
