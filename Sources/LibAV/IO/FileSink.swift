internal import CFFmpeg
internal import CLinux
internal import Dispatch
internal import Glibc

/// A seekable output on a file descriptor, written by offset. The caller owns the descriptor.
///
/// Unchecked `Sendable`: used only by the muxer that owns it, on the muxer's queue.
final class FileSink: @unchecked Sendable {
    let descriptor: Int32
    private var position: Int64 = 0
    /// First write error, as an `AVERROR`; 0 if there was none. Never cleared.
    private(set) var failure: Int32 = 0
    /// Number of bytes written so far, including rewrites.
    private(set) var bytesWritten: Int64 = 0

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// Size of the write buffer: 256 KiB, as for libavformat's own files.
    private static let blockSize: Int32 = 1 << 18

    func makeContext() throws(AVError) -> UnsafeMutablePointer<AVIOContext> {
        let opaque = Unmanaged.passRetained(self).toOpaque()
        let context = tandem_avio_alloc(
            Self.blockSize, 1, opaque, nil,
            { opaque, data, size in
                guard let opaque, let data else { return tandem_einval }
                return Unmanaged<FileSink>.fromOpaque(opaque).takeUnretainedValue().write(data, size)
            },
            { opaque, offset, whence in
                guard let opaque else { return -1 }
                return Unmanaged<FileSink>.fromOpaque(opaque).takeUnretainedValue().seek(offset, whence)
            })
        guard let context else {
            Unmanaged<FileSink>.fromOpaque(opaque).release()
            throw .outOfMemory("avio_alloc_context")
        }
        context.pointee.min_packet_size = Self.blockSize
        return context
    }

    static func free(_ context: UnsafeMutablePointer<AVIOContext>) {
        let opaque = context.pointee.opaque
        var copy: UnsafeMutablePointer<AVIOContext>? = context
        tandem_avio_free(&copy)
        if let opaque { Unmanaged<FileSink>.fromOpaque(opaque).release() }
    }

    /// Queue that starts writeback to disk while writing continues. Publishing requires all data on disk; without
    /// early writeback, all of it would be written at the end.
    private static let writeback = DispatchQueue(label: "tandem.writeback", qos: .utility)
    private static let writebackBlock: Int64 = 8 << 20
    private var writebackEnd: Int64 = 0
    /// Whether the data is moved at the end (`faststart`), so that early writeback would write it to disk twice.
    var isMovedAtEnd = false

    private func startWriteback() {
        guard !isMovedAtEnd, position - writebackEnd >= Self.writebackBlock else { return }
        let (descriptor, start, length) = (descriptor, writebackEnd, position - writebackEnd)
        writebackEnd = position
        Self.writeback.async { @Sendable in
            // The call doesn't wait for the writeback. On a file system without support, the data is written at the
            // end.
            _ = tandem_begin_writeback(descriptor, start, length)
        }
    }

    private func write(_ data: UnsafePointer<UInt8>, _ count: Int32) -> Int32 {
        // After a write error the file has a gap, so that later writes fail as well.
        if failure != 0 { return failure }
        var done = 0
        while done < Int(count) {
            let put = pwrite(descriptor, data + done, Int(count) - done, off_t(position))
            if put > 0 {
                done += put
                position += Int64(put)
                bytesWritten += Int64(put)
                startWriteback()
            } else if put < 0 && errno == EINTR {
                continue
            } else {
                failure = put == 0 ? tandem_eio : tandem_averror(errno)
                return failure
            }
        }
        return count
    }

    private func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
        switch whence & ~tandem_seek_force {
        case tandem_seek_size:
            var status = stat()
            return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : -1
        case SEEK_SET: position = offset
        case SEEK_CUR: position += offset
        default: return -1
        }
        if position < 0 {
            position = 0
            return -1
        }
        return position
    }
}
