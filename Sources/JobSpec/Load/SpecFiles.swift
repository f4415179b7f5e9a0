internal import ExactStrings
internal import Glibc
internal import YAMLDocument

/// Where job files are read from; tests put another one in.
package protocol SpecFiles: Sendable {
    /// The bytes of a file by its absolute path, at most `limit` of them. Throws a `SpecFileError`.
    func read(_ path: String, limit: Int) throws(SpecFileError) -> [UInt8]
}

/// Why a job file can't be read, for people.
package struct SpecFileError: Error, Sendable {
    /// The reason.
    package var reason: String
    /// Makes one.
    package init(_ reason: String) { self.reason = reason }
}

/// The file system's regular files.
package struct SystemSpecFiles: SpecFiles {
    /// The file system.
    package init() {}

    /// Reads a regular file; anything else could block or never end.
    package func read(_ path: String, limit: Int) throws(SpecFileError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw SpecFileError("it can't be read: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw SpecFileError("it is no regular file")
        }
        guard status.st_size <= limit else { throw SpecFileError("it has more than \(limit) bytes") }
        let capacity = Int(status.st_size) + 1
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            while count < capacity {
                let got = Glibc.read(descriptor, buffer.baseAddress! + count, capacity - count)
                if got < 0 && errno == EINTR { continue }
                if got < 0 { failure = errno }
                if got <= 0 { break }
                count += got
            }
        }
        guard failure == 0 else {
            throw SpecFileError("it can't be read: \(String(cString: strerror(failure)))")
        }
        return bytes
    }

    /// The absolute folder of a path, links resolved; the path's own folder where it doesn't exist.
    package static func folder(of path: String) -> String {
        let folder = path.lastSlash.map { String(path[...$0]) } ?? "."
        guard let resolved = realpath(folder, nil) else { return folder }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
