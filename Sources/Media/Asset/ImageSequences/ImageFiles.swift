internal import ExactStrings

/// The paths of an image sequence's files, in order. The pattern is parsed once.
package struct ImageFiles: RandomAccessCollection, Sendable {
    private let path: String
    /// Nil for a single file.
    private let name: NumberedName?
    private let first: Int
    /// The first index, 0.
    package let startIndex = 0
    /// The number of files.
    package let endIndex: Int

    init(of sequence: ImageSequence) {
        path = sequence.path
        name = sequence.numbers == nil ? nil : NumberedName(path: sequence.path)
        first = sequence.numbers?.first ?? 0
        endIndex = sequence.numbers?.count ?? 1
    }

    /// The path of the file at an index.
    package subscript(index: Int) -> String { name?.path(first + index) ?? path }

    /// Returns the index of the file with this path; nil if the sequence doesn't contain it.
    package func index(ofPath path: String) -> Int? {
        guard let name else { return path.exact == self.path.exact ? 0 : nil }
        return name.number(ofPath: path).map { $0 - first }.flatMap { indices.contains($0) ? $0 : nil }
    }
}
