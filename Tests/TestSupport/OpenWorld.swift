package import LibAV
package import Media
package import Publishing
internal import FileSystem

// Tests reach any file: what is handed to assets elsewhere is left out in them.

extension Asset {
    /// An asset over any file.
    package convenience init(
        _ source: Source, timing: AssetTiming = .fast, discovery: StreamDiscovery = .decoding
    ) {
        self.init(source, timing: timing, environment: MediaEnvironment(), discovery: discovery)
    }
}

extension Demuxer {
    /// Opens any file.
    package static func open(path: String) throws(InputError) -> Demuxer {
        try open(path: path, environment: SourceEnvironment())
    }
}

extension TemporaryFile {
    /// A file beside any destination.
    package convenience init(destination: String) throws {
        try self.init(destination: destination, in: .anywhere)
    }
}
