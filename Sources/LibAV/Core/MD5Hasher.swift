internal import CFFmpeg

/// An MD5 hasher (`av_md5_init`), for checksums that a format requires.
///
/// Unchecked `Sendable`: the noncopyable value is the only owner of the pointer.
package struct MD5Hasher: ~Copyable, @unchecked Sendable {
    private let context: OpaquePointer

    package init() throws(AVError) {
        guard let context = av_md5_alloc() else { throw .outOfMemory("av_md5_alloc") }
        self.context = context
        av_md5_init(context)
    }

    deinit { av_free(UnsafeMutableRawPointer(context)) }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
        av_md5_update(context, base, bytes.count)
    }

    /// Returns the digest of 16 bytes.
    package consuming func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 16)
        av_md5_final(context, &digest)
        return digest
    }
}
