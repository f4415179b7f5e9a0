internal import ExactStrings
package import FileSystem
package import LibAV
package import Media

/// The files of a job that its worker requests by their indices.
package enum RequestedFiles: Sendable {
    /// The files of an image sequence.
    case images(ImageFiles)
    /// The files of a composition, or with encoded chunks.
    case listed([String])
    /// The files of a package.
    case package(PackageFileList)

    package var count: Int {
        switch self {
        case .images(let files): files.count
        case .listed(let paths): paths.count
        case .package(let files): files.package.files.count
        }
    }

    /// Returns the paths of at most `most` files, starting at an index.
    package func paths(from index: Int, most: Int) -> [String] {
        guard (0..<count).contains(index) else { return [] }
        return (index..<min(count, index + max(0, most))).map { position in
            switch self {
            case .images(let files): files[position]
            case .listed(let paths): paths[position]
            case .package(let files): files.package.path(of: position)
            }
        }
    }

    /// Returns the index of a path; nil if it isn't one of the files.
    package func index(ofPath path: String) -> Int? {
        switch self {
        case .images(let files): files.index(ofPath: path)
        case .listed(let paths): paths.firstIndex { $0.exact == path.exact }
        case .package(let files): files.index(ofPath: path)
        }
    }

    /// Returns the root beneath which the files must be: that of the other files, or the folder of a package. Nil if the
    /// folder isn't beneath the other root, or doesn't exist.
    package func root(beneath other: PathRoot) -> PathRoot? {
        if case .package(let files) = self { files.package.root(beneath: other) } else { other }
    }
}

/// The files of a package with their indices.
package struct PackageFileList: Sendable {
    package let package: SegmentedPackage
    private let indices: [ExactString: Int]

    package init(_ package: SegmentedPackage) {
        self.package = package
        indices = Dictionary(
            package.files.indices.map { (package.path(of: $0).exact, $0) },
            uniquingKeysWith: { first, _ in first })
    }

    func index(ofPath path: String) -> Int? { indices[path.exact] }
}

extension ProbeRequest {
    /// Files that a worker requests on demand.
    package var requestedFiles: [RequestedFiles] { package.map { [.package(PackageFileList($0))] } ?? [] }
}
