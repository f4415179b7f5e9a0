internal import Glibc

/// Reads whole regular files up to a limit. Other kinds, such as pipes and devices, could block or be endless.
package enum RegularFile {
    /// The reason why a file isn't read.
    package enum ReadingError: Error {
        /// A system call failed.
        case system(errno: Int32)
        /// The descriptor isn't a regular file.
        case notRegular
        /// The file is larger than the limit.
        case tooLarge(size: Int64)
    }

    /// Returns the bytes of the file at a path. `open` opens it with the flags that it receives.
    package static func contents(
        limit: Int, open: (_ flags: Int32) -> Int32
    ) throws(ReadingError) -> [UInt8] {
        let descriptor = open(flags)
        guard descriptor >= 0 else { throw .system(errno: errno) }
        defer { close(descriptor) }
        return try contents(of: descriptor, limit: limit)
    }

    /// Returns the size of a file in bytes. `open` opens it with the flags that it receives.
    package static func size(open: (_ flags: Int32) -> Int32) throws(ReadingError) -> Int64 {
        let descriptor = open(flags)
        guard descriptor >= 0 else { throw .system(errno: errno) }
        defer { close(descriptor) }
        return try size(of: descriptor)
    }

    /// Returns the identity of a file. `open` opens it with the flags that it receives.
    package static func identity(open: (_ flags: Int32) -> Int32) throws(ReadingError) -> FileIdentity {
        let descriptor = open(flags)
        guard descriptor >= 0 else { throw .system(errno: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(errno: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
        return FileIdentity(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            modified: Int64(status.st_mtim.tv_sec), modifiedNanoseconds: Int64(status.st_mtim.tv_nsec))
    }

    private static let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY

    /// Returns the bytes of an open file from the descriptor's position. A file that grows while it is read is cut off at its
    /// previous size.
    package static func contents(of descriptor: Int32, limit: Int) throws(ReadingError) -> [UInt8] {
        let size = try size(of: descriptor)
        guard size <= limit else { throw .tooLarge(size: size) }
        let capacity = Int(size)
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            while count < capacity {
                let got = read(descriptor, buffer.baseAddress! + count, capacity - count)
                if got < 0 && errno == EINTR { continue }
                if got < 0 { failure = errno }
                if got <= 0 { break }
                count += got
            }
        }
        guard failure == 0 else { throw .system(errno: failure) }
        return bytes
    }

    /// Returns the size of an open regular file in bytes.
    private static func size(of descriptor: Int32) throws(ReadingError) -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(errno: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
        return Int64(status.st_size)
    }
}
