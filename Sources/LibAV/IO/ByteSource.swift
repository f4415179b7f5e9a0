/// The bytes of a source, read by offset: the only way in which a source is reached, so that a playlist or a
/// reference inside a file can't make anything else be read. Used by one owner at a time.
public protocol ByteSource: AnyObject {
    /// How many there are.
    var size: Int64 { get }
    /// Reads some bytes from an offset; how many there were, 0 at the end.
    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(AVError) -> Int
    /// The first error that the system reported while bytes were read; nil where there was none. Demuxers take such an error for the end of the
    /// data, for damage, or for another format.
    var failure: AVError? { get }
}

extension ByteSource {
    /// Of what isn't read from a file.
    public var failure: AVError? { nil }

    /// So many bytes from an offset; nil where there are fewer, or where they can't be read.
    public func bytes(at offset: Int64, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let isWhole = bytes.withUnsafeMutableBytes { buffer in
            var done = 0
            while done < count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
                guard let got = try? read(at: offset + Int64(done), into: rest), got > 0 else { return false }
                done += got
            }
            return true
        }
        return isWhole ? bytes : nil
    }
}

/// Where sources are.
package enum SourceLocation {
    /// It is a URL, not a path.
    package static func isRemote(_ location: String) -> Bool {
        location.hasPrefix("http://") || location.hasPrefix("https://")
    }
}
