package import Diagnostics
internal import ExactStrings

/// The files of an asset that stands for several: paths and patterns. A job that reads the asset has an instance for each
/// file.
package struct FilePatterns: Sendable {
    /// A path or a pattern.
    package struct Entry: Sendable {
        /// The text in the job file.
        package let written: Located<String>
        /// The paths or patterns that the text stands for, with its braces expanded.
        package let expansions: [String]
        /// Whether files are searched. Otherwise each of `expansions` is the path of a file.
        package let isPattern: Bool

        /// Creates an entry from a text without a problem according to `GlobPattern`.
        init(_ written: Located<String>) {
            self.written = written
            expansions = BraceExpansion.expand(written.value) ?? []
            isPattern = expansions.contains(where: GlobPattern.isPattern)
        }
    }

    /// A file of the asset.
    package struct File: Hashable, Sendable {
        /// The path, relative to the folder of the entry unless it is absolute.
        package var path: String
        /// Index of the first entry that includes the file.
        package var entry: Int

        package init(path: String, entry: Int) {
            self.path = path
            self.entry = entry
        }
    }

    /// The paths and patterns, in the order of their files.
    package let entries: [Entry]
    /// Paths and patterns of files that are omitted, unless an entry is the path of the file.
    package let exceptions: [Entry]
    /// The location of the path or the list in the job file.
    package let range: SourceRange

    /// Returns whether a location is that of the value, or of one of its texts.
    package func contains(_ location: SourceRange) -> Bool {
        location == range || (entries + exceptions).contains { $0.written.range == location }
    }

    /// The files, if no entry is a pattern; otherwise nil.
    func listed(absolutePath: (Located<String>) -> String) -> [File]? {
        guard !entries.contains(where: \.isPattern) else { return nil }
        return files(absolutePath: absolutePath) { _ in [] }
    }

    /// Returns the files, each once. `matches` returns the files of the pattern at an index.
    package func files(
        absolutePath: (Located<String>) -> String, matches: (Int) -> [String]
    ) -> [File] {
        var seen: Set<ExactString> = []
        return entries.indices.flatMap { index -> [File] in
            let entry = entries[index]
            let paths = entry.isPattern ? matches(index) : entry.expansions.map(Self.normalized)
            return paths.filter { path in
                let absolute = absolutePath(Located(path, at: entry.written.range))
                return seen.insert(Self.normalized(absolute).exact).inserted
            }.map { File(path: $0, entry: index) }
        }
    }

    /// The folder that all files have in common, with the trailing `/`: the part before the first component in which
    /// the entries differ or have a wildcard. Empty if there is none.
    var commonFolder: String {
        let folders = entries.flatMap(\.expansions).map { expansion -> [Substring] in
            // The first part of an absolute path is empty.
            let parts = Self.normalized(expansion).split(separator: "/", omittingEmptySubsequences: false)
            return parts.dropLast().prefix { !GlobPattern.isPattern(String($0)) }
        }
        guard var common = folders.first?[...] else { return "" }
        for folder in folders.dropFirst() {
            let count = zip(common, folder).prefix { $0.utf8.elementsEqual($1.utf8) }.count
            common = common.prefix(count)
        }
        return common.map { $0 + "/" }.joined()
    }

    /// Returns a path without `.` components and repeated slashes.
    package static func normalized(_ path: String) -> String {
        let parts = path.pathParts.filter { $0 != "." }.joined(separator: "/")
        return path.hasPrefix("/") ? "/" + parts : parts
    }
}

/// Matching of files with patterns by their names, without the file system.
extension FilePatterns {
    /// Patterns of absolute paths, by the entries that they stand for.
    package struct Matcher: Sendable {
        private let patterns: [(entry: Int, components: [String])]

        fileprivate init(_ entries: [(index: Int, entry: Entry)], absolutePath: (Located<String>) -> String) {
            patterns = entries.flatMap { index, entry in
                entry.expansions.map { expansion in
                    let path = absolutePath(Located(expansion, at: entry.written.range))
                    return (index, FilePatterns.normalized(path).pathParts)
                }
            }
        }

        /// Whether there are no patterns.
        package var isEmpty: Bool { patterns.isEmpty }

        /// Returns the indices of the entries that match an absolute path, in order.
        package func entries(matching path: String) -> [Int] {
            let components = FilePatterns.normalized(path).pathParts
            return patterns.filter { GlobPattern.matches(path: components, $0.components) }.map(\.entry)
        }
    }

    /// Returns a matcher of the patterns among the entries.
    package func patternMatcher(absolutePath: (Located<String>) -> String) -> Matcher {
        Matcher(
            entries.enumerated().filter(\.element.isPattern).map { ($0.offset, $0.element) },
            absolutePath: absolutePath)
    }

    /// Returns a matcher of the exceptions.
    package func exceptionMatcher(absolutePath: (Located<String>) -> String) -> Matcher {
        Matcher(exceptions.enumerated().map { ($0.offset, $0.element) }, absolutePath: absolutePath)
    }
}
