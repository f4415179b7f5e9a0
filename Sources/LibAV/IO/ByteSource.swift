/// The bytes of a source file, read by offset. Sources are accessed only through this protocol, so that a playlist or
/// a reference inside a file can't cause another file to be read. Used by one owner at a time.
package protocol ByteSource: AnyObject {
    /// Size of the source in bytes.
    var size: Int64 { get }
    /// Reads bytes from an offset. Returns the number of bytes read, which may be less than the buffer's size; 0 at
    /// the end.
    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(AVError) -> Int
    /// First read error of the system; nil if there was none. Demuxers interpret a read error as the end of the data,
    /// as damage, or as another format.
    var failure: AVError? { get }
}

extension ByteSource {
    /// Default: nil, for sources without a file.
    package var failure: AVError? { nil }

    /// Returns `count` bytes from an offset; nil if there are fewer, or if they can't be read.
    package func bytes(at offset: Int64, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let isWhole = bytes.withUnsafeMutableBytes { buffer in
            var done = 0
            while done < count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
                guard let received = try? read(at: offset + Int64(done), into: rest), received > 0 else {
                    return false
                }
                done += received
            }
            return true
        }
        return isWhole ? bytes : nil
    }
}

/// The classification of sources by location.
package enum SourceLocation {
    /// Returns whether a location is a URL and not a path.
    package static func isRemote(_ location: String) -> Bool {
        location.hasPrefix("http://") || location.hasPrefix("https://")
    }
}

/// A source whose bytes are in memory.
package protocol MemorySource: ByteSource {
    var bytes: [UInt8] { get }
}

extension MemorySource {
    package var size: Int64 { Int64(bytes.count) }

    package func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(AVError) -> Int {
        guard offset >= 0, offset < size else { return 0 }
        let part = bytes[Int(offset)..<min(bytes.count, Int(offset) + buffer.count)]
        buffer.copyBytes(from: part)
        return part.count
    }
}
