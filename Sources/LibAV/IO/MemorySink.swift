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
    package func append(_ bytes: UnsafeRawBufferPointer) throws(AVError) {
        guard let data = bytes.baseAddress else { return }
        guard store(data, bytes.count) else { throw .outOfMemory("malloc") }
    }

    /// Returns the bytes since the last portion.
    package func take() -> Portion {
        defer { (start, capacity, count) = (nil, 0, 0) }
        return Portion(UnsafeMutableRawBufferPointer(start: start, count: count))
    }

    override func write(_ data: UnsafePointer<UInt8>, _ size: Int32) -> Int32 {
        if failure == 0, !store(data, Int(size)) { failure = tandem_enomem }
        return failure == 0 ? size : failure
    }

    /// Appends bytes; returns false if there is no memory for them.
    private func store(_ data: UnsafeRawPointer, _ size: Int) -> Bool {
        let needed = count + size
        if needed > capacity {
            let grown = max(needed, capacity * 2, 1 << 16)
            guard let moved = realloc(start, grown) else { return false }
            (start, capacity) = (moved, grown)
        }
        start?.advanced(by: count).copyMemory(from: data, byteCount: size)
        count = needed
        bytesWritten += Int64(size)
        return true
    }
}
