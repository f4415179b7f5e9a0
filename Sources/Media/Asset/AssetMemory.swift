internal import Glibc
internal import LibAV
internal import Locking

/// What assets were found to be, for a process that is asked about a file first and reads it later: finding out what
/// codecs are decodes frames, which takes longer than to copy a short clip.
public enum AssetMemory {
    private struct Key: Hashable {
        let device: UInt64
        let inode: UInt64
        let size: Int64
        let seconds: Int
        let nanoseconds: Int
        let timing: AssetTiming
    }

    private struct Known: Sendable {
        var limit = 0
        var contents: [Key: AssetContents] = [:]
        /// In the order they came, around a ring.
        var order: [Key] = []
        var next = 0

        mutating func note(_ found: AssetContents, of key: Key) {
            // Nothing is kept any more, though it was when the look began.
            guard limit > 0 else { return }
            guard contents.updateValue(found, forKey: key) == nil else { return }
            if order.count < limit {
                order.append(key)
            } else {
                contents[order[next]] = nil
                order[next] = key
                next = (next + 1) % limit
            }
        }
    }

    private static let known = Guarded(Known())

    /// Remembers so many assets from now on, the latest; none before this is called.
    public static func remember(_ limit: Int) {
        known.withLock { known in
            known = Known()
            known.limit = max(0, limit)
        }
    }

    /// What a file was found to be, or is found to be now.
    static func contents(
        ofFile path: String, timing: AssetTiming, orElse read: () throws -> AssetContents
    ) throws -> AssetContents {
        guard known.withLock({ $0.limit > 0 }), let key = key(path, timing) else { return try read() }
        if let contents = known.withLock({ $0.contents[key] }) { return contents }
        let contents = try read()
        // What changed while it was read is not known; what is large, such as fonts that came along, is not kept.
        let bytes = contents.tracks.reduce(0) { sum, track in
            sum + track.format.parameters.extradataSize + track.sideData.reduce(0) { $0 + $1.bytes.count }
        }
        if bytes <= 16 << 10, contents.chapters.count <= 100, Self.key(path, timing) == key {
            known.withLock { $0.note(contents, of: key) }
        }
        return contents
    }

    private static func key(_ path: String, _ timing: AssetTiming) -> Key? {
        guard !SourceLocation.isRemote(path), let source = try? FileSource(path: path),
            let status = source.status
        else { return nil }
        return Key(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec, timing: timing)
    }
}
