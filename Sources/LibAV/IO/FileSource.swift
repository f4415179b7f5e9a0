internal import CFFmpeg
package import Glibc
package import FileSystem
internal import Synchronization

/// The reason why a path can't be read as a media file, determined before FFmpeg reads any byte of the file.
public enum FileSourceProblem: Hashable, Sendable {
    /// No file is at the path.
    case missing
    /// The path refers to a folder.
    case directory
    /// The path refers to a pipe, a device or a socket.
    case notRegular
    /// The file is empty.
    case empty
    /// The path is outside the environment's root, or a link leads out of it.
    case outsideRoot
    /// The system denied access, with the `errno`.
    case system(Int32)

    /// Creates the reason for an error of `open(2)` beneath a root.
    package init(errno code: Int32, beneath root: PathRoot) {
        switch code {
        case ENOENT: self = .missing
        case EXDEV where root.path != nil: self = .outsideRoot
        default: self = .system(code)
        }
    }
}

/// A source file that is read through a descriptor (`pread`).
package final class FileSource: ByteSource, Sendable {
    private let descriptor: Int32
    private let ownsDescriptor: Bool
    /// Size of the file when it was opened, in bytes.
    package let size: Int64
    private let interrupt: InterruptFlag
    /// First error of `pread` as an `AVERROR`; 0 if there was none.
    private let failureCode = Atomic<Int32>(0)

    /// Creates a source on a descriptor that another object owns and must keep open. Returns nil if `fstat` fails.
    package init?(borrowing descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.descriptor = descriptor
        ownsDescriptor = false
        size = Int64(status.st_size)
        interrupt = InterruptFlag()
    }

    /// Attributes of the file (`fstat`); nil on failure.
    package var status: stat? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status : nil
    }

    /// Opens a file, or the descriptor that was passed for its path.
    init(path: String, descriptors: PassedDescriptors?, root: PathRoot, interrupt: InterruptFlag)
        throws(InputError)
    {
        // O_NONBLOCK: opening a pipe must not wait for its writer.
        let descriptor =
            descriptors?.duplicate(path) ?? root.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw InputError(path: path, reason: .file(FileSourceProblem(errno: errno, beneath: root)))
        }
        var status = stat()
        let problem: FileSourceProblem?
        if fstat(descriptor, &status) != 0 {
            problem = .system(errno)
        } else if status.st_mode & S_IFMT == S_IFDIR {
            problem = .directory
        } else if status.st_mode & S_IFMT != S_IFREG {
            problem = .notRegular
        } else if status.st_size == 0 {
            problem = .empty
        } else {
            problem = nil
        }
        if let problem {
            close(descriptor)
            throw InputError(path: path, reason: .file(problem))
        }
        self.descriptor = descriptor
        ownsDescriptor = true
        size = Int64(status.st_size)
        self.interrupt = interrupt
    }

    deinit { if ownsDescriptor { close(descriptor) } }

    /// Reads bytes (`pread`). Returns their number; 0 at the end.
    package func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(AVError) -> Int {
        if interrupt.isRaised { throw AVError(code: tandem_exit, operation: "pread") }
        while true {
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            guard errno != EINTR else { continue }
            let code = tandem_averror(errno)
            _ = failureCode.compareExchange(expected: 0, desired: code, ordering: .relaxed)
            throw AVError(code: code, operation: "pread")
        }
    }

    /// First read error; nil if there was none.
    package var failure: AVError? {
        let code = failureCode.load(ordering: .relaxed)
        return code == 0 ? nil : AVError(code: code, operation: "pread")
    }
}
