internal import CFFmpeg

/// The I/O context of a demuxer (`AVIOContext`) on a source. It tracks the read position and returns errors as
/// `AVERROR`.
///
/// Unchecked `Sendable`: used only by the demuxer that owns the context.
final class InputContext: @unchecked Sendable {
    private let source: any ByteSource
    private var position: Int64 = 0
    /// Whether reads that are larger than the buffer fill only the beginning of their target. The rest is undefined.
    /// After the header, only packet payloads are that large.
    private var skipsPayloads = false

    private init(_ source: any ByteSource) { self.source = source }

    /// Size of the read buffer in bytes.
    private static let bufferSize: Int32 = 1 << 16
    /// Size of the read buffer if payloads are skipped, and the number of bytes that are read of each payload: enough
    /// for the headers of a frame.
    private static let (countingBufferSize, payloadHead): (Int32, Int) = (1 << 13, 1 << 12)

    /// Creates a read context on a source, which remains open until `free`. `onlyCounts` is whether payloads will be
    /// skipped.
    static func make(
        over source: any ByteSource, onlyCounts: Bool = false
    ) throws(AVError) -> UnsafeMutablePointer<AVIOContext> {
        let opaque = Unmanaged.passRetained(InputContext(source)).toOpaque()
        let context = tandem_avio_alloc(
            onlyCounts ? countingBufferSize : bufferSize, 0, opaque,
            { opaque, data, size in
                guard let opaque, let data else { return tandem_einval }
                return Unmanaged<InputContext>.fromOpaque(opaque).takeUnretainedValue().read(data, size)
            }, nil,
            { opaque, offset, whence in
                guard let opaque else { return -1 }
                return Unmanaged<InputContext>.fromOpaque(opaque).takeUnretainedValue().seek(offset, whence)
            })
        guard let context else {
            Unmanaged<InputContext>.fromOpaque(opaque).release()
            throw .outOfMemory("avio_alloc_context")
        }
        return context
    }

    static func free(_ context: UnsafeMutablePointer<AVIOContext>) {
        let opaque = context.pointee.opaque
        var copy: UnsafeMutablePointer<AVIOContext>? = context
        tandem_avio_free(&copy)
        if let opaque { Unmanaged<InputContext>.fromOpaque(opaque).release() }
    }

    private func read(_ data: UnsafeMutablePointer<UInt8>, _ count: Int32) -> Int32 {
        do throws(AVError) {
            var received = try source.read(
                at: position,
                into: UnsafeMutableRawBufferPointer(
                    start: data, count: skips(count) ? Self.payloadHead : Int(count)))
            if received == Self.payloadHead, skips(count) {
                received = Int(min(Int64(count), source.size - position))
            }
            position += Int64(received)
            return received == 0 ? tandem_eof : Int32(clamping: received)
        } catch {
            return error.code
        }
    }

    private func skips(_ count: Int32) -> Bool { skipsPayloads && count > Self.countingBufferSize }

    /// Skips packet payloads from now on, which saves copying when packets are only counted.
    static func skipPayloads(of context: UnsafeMutablePointer<AVIOContext>) {
        guard let opaque = context.pointee.opaque else { return }
        Unmanaged<InputContext>.fromOpaque(opaque).takeUnretainedValue().skipsPayloads = true
    }

    private func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
        switch whence & ~tandem_seek_force {
        case tandem_seek_size: return source.size
        case SEEK_SET: position = offset
        case SEEK_CUR: position += offset
        case SEEK_END: position = source.size + offset
        default: return -1
        }
        if position < 0 {
            position = 0
            return -1
        }
        return position
    }
}
