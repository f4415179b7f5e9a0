internal import ExactStrings
package import FileSystem

/// A streaming package that is read as one source. Each rendition is a part, whose bytes are its initialization section and
/// its segments one after the other.
package struct SegmentedPackage: Codable, Hashable, Sendable {
    /// A range of a file.
    package struct Section: Codable, Hashable, Sendable {
        /// Index of the file in `files`.
        package var file: Int
        /// Position of the first byte.
        package var offset: Int64
        /// Number of bytes.
        package var length: Int64

        package init(file: Int, offset: Int64, length: Int64) {
            (self.file, self.offset, self.length) = (file, offset, length)
        }
    }

    /// A rendition.
    package struct Part: Codable, Hashable, Sendable {
        /// Path of its playlist, or its id.
        package var name: String
        package var sections: [Section]
        /// Language that the manifest states, as an ISO 639-2 code if there is one; nil for none.
        package var language: String?
        /// Title that the manifest states; nil for none.
        package var title: String?
        /// Dispositions that the manifest states, by libavformat's names; nil to keep those of the media.
        package var disposition: [String]?

        package init(name: String, sections: [Section]) { (self.name, self.sections) = (name, sections) }

        /// Size of all sections in bytes.
        var size: Int64 { sections.reduce(0) { $0.adding(upToLimit: $1.length) } }
    }

    /// Absolute path of the folder, with links resolved, beneath which all files are.
    package var folder: String
    /// Paths of the files relative to the folder, without duplicates.
    package var files: [String]
    /// The renditions that are read, at least one.
    package var parts: [Part]
    /// Text that changes with any of the files.
    package var identity: String

    package init(folder: String, files: [String], parts: [Part], identity: String) {
        (self.folder, self.files, self.parts, self.identity) = (folder, files, parts, identity)
    }

    /// Maximum number of renditions that are read.
    package static let maxParts = 100

    /// Returns the absolute path of a file.
    package func path(of file: Int) -> String { folder + "/" + files[file] }

    /// Whether all paths are beneath the folder and all indices and numbers are in range. Checked for plans from untrusted
    /// input.
    package var isValid: Bool {
        folder.hasPrefix("/") && (1...Self.maxParts).contains(parts.count)
            && files.allSatisfy { file in
                !file.isEmpty && !file.hasPrefix("/") && !file.utf8.contains(0)
                    && !file.pathParts.contains("..")
            }
            && parts.allSatisfy { part in
                !part.sections.isEmpty
                    && part.sections.allSatisfy {
                        files.indices.contains($0.file) && (0...1 << 50).contains($0.offset)
                            && (1...1 << 50).contains($0.length)
                    }
            }
    }

    /// Opens the root of the package's files, which must be beneath another root; nil if that isn't the case, or if the
    /// folder doesn't exist.
    package func root(beneath other: PathRoot) -> PathRoot? {
        guard let root = PathRoot(folder: folder), let path = root.path else { return nil }
        return other.path == path || other.contains(path) ? root : nil
    }
}

/// The packages that an environment can open, by the paths of their manifests.
package struct PackageTable: Sendable {
    private var packages: [ExactString: SegmentedPackage] = [:]
    /// Packages and indices of their parts, by location.
    private var parts: [ExactString: (package: SegmentedPackage, part: Int)] = [:]

    package init() {}

    /// The package with a manifest; nil if there is none.
    package subscript(manifest: String) -> SegmentedPackage? { packages[manifest.exact] }

    /// Adds a package. Its parts are opened by their locations.
    package mutating func add(_ package: SegmentedPackage, at manifest: String) {
        packages[manifest.exact] = package
        for index in package.parts.indices {
            parts[Self.location(of: package.parts[index], at: manifest).exact] = (package, index)
        }
    }

    /// Returns the location by which a part is opened: the manifest and the part's name.
    package static func location(of part: SegmentedPackage.Part, at manifest: String) -> String {
        "\(manifest)#\(part.name)"
    }

    /// Returns the package of a part, and the part's index, by its location.
    func part(at location: String) -> (package: SegmentedPackage, part: Int)? { parts[location.exact] }
}
