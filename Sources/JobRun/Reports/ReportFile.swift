internal import ExactStrings
internal import Diagnostics
internal import FileSystem
internal import Glibc

/// A report, event or plan file. A regular file is replaced only if it is empty or was written by Tandem. Pipes and
/// devices are written to.
package enum ReportFile {
    /// The reason why a file can't be written.
    package struct Problem: Error, CustomStringConvertible {
        /// Reason for the user, in one line.
        package let description: String
    }

    /// Returns the reason why a file must not be overwritten; nil if it may be, or if it doesn't exist.
    package static func problem(_ path: String) -> String? {
        var (own, target) = (stat(), stat())
        if lstat(path, &own) == 0, own.st_mode & S_IFMT == S_IFLNK {
            // A write through an untrusted link could create its target, or fill an empty one.
            guard stat(path, &target) == 0 else { return "\(path) is a dangling link" }
            if target.st_mode & S_IFMT == S_IFREG, target.st_size == 0 {
                return "\(path) is a link to a file that is not a report; it is not overwritten"
            }
        }
        if path.pathParts.dropLast().contains(where: { $0 == ".tandem" }) {
            return "\(path) is inside a `.tandem` folder, which is reserved for the state of job files"
        }
        // `O_NONBLOCK`: opening a pipe must not block.
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            return errno == ENOENT || errno == ENXIO || errno == EACCES ? nil : reason(errno, path)
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { return reason(errno, path) }
        if status.st_mode & S_IFMT == S_IFDIR { return "\(path) is a folder" }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = max(0, read(file, &bytes, bytes.count))
        let text = String(decoding: bytes.prefix(count), as: UTF8.self)
        return isReport(text) ? nil : "\(path) is not a report of Tandem; it is not overwritten"
    }

    /// Returns whether a text begins like a file that Tandem writes.
    private static func isReport(_ text: String) -> Bool {
        if text.hasPrefix("<!DOCTYPE html") { return text.contains("<title>Tandem: ") }
        if text.hasPrefix("<?xml") { return text.contains("<testsuites name=\"tandem\"") }
        guard text.hasPrefix("{") else { return false }
        return text.contains("\"kind\" : \"tandem-plan\"") || text.contains("\"event\":\"run_")
            || text.contains("\"event\":\"job_")
            || text.contains("\"begun\" :") && text.contains("\"files\" :")
    }

    private static func reason(_ code: Int32, _ path: String) -> String {
        "\(path) can't be written: \(String(cString: strerror(code)))"
    }

    /// Writes a file. A regular file is replaced atomically and keeps its mode.
    package static func write(_ bytes: [UInt8], to path: String) throws(Problem) {
        var status = stat()
        let exists = stat(path, &status) == 0
        if exists, status.st_mode & S_IFMT != S_IFREG { return try overwrite(bytes, into: path) }
        // If the path is a link, its target is replaced and the link is kept.
        let target = exists ? RealPath.of(path) ?? path : path
        let slash = target.lastSlash
        let folder = slash.map { String(target[...$0]) } ?? ""
        let name = slash.map { String(target[target.index(after: $0)...]) } ?? target
        var template = Array("\(folder).\(name.prefix(100)).XXXXXX.part".utf8CString)
        let file = mkstemps(&template, 5)
        guard file >= 0 else { throw Problem(description: reason(errno, path)) }
        let temporary = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        var failure: Int32 = 0
        if !writeAll(bytes, into: file) || fchmod(file, exists ? status.st_mode & 0o7777 : defaultMode) != 0
            || fsync(file) != 0
        {
            failure = errno
        }
        if close(file) != 0, failure == 0 { failure = errno }
        if failure == 0, rename(temporary, target) != 0 { failure = errno }
        guard failure == 0 else {
            unlink(temporary)
            throw Problem(description: reason(failure, path))
        }
    }

    /// Mode of a new file, according to the umask.
    private static var defaultMode: mode_t {
        let mask = umask(0)
        umask(mask)
        return 0o666 & ~mask
    }

    private static func writeAll(_ bytes: [UInt8], into file: Int32) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(file, $0.baseAddress! + done, bytes.count - done)
            }
            if count > 0 { done += count } else if errno != EINTR { return false }
        }
        return true
    }

    /// Writes to a device or a pipe. Throws if no process reads from it for 30 seconds.
    private static func overwrite(_ bytes: [UInt8], into path: String) throws(Problem) {
        let file = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard file >= 0 else {
            throw Problem(
                description: errno == ENXIO
                    ? "\(path) can't be written: no process reads it" : reason(errno, path))
        }
        defer { close(file) }
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(file, $0.baseAddress! + done, bytes.count - done)
            }
            if count > 0 {
                done += count
            } else if errno == EAGAIN {
                var wait = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
                guard poll(&wait, 1, 30_000) > 0 else {
                    throw Problem(description: "\(path) can't be written: no process reads it")
                }
            } else if errno != EINTR {
                throw Problem(description: reason(errno, path))
            }
        }
    }
}
