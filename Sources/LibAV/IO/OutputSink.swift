internal import CFFmpeg
internal import Glibc

/// The destination of a muxer's bytes (`AVIOContext` for writing), confined to the muxer's queue. Subclasses implement
/// `write`, and `seek` if they can.
///
/// Unchecked `Sendable`: used by the one muxer that owns it, on the muxer's queue.
package class OutputSink: @unchecked Sendable {
    /// First write error, as a negative code. Never cleared.
    final var failure: Int32 = 0
    /// Number of bytes written so far, including rewrites.
    final var bytesWritten: Int64 = 0
    /// Whether the data is moved at the end, so that early writeback would write it to disk twice.
    final var isMovedAtEnd = false

    init() {}

    /// Write size in bytes: 256 KiB, as for libavformat's own files, instead of one packet.
    private static let blockSize: Int32 = 1 << 18

    /// Whether earlier bytes can be rewritten.
    var isSeekable: Bool { false }

    /// Writes bytes; returns their number, or a negative error code.
    func write(_ data: UnsafePointer<UInt8>, _ count: Int32) -> Int32 { tandem_eio }

    /// Moves the position; returns it, or a negative error code.
    func seek(_ offset: Int64, _ whence: Int32) -> Int64 { -1 }

    /// Returns the output for reading; nil if it can't be read.
    func makeSource() -> FileSource? { nil }

    final func makeContext() throws(AVError) -> UnsafeMutablePointer<AVIOContext> {
        let opaque = Unmanaged.passRetained(self).toOpaque()
        let context = tandem_avio_alloc(
            Self.blockSize, 1, opaque, nil,
            { opaque, data, size in
                guard let opaque, let data else { return tandem_einval }
                return Unmanaged<OutputSink>.fromOpaque(opaque).takeUnretainedValue().write(data, size)
            },
            isSeekable
                ? { opaque, offset, whence in
                    guard let opaque else { return -1 }
                    return Unmanaged<OutputSink>.fromOpaque(opaque).takeUnretainedValue().seek(offset, whence)
                } : nil)
        guard let context else {
            Unmanaged<OutputSink>.fromOpaque(opaque).release()
            throw .outOfMemory("avio_alloc_context")
        }
        context.pointee.min_packet_size = Self.blockSize
        return context
    }

    static func free(_ context: UnsafeMutablePointer<AVIOContext>) {
        let opaque = context.pointee.opaque
        var copy: UnsafeMutablePointer<AVIOContext>? = context
        tandem_avio_free(&copy)
        if let opaque { Unmanaged<OutputSink>.fromOpaque(opaque).release() }
    }
}
