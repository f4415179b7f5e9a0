/// The folder of a package that is read. Paths are relative to it, without `..`.
package protocol PackageFolder {
    /// Returns the contents of a file.
    ///
    /// - Throws: `PackageReadingError` if the file can't be read, isn't beneath the folder, or has more than `limit` bytes.
    func contents(of path: String, limit: Int) throws(PackageReadingError) -> [UInt8]

    /// Returns the size of a regular file in bytes; nil if there is none beneath the folder.
    func size(of path: String) -> Int64?
}

/// A reason for which a package can't be read.
package struct PackageReadingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Path of the manifest or playlist, relative to the package's folder.
    package let path: String
    /// Line of the manifest, from 1; nil if the whole file is wrong.
    package let line: Int?
    package let reason: String

    package init(_ path: String, line: Int? = nil, _ reason: String) {
        (self.path, self.line, self.reason) = (path, line, reason)
    }

    package var description: String { "\(path)\(line.map { ":\($0)" } ?? ""): \(reason)" }
}

/// Bounds of packages that are read, which may come from anyone.
enum ReadingLimits {
    /// Maximum size of a manifest or playlist in bytes.
    static let manifest = 16 << 20
    /// Maximum size of all manifests and playlists of a package in bytes.
    static let manifests = 64 << 20
    /// Maximum number of renditions and variants.
    static let renditions = 500
    /// Maximum number of segments of all renditions.
    static let segments = 1 << 20
    /// Maximum duration of a package in microseconds: ten years.
    static let duration: Int64 = 10 * 366 * 86_400 * 1_000_000
    /// Maximum depth of elements in an MPD.
    static let depth = 32
}
