internal import CLinux
internal import FileSystem
internal import Glibc

/// Output files that are written sequentially into one temporary file, and published separately.
extension TemporaryFile {
    /// A byte range of a file.
    package struct Part: Hashable, Codable, Sendable {
        /// Offset of the part in bytes.
        package var offset: Int64
        /// Length of the part in bytes.
        package var length: Int64

        package init(offset: Int64, length: Int64) {
            self.offset = offset
            self.length = length
        }
    }

    /// Writes bytes at an offset (`pwrite`).
    /// - Throws: `SystemError` if not all bytes can be written.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        try Self.write(bytes, to: descriptor, at: offset)
    }

    package static func write(_ bytes: UnsafeRawBufferPointer, to target: Int32, at offset: Int64) throws {
        var done = 0
        while done < bytes.count, let base = bytes.baseAddress {
            let count = pwrite(target, base + done, bytes.count - done, off_t(offset) + off_t(done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw SystemError("writing the file", errno: count == 0 ? EIO : errno) }
            done += count
        }
    }

    /// Returns the bytes of a part (`pread`).
    /// - Throws: `SystemError` if the file is too short or can't be read.
    package func bytes(of part: Part) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: Int(part.length)) { buffer, initialized in
            while initialized < Int(part.length) {
                let count = pread(
                    descriptor, buffer.baseAddress! + initialized, Int(part.length) - initialized,
                    off_t(part.offset) + off_t(initialized))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    throw SystemError("reading the file", errno: count == 0 ? EIO : errno)
                }
                initialized += count
            }
        }
    }

    /// Copies a part of another file to the beginning of this one. The data is shared if the file system supports it
    /// (`copy_file_range`).
    /// - Throws: `SystemError` if a file can't be read or written.
    package func fill(from other: TemporaryFile, _ part: Part) throws {
        try other.copy(part, to: descriptor, at: 0)
    }

    /// Copies a part of this file to an offset of another file, and returns the offset of its end. The data is shared
    /// if the file system supports it (`copy_file_range`).
    /// - Throws: `SystemError` if a file can't be read or written.
    @discardableResult
    func copy(_ part: Part, to target: Int32, at offset: Int64) throws -> Int64 {
        var (from, left, to) = (part.offset, part.length, offset)
        while left > 0 {
            let count = tandem_copy_range(descriptor, &from, target, &to, UInt64(left))
            if count < 0, errno == EINTR { continue }
            // Older kernels and some file systems don't support the call.
            if count == 0 || count < 0 && [EXDEV, EINVAL, ENOSYS, EOPNOTSUPP, EPERM].contains(errno) {
                break
            }
            guard count > 0 else { throw SystemError("copying the file", errno: errno) }
            left -= count
        }
        while left > 0 {
            let piece = Part(offset: from, length: min(left, 1 << 20))
            try bytes(of: piece).withUnsafeBytes { try Self.write($0, to: target, at: to) }
            (from, to, left) = (from + piece.length, to + piece.length, left - piece.length)
        }
        return to
    }
}
