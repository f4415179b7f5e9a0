internal import ExactStrings
package import Media

/// Files of a job that its worker asks for by their places.
package enum RequestedFiles: Sendable {
    /// Those of an image sequence.
    case images(ImageFiles)
    /// Those of a composition.
    case listed([String])

    /// How many there are.
    package var count: Int {
        switch self {
        case .images(let files): files.count
        case .listed(let paths): paths.count
        }
    }

    /// The paths of some of them, from one on.
    package func paths(from index: Int, most: Int) -> [String] {
        guard (0..<count).contains(index) else { return [] }
        return (index..<min(count, index + max(0, most))).map { place in
            switch self {
            case .images(let files): files[place]
            case .listed(let paths): paths[place]
            }
        }
    }

    /// Which of them a path is; nil where it is none.
    package func index(ofPath path: String) -> Int? {
        switch self {
        case .images(let files): files.index(ofPath: path)
        case .listed(let paths): paths.firstIndex { $0.exact == path.exact }
        }
    }
}
