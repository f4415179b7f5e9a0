internal import CFFmpeg

/// A source at an http or https URL (`avio_open2`), read by one range request for each seek. Redirections are
/// followed only to the same protocols.
///
/// Unchecked `Sendable`: used by one owner at a time, as `ByteSource` requires.
final class RemoteSource: ByteSource, @unchecked Sendable {
    let size: Int64
    private let context: UnsafeMutablePointer<AVIOContext>
    // Kept alive for the context's interrupt callback, which refers to it.
    private let interrupt: InterruptFlag

    /// Timeout for receiving data, in seconds.
    private static let timeout: Int64 = 30

    init(url: String, interrupt: InterruptFlag) throws(InputError) {
        LogBridge.install()
        _ = Self.isInitialized
        var options: OpaquePointer?
        defer { av_dict_free(&options) }
        av_dict_set(&options, "protocol_whitelist", "http,https,tcp,tls", 0)
        av_dict_set_int(&options, "rw_timeout", Self.timeout * 1_000_000, 0)
        // Without this option, the library accepts any certificate.
        av_dict_set_int(&options, "tls_verify", 1, 0)
        av_dict_set_int(&options, "reconnect", 1, 0)
        av_dict_set_int(&options, "reconnect_delay_max", 4, 0)
        var opened: UnsafeMutablePointer<AVIOContext>?
        var callback = interrupt.callback
        let code = avio_open2(&opened, url, AVIO_FLAG_READ, &callback, &options)
        guard code >= 0, let context = opened else {
            throw InputError(
                path: url, reason: .notFetched(AVError(code: code, operation: "avio_open2")))
        }
        let length = avio_size(context)
        guard length > 0, context.pointee.seekable & AVIO_SEEKABLE_NORMAL != 0 else {
            var copy: UnsafeMutablePointer<AVIOContext>? = context
            avio_closep(&copy)
            throw InputError(path: url, reason: length == 0 ? .file(.empty) : .notSeekable)
        }
        self.context = context
        self.interrupt = interrupt
        size = length
    }

    deinit {
        var copy: UnsafeMutablePointer<AVIOContext>? = context
        avio_closep(&copy)
    }

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(AVError) -> Int {
        guard let base = buffer.baseAddress, offset < size else { return 0 }
        if avio_seek(context, 0, SEEK_CUR) != offset {
            let position = avio_seek(context, offset, SEEK_SET)
            if position < 0 { throw AVError(code: Int32(clamping: position), operation: "avio_seek") }
        }
        let count = Int32(clamping: min(Int64(buffer.count), size - offset))
        let received = avio_read_partial(context, base.assumingMemoryBound(to: UInt8.self), count)
        // The server has declared the size, so that a shorter response means that the connection was lost.
        if received == tandem_eof || received == 0 {
            throw AVError(code: tandem_eio, operation: "avio_read_partial")
        }
        return Int(try check(received, "avio_read_partial"))
    }

    private static let isInitialized = avformat_network_init() >= 0
}
