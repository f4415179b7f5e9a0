internal import CFFmpeg
internal import Glibc

/// An output in memory, written from start to end. Its bytes are taken in portions.
///
/// Unchecked `Sendable`: used on the queue of the muxer that writes to it.
package final class MemorySink: OutputSink, @unchecked Sendable {
    /// Bytes allocated with `malloc`, which the receiver frees.
    package struct Portion: ~Copyable {
        /// The bytes; not valid after `release`.
        package let bytes: UnsafeMutableRawBufferPointer

        init(_ bytes: UnsafeMutableRawBufferPointer) { self.bytes = bytes }

        deinit { Glibc.free(bytes.baseAddress) }

        /// Returns the bytes. The caller frees them with `free`.
        package consuming func release() -> UnsafeMutableRawBufferPointer {
            let bytes = bytes
            discard self
            return bytes
        }
    }

    private var start: UnsafeMutableRawPointer?
    private var capacity = 0
    /// Number of bytes since the last portion.
    package private(set) var count = 0

    /// Creates an empty output.
    package override init() {}

    deinit { Glibc.free(start) }

    /// Appends bytes, between two writes of the muxer.
    package func append(_ bytes: [UInt8]) throws(AVError) {
        let code = bytes.withUnsafeBufferPointer { bytes in
            bytes.baseAddress.map { write($0, Int32(clamping: bytes.count)) } ?? 0
        }
        guard code >= 0 else { throw .outOfMemory("malloc") }
    }

    /// Returns the bytes since the last portion.
    package func take() -> Portion {
        defer { (start, capacity, count) = (nil, 0, 0) }
        return Portion(UnsafeMutableRawBufferPointer(start: start, count: count))
    }

    override func write(_ data: UnsafePointer<UInt8>, _ size: Int32) -> Int32 {
        if failure != 0 { return failure }
        let needed = count + Int(size)
        if needed > capacity {
            let grown = max(needed, capacity * 2, 1 << 16)
            guard let moved = realloc(start, grown) else {
                failure = tandem_enomem
                return failure
            }
            (start, capacity) = (moved, grown)
        }
        start?.advanced(by: count).copyMemory(from: data, byteCount: Int(size))
        count = needed
        bytesWritten += Int64(size)
        return size
    }
}
