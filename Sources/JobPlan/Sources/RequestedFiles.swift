internal import ExactStrings
package import Media

/// The files of a job that its worker requests by their indices.
package enum RequestedFiles: Sendable {
    /// The files of an image sequence.
    case images(ImageFiles)
    /// The files of a composition.
    case listed([String])

    package var count: Int {
        switch self {
        case .images(let files): files.count
        case .listed(let paths): paths.count
        }
    }

    /// Returns the paths of at most `most` files, starting at an index.
    package func paths(from index: Int, most: Int) -> [String] {
        guard (0..<count).contains(index) else { return [] }
        return (index..<min(count, index + max(0, most))).map { position in
            switch self {
            case .images(let files): files[position]
            case .listed(let paths): paths[position]
            }
        }
    }

    /// Returns the index of a path; nil if it isn't one of the files.
    package func index(ofPath path: String) -> Int? {
        switch self {
        case .images(let files): files.index(ofPath: path)
        case .listed(let paths): paths.firstIndex { $0.exact == path.exact }
        }
    }
}
