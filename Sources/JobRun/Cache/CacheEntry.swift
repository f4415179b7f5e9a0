internal import FoundationEssentials
internal import Glibc
internal import LibAV

/// The header of an entry in a cache.
///
/// An entry is a file: a line with `tandem-cache 1`, the length of the header in bytes and its SHA-256; the header as JSON;
/// and the bytes of the output, if it is an output. Everything but the first line is covered by a digest, and the first line
/// by the length of the file.
struct CacheEntry<Content: Codable & Sendable>: Codable, Sendable {
    /// The key under which the entry was stored.
    var key: String
    /// Size of the output in bytes; 0 if the entry is a result.
    var size: Int64
    /// SHA-256 of the output's bytes.
    var digest: String
    /// Program that stored the entry.
    var program: String
    /// Findings on the output without preview, or the result.
    var content: Content

    /// Returns the first line and the header in JSON, whose length doesn't depend on the digest. Throws for numbers that JSON
    /// can't represent.
    func header() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let json = Array(try encoder.encode(self))
        return Array("\(CacheFormat.magic) \(json.count) \(SHA256Hasher.digest(of: json))\n".utf8) + json
    }

    /// Reads the header of an open file. Returns the entry and the position of the output's bytes; nil if the file isn't a
    /// complete entry of this key.
    static func read(from descriptor: Int32, as key: CacheKey) -> (entry: CacheEntry, offset: Int64)? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            let beginning = bytes(of: descriptor, at: 0, count: CacheFormat.maxLine, isExact: false),
            let end = beginning.firstIndex(of: UInt8(ascii: "\n"))
        else { return nil }
        let words = String(decoding: beginning[..<end], as: UTF8.self).split(separator: " ")
        guard words.count == 4, "\(words[0]) \(words[1])" == CacheFormat.magic, let count = Int(words[2]),
            (2...CacheFormat.maxHeader).contains(count),
            let json = bytes(of: descriptor, at: Int64(end) + 1, count: count, isExact: true),
            SHA256Hasher.digest(of: json) == words[3],
            let entry = try? JSONDecoder().decode(CacheEntry.self, from: Data(json))
        else { return nil }
        let offset = Int64(end) + 1 + Int64(count)
        guard entry.key == key.text, entry.size >= 0, SHA256Hasher.isDigest(entry.digest),
            Int64(status.st_size) - offset == entry.size
        else { return nil }
        return (entry, offset)
    }

    /// Returns bytes of a file; nil if they can't be read or, with `isExact`, if there are fewer.
    private static func bytes(
        of descriptor: Int32, at offset: Int64, count: Int, isExact: Bool
    ) -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            while initialized < count, let base = buffer.baseAddress {
                let got = pread(
                    descriptor, base + initialized, count - initialized, off_t(offset) + off_t(initialized))
                if got < 0, errno == EINTR { continue }
                guard got > 0 else { break }
                initialized += got
            }
        }
        return isExact && bytes.count < count ? nil : bytes
    }
}

private enum CacheFormat {
    /// First words of the first line, with the version of the format.
    static let magic = "tandem-cache 1"
    /// Maximum length of the first line and of the header in bytes.
    static let (maxLine, maxHeader) = (256, 8 << 20)
}
