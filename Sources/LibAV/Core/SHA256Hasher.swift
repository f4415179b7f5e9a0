internal import CFFmpeg

/// A SHA-256 hasher (`av_sha_init`).
package struct SHA256Hasher: ~Copyable {
    private let context: OpaquePointer?

    /// Creates a hasher. If allocation fails, its digest is empty.
    package init() {
        context = av_sha_alloc()
        if let context { av_sha_init(context, 256) }
    }

    deinit { av_free(UnsafeMutableRawPointer(context)) }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let context, let base = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
        av_sha_update(context, base, bytes.count)
    }

    package mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    /// Adds text as UTF-8.
    package mutating func update(_ text: String) {
        var text = text
        text.withUTF8 { update(UnsafeRawBufferPointer($0)) }
    }

    /// Returns whether a text has the form of a digest.
    package static func isDigest(_ text: String) -> Bool {
        text.utf8.count == 64
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// Returns the digest in lower-case hexadecimal.
    package consuming func finish() -> String {
        guard let context else { return "" }
        var digest = [UInt8](repeating: 0, count: 32)
        av_sha_final(context, &digest)
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Returns the digest of bytes in hexadecimal.
    package static func digest(of bytes: [UInt8]) -> String {
        var hasher = SHA256Hasher()
        hasher.update(bytes)
        return hasher.finish()
    }

    /// Returns the digest of a file's content; nil if it can't be read.
    package static func digest(ofFile path: String, in environment: SourceEnvironment) -> String? {
        guard let source = try? environment.open(path) else { return nil }
        var hasher = SHA256Hasher()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while true {
            guard let count = try? source.read(at: offset, into: buffer) else { return nil }
            if count == 0 { break }
            hasher.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += Int64(count)
        }
        return offset == source.size ? hasher.finish() : nil
    }
}
