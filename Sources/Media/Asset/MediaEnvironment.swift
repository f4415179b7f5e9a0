internal import Glibc
public import LibAV

/// What an asset is given to find its media with.
public struct MediaEnvironment: Sendable {
    /// Through what its file is reached.
    public var sources: SourceEnvironment
    /// What other assets over the same file were found to be; nil where nothing is remembered.
    package var memory: AssetCache?
    /// Where files may lie for a moment that a library reads by their names.
    package var folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"

    /// Any file, no URL, and no memory, where nothing else is said.
    public init(sources: SourceEnvironment = SourceEnvironment()) { self.init(sources: sources, memory: nil) }

    /// With what is remembered of files.
    package init(sources: SourceEnvironment = SourceEnvironment(), memory: AssetCache?) {
        self.sources = sources
        self.memory = memory
    }
}
