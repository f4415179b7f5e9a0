internal import ExactStrings
internal import FileSystem
internal import Glibc
internal import YAMLDocument

/// Access to job files, which tests can replace.
package protocol SpecFiles: Sendable {
    /// Returns the bytes of the file at an absolute path. Throws if it can't be read or has more than `limit` bytes.
    func read(_ path: String, limit: Int) throws(SpecFileError) -> [UInt8]
}

/// An error for a job file that can't be read.
package struct SpecFileError: Error, Sendable {
    /// The reason, as text for messages.
    package var reason: String
    package init(_ reason: String) { self.reason = reason }
}

/// Access to job files in the file system.
package struct SystemSpecFiles: SpecFiles {
    package init() {}

    /// Reads a regular file. Others, such as FIFOs and devices, are rejected, because they could block or be endless.
    package func read(_ path: String, limit: Int) throws(SpecFileError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw SpecFileError("\(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw SpecFileError("not a regular file")
        }
        guard status.st_size <= limit else { throw SpecFileError("the file has more than \(limit) bytes") }
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
            throw SpecFileError("\(String(cString: strerror(failure)))")
        }
        return bytes
    }

    /// Returns the absolute folder of a path with links resolved; the path's own folder if it doesn't exist.
    package static func folder(of path: String) -> String {
        let folder = path.lastSlash.map { String(path[...$0]) } ?? "."
        return RealPath.of(folder) ?? folder
    }
}
