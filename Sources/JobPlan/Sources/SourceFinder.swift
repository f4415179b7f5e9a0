package import Diagnostics
internal import ExactStrings
package import FileSystem
package import JobSpec
internal import LibAV
internal import Media
package import Publishing

/// The search for the local files that jobs read. The folder of an image sequence is listed once, even if
/// several jobs read it.
package struct SourceFinder {
    private let root: PathRoot
    private let disk: any DiskQueries
    /// Maximum number of entries of a folder with numbered images.
    private static let entryLimit = 10_000_000
    private var found: [ExactString: Result<[Int], SourceProblem>] = [:]

    package init(beneath root: PathRoot = .anywhere, on disk: any DiskQueries = SystemDisk()) {
        (self.root, self.disk) = (root, disk)
    }

    /// Returns the image sequence of a path with a placeholder for the number.
    /// - Throws: `SourceProblem` if there are no files, if a number is missing between others, or if the folder can't
    ///   be read.
    mutating func sequence(_ path: String, frameRate: Rational) throws(SourceProblem) -> ImageSequence {
        let (name, numbers) = try numbers(path)
        guard let first = numbers.first, let last = numbers.last else {
            throw SourceProblem(
                "no file matches; the first must be \(name.path(0)) or \(name.path(1))")
        }
        for (number, next) in zip(numbers, numbers.dropFirst()) where next != number + 1 {
            let missing = next == number + 2 ? "\(number + 1)" : "\(number + 1) to \(next - 1)"
            throw SourceProblem(
                "the numbers range from \(first) to \(last), but \(missing) \(next == number + 2 ? "is" : "are") missing: \(name.path(number + 1))"
            )
        }
        return ImageSequence(
            numbered: path, ImageSequence.Numbers(first: first, count: numbers.count), frameRate: frameRate)
    }

    /// Returns the numbers of the existing files of an image sequence, in ascending order. The folder is listed once.
    private mutating func numbers(_ path: String) throws(SourceProblem) -> (NumberedName, [Int]) {
        guard let name = NumberedName(path: path) else {
            throw SourceProblem("the name contains no number pattern such as `%04d`")
        }
        let result =
            found[path.exact] ?? Result { () throws(SourceProblem) in try all(of: name).sorted() }
        found[path.exact] = result
        return (name, try result.get())
    }

    /// Returns the absolute paths of the files that some job files' assets and jobs read, with covers and subtitle files, each with
    /// its first location in a job file. For numbered images, the existing files; for packages, their segments.
    package mutating func files(of jobFiles: [JobFile]) -> [(path: String, location: SourceRange)] {
        var files: [(path: String, location: SourceRange)] = []
        var seen: Set<ExactString> = []
        for file in jobFiles {
            for spec in (file.assets.map(\.asset) + file.jobs.map(\.asset)).flatMap(\.parts) {
                guard let written = spec.path, seen.insert(file.absolutePath(written).exact).inserted else {
                    continue
                }
                files += self.files(of: spec.source, at: file.absolutePath(written)).map {
                    ($0, written.range)
                }
            }
            for written in file.jobs.flatMap(\.addedFiles).map(\.path) {
                let path = file.absolutePath(written)
                if seen.insert(path.exact).inserted { files.append((path, written.range)) }
            }
        }
        return files
    }

    /// Returns the absolute paths of the files of a source with a path: the path itself; for numbered images, the existing
    /// files; for packages, also their segments, if the package can be read.
    mutating func files(of source: AssetSpec.Source, at path: String) -> [String] {
        switch source {
        case .file, .image: return [path]
        case .playlist:
            guard let package = try? PackageFinder.package(at: path, beneath: root) else { return [path] }
            return [path] + package.files.indices.map(package.path)
        case .images:
            guard let (name, numbers) = try? numbers(path) else { return [] }
            return numbers.map(name.path)
        case .url, .glob, .pattern, .job, .composition, .composed: return []
        }
    }

    private func all(of name: NumberedName) throws(SourceProblem) -> [Int] {
        let entries: [FolderEntry]
        do throws(FolderProblem) {
            entries = try disk.entries(of: name.directory, beneath: root, limit: Self.entryLimit)
        } catch {
            switch error {
            case .tooMany:
                throw SourceProblem("the folder \(name.directory) has more than \(Self.entryLimit) entries")
            case .unreadable(let code):
                let reason = InputError.Reason.file(FileSourceProblem(errno: code, beneath: root))
                throw SourceProblem(
                    "the folder \(name.directory): "
                        + InputError(path: name.directory, reason: reason).explanation)
            }
        }
        let numbers = entries.filter(\.isText).compactMap { name.number(of: $0.name) }
        guard numbers.count <= ImageSequence.maxFiles else {
            throw SourceProblem("more than \(ImageSequence.maxFiles) files match")
        }
        return numbers
    }
}
