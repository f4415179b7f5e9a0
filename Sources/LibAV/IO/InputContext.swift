internal import CFFmpeg

/// What a demuxer reads a source through (`AVIOContext`): a position in it, and its errors in libav's terms.
///
/// Unchecked `Sendable`: used by the one demuxer that owns it.
final class InputContext: @unchecked Sendable {
    private let source: any ByteSource
    private var position: Int64 = 0

    private init(_ source: any ByteSource) { self.source = source }

    /// A read context over a source, which keeps it open until it is freed by `free`.
    static func make(over source: any ByteSource) throws(AVError) -> UnsafeMutablePointer<AVIOContext> {
        let opaque = Unmanaged.passRetained(InputContext(source)).toOpaque()
        let context = tandem_avio_alloc(
            1 << 16, 0, opaque,
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
            let got = try source.read(
                at: position, into: UnsafeMutableRawBufferPointer(start: data, count: Int(count)))
            position += Int64(got)
            return got == 0 ? tandem_eof : Int32(clamping: got)
        } catch {
            return error.code
        }
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
