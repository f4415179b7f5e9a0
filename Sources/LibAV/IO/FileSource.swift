internal import CFFmpeg
internal import Glibc

/// Why a path can't be read as a media file, found before any of libav's code sees a byte of it.
public enum FileSourceProblem: Hashable, Sendable {
    /// Nothing is there.
    case missing
    /// A folder.
    case directory
    /// A pipe, a device or a socket.
    case notRegular
    /// No bytes in it.
    case empty
    /// The system refused, with its `errno`.
    case system(Int32)
}

/// An open source file, read by offset: the only way in which a demuxer reaches outside, so that a
/// playlist or a reference inside a file can't make it read another.
///
/// Unchecked `Sendable`: used by the one demuxer that owns it.
final class FileSource: @unchecked Sendable {
    let descriptor: Int32
    let size: Int64
    private var position: Int64 = 0
    private let interrupt: InterruptFlag

    init(path: String, interrupt: InterruptFlag) throws(InputError) {
        // O_NONBLOCK: opening a pipe must not wait for its writer.
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw InputError(path: path, reason: .file(errno == ENOENT ? .missing : .system(errno)))
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
        self.size = Int64(status.st_size)
        self.interrupt = interrupt
    }

    deinit { close(descriptor) }

    /// A read context over this file, which keeps the file open until it is freed by `freeInput`.
    func makeContext() throws(AVError) -> UnsafeMutablePointer<AVIOContext> {
        let opaque = Unmanaged.passRetained(self).toOpaque()
        let context = tandem_avio_alloc(
            1 << 16, 0, opaque,
            { opaque, data, size in
                guard let opaque, let data else { return tandem_einval }
                return Unmanaged<FileSource>.fromOpaque(opaque).takeUnretainedValue().read(data, size)
            }, nil,
            { opaque, offset, whence in
                guard let opaque else { return -1 }
                return Unmanaged<FileSource>.fromOpaque(opaque).takeUnretainedValue().seek(offset, whence)
            })
        guard let context else {
            Unmanaged<FileSource>.fromOpaque(opaque).release()
            throw .outOfMemory("avio_alloc_context")
        }
        return context
    }

    static func free(_ context: UnsafeMutablePointer<AVIOContext>) {
        let opaque = context.pointee.opaque
        var copy: UnsafeMutablePointer<AVIOContext>? = context
        tandem_avio_free(&copy)
        if let opaque { Unmanaged<FileSource>.fromOpaque(opaque).release() }
    }

    private func read(_ data: UnsafeMutablePointer<UInt8>, _ count: Int32) -> Int32 {
        if interrupt.isRaised { return tandem_exit }
        while true {
            let got = pread(descriptor, data, Int(count), off_t(position))
            if got > 0 {
                position += Int64(got)
                return Int32(got)
            }
            if got == 0 { return tandem_eof }
            if errno != EINTR { return tandem_averror(errno) }
        }
    }

    private func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
        switch whence & ~tandem_seek_force {
        case tandem_seek_size: return size
        case SEEK_SET: position = offset
        case SEEK_CUR: position += offset
        case SEEK_END: position = size + offset
        default: return -1
        }
        if position < 0 {
            position = 0
            return -1
        }
        return position
    }
}
