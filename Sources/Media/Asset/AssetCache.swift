internal import Glibc
internal import LibAV
internal import Locking

/// Cache of probed assets, for a process that inspects a file first and reads it later: detecting codecs decodes
/// frames, which takes longer than copying a short clip.
package final class AssetCache: Sendable {
    private struct Key: Hashable {
        let device: UInt64
        let inode: UInt64
        let size: Int64
        let seconds: Int
        let nanoseconds: Int
        let timing: AssetTiming
        /// The files of a package that is read by its manifest; nil for other sources.
        let package: SegmentedPackage?
    }

    private struct Storage: Sendable {
        let limit: Int
        var contents: [Key: AssetContents] = [:]
        /// Ring buffer of keys in order of insertion.
        var order: [Key] = []
        var next = 0

        mutating func insert(_ new: AssetContents, for key: Key) {
            guard contents.updateValue(new, forKey: key) == nil else { return }
            if order.count < limit {
                order.append(key)
            } else {
                contents[order[next]] = nil
                order[next] = key
                next = (next + 1) % limit
            }
        }
    }

    private let storage: Guarded<Storage>

    /// Creates a cache for the latest `limit` assets, at least one.
    package init(limit: Int) { storage = Guarded(Storage(limit: max(1, limit))) }

    /// Returns the contents of a file from the cache, or reads and caches them.
    func contents(
        ofFile path: String, timing: AssetTiming, environment: SourceEnvironment,
        orElse read: () throws -> AssetContents
    ) throws -> AssetContents {
        guard let key = key(path, timing, environment) else { return try read() }
        if let contents = storage.withLock({ $0.contents[key] }) { return contents }
        let contents = try read()
        // Contents are cached only if the file didn't change meanwhile and they are small; attached fonts, for
        // example, are large.
        let bytes = contents.tracks.reduce(0) { sum, track in
            sum + track.format.parameters.extradataSize + track.sideData.reduce(0) { $0 + $1.bytes.count }
        }
        if bytes <= 16 << 10, contents.chapters.count <= 100, self.key(path, timing, environment) == key {
            storage.withLock { $0.insert(contents, for: key) }
        }
        return contents
    }

    private func key(_ path: String, _ timing: AssetTiming, _ environment: SourceEnvironment) -> Key? {
        guard !SourceLocation.isRemote(path), let source = try? environment.file(path),
            let status = source.status
        else { return nil }
        return Key(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec, timing: timing,
            package: environment.packages[path])
    }
}
