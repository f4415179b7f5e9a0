internal import CFFmpeg
internal import CLinux
internal import Dispatch
internal import Glibc

/// A seekable output on a file descriptor, written by offset. The caller owns the descriptor.
///
/// Unchecked `Sendable`: used by the one muxer that owns it, on the muxer's queue.
final class FileSink: OutputSink, @unchecked Sendable {
    let descriptor: Int32
    private var position: Int64 = 0

    init(descriptor: Int32) { self.descriptor = descriptor }

    override var isSeekable: Bool { true }

    override func makeSource() -> FileSource? { FileSource(borrowing: descriptor) }

    /// Queue that starts writeback to disk while writing continues. Publishing requires all data on disk; without
    /// early writeback, all of it would be written at the end.
    private static let writeback = DispatchQueue(label: "tandem.writeback", qos: .utility)
    private static let writebackBlock: Int64 = 8 << 20
    private var writebackEnd: Int64 = 0

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

    override func write(_ data: UnsafePointer<UInt8>, _ count: Int32) -> Int32 {
        // After a write error the file has a hole, so later writes fail as well.
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

    override func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
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
