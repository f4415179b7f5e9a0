package import LibAV
package import Media
package import Publishing
internal import FileSystem

// Initializers without an environment: tests may open any file.

extension Asset {
    /// Creates an asset that may access any file.
    package convenience init(
        _ source: Source, timing: AssetTiming = .fast, discovery: StreamDiscovery = .decoding
    ) {
        self.init(source, timing: timing, environment: MediaEnvironment(), discovery: discovery)
    }
}

extension Demuxer {
    /// Opens a file without access restrictions.
    package static func open(path: String) throws(InputError) -> Demuxer {
        try open(path: path, environment: SourceEnvironment())
    }
}

extension TemporaryFile {
    /// Creates a temporary file for a destination in any folder.
    package convenience init(destination: String) throws {
        try self.init(destination: destination, in: .anywhere)
    }
}
