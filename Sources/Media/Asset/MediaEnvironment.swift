internal import FileSystem
public import LibAV

/// Access to the sources of assets, with limits and an optional cache of probe results.
public struct MediaEnvironment: Sendable {
    /// Access rules and limits for files and URLs.
    public var sources: SourceEnvironment
    /// Cache of probed assets; nil for none.
    package var cache: AssetCache?
    /// Folder for temporary files, for libraries that open files only by name; `TMPDIR` or `/tmp` by default.
    package var folder = SystemFolders.temporary

    /// Creates an environment without a cache. By default, all files are accessible, and no URLs.
    public init(sources: SourceEnvironment = SourceEnvironment()) { self.init(sources: sources, cache: nil) }

    package init(sources: SourceEnvironment = SourceEnvironment(), cache: AssetCache?) {
        self.sources = sources
        self.cache = cache
    }
}
