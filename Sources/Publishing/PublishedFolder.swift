package import FileSystem
internal import Glibc

/// A published folder that is open for reading, regardless of later renames.
package final class PublishedFolder {
    let descriptor: Int32

    /// Opens a folder.
    /// - Throws: `SystemError` if there is none.
    package init(_ path: String, in root: PathRoot) throws {
        descriptor = root.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw SystemError("opening the folder \(path)", errno: errno) }
    }

    deinit { close(descriptor) }

    /// Returns the contents of a file.
    /// - Throws: `SystemError` if it is no regular file, or larger than `limit` bytes.
    package func contents(of path: String, limit: Int64) throws -> [UInt8] {
        let file = openat(descriptor, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { throw SystemError("opening the file \(path)", errno: errno) }
        let source = TemporaryFile(passed: file)
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit else {
            throw SystemError("reading the file \(path)", errno: EFBIG)
        }
        return try source.bytes(of: TemporaryFile.Part(offset: 0, length: Int64(status.st_size)))
    }
}
