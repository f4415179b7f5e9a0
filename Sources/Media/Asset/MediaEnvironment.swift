internal import Glibc
public import LibAV

/// Access to the media of assets, and caches.
public struct MediaEnvironment: Sendable {
    /// Access to files and URLs.
    public var sources: SourceEnvironment
    /// Cache of probed assets; nil for none.
    package var cache: AssetCache?
    /// Folder for temporary files, for libraries that read by file name only.
    package var folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"

    /// Creates an environment without a cache; by default any file is accessible, and no URL.
    public init(sources: SourceEnvironment = SourceEnvironment()) { self.init(sources: sources, cache: nil) }

    /// Creates an environment with a cache.
    package init(sources: SourceEnvironment = SourceEnvironment(), cache: AssetCache?) {
        self.sources = sources
        self.cache = cache
    }
}
