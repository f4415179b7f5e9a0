internal import ExactStrings
internal import FileSystem
package import LibAV
internal import Streaming

/// The search for the files of a package that is read as a source.
enum PackageFinder {
    /// Returns the package of a manifest, which is in a folder beneath `root`.
    ///
    /// - Throws: `SourceProblem` if a manifest can't be read as a source, or a segment doesn't exist beneath the folder.
    static func package(at manifest: String, beneath root: PathRoot) throws(SourceProblem) -> SegmentedPackage
    {
        guard let name = manifest.pathParts.last else { throw SourceProblem("the path names no file") }
        let folder: LocalPackageFolder
        do throws(PackageFolderProblem) {
            folder = try LocalPackageFolder(of: manifest, beneath: root)
        } catch {
            switch error {
            case .unreadable: throw SourceProblem("no such file")
            case .outsideRoot: throw SourceProblem("it is outside of --root, or a link leads out of it")
            }
        }
        let selection: PackageSelection
        do throws(PackageReadingError) {
            selection = try PackageReader.selection(of: name, in: folder)
        } catch {
            let line = error.line.map { "line \($0): " } ?? ""
            throw SourceProblem(error.path == name ? line + error.reason : "\(error)")
        }
        guard selection.renditions.count <= SegmentedPackage.maxParts else {
            throw SourceProblem("more than \(SegmentedPackage.maxParts) renditions")
        }
        var builder = Builder(folder: folder, manifest: name)
        let parts = try selection.renditions.map { rendition throws(SourceProblem) in
            try builder.part(rendition)
        }
        return SegmentedPackage(
            folder: folder.root.path ?? "", files: builder.files, parts: parts,
            identity: SegmentedPackage.digest(of: builder.identities))
    }

    /// The files of a package, each of which is opened once.
    private struct Builder {
        let folder: LocalPackageFolder
        let manifest: String
        private(set) var files: [String] = []
        private var known: [ExactString: (index: Int, size: Int64)] = [:]
        /// Identities of all files, a line each.
        private(set) var identities = ""

        init(folder: LocalPackageFolder, manifest: String) {
            (self.folder, self.manifest) = (folder, manifest)
        }

        private func problem(_ reason: String, in rendition: String) -> SourceProblem {
            SourceProblem(rendition.exact == manifest.exact ? reason : "\(rendition): \(reason)")
        }

        mutating func part(
            _ rendition: PackageSelection.Rendition
        ) throws(SourceProblem) -> SegmentedPackage.Part {
            var sections: [SegmentedPackage.Section] = []
            for range in rendition.files {
                let (file, size) = try file(range.path, of: rendition.name)
                let end = range.end ?? size
                guard range.start < end, end <= size else {
                    throw problem("a byte range is behind the end of \(range.path)", in: rendition.name)
                }
                if let last = sections.last, last.file == file, last.offset + last.length == range.start {
                    sections[sections.count - 1].length += end - range.start
                } else {
                    sections.append(
                        SegmentedPackage.Section(file: file, offset: range.start, length: end - range.start))
                }
            }
            var part = SegmentedPackage.Part(name: rendition.name, sections: sections)
            part.language = rendition.language
            part.title = rendition.title
            part.disposition = rendition.disposition
            return part
        }

        private mutating func file(
            _ path: String, of rendition: String
        ) throws(SourceProblem) -> (index: Int, size: Int64) {
            if let known = known[path.exact] { return known }
            guard let identity = folder.identity(of: path) else {
                throw problem(
                    "\(path) doesn't exist, isn't a regular file, or is outside of the package's folder",
                    in: rendition)
            }
            guard identity.size > 0 else { throw problem("\(path) is empty", in: rendition) }
            let found = (index: files.count, size: identity.size)
            known[path.exact] = found
            files.append(path)
            identities += identity.line(of: path)
            return found
        }
    }
}

extension FileIdentity {
    /// A line that changes with the file of a package.
    fileprivate func line(of path: String) -> String { "\(path) \(inode) \(size) \(time)\n" }
}

extension SegmentedPackage {
    /// Identity of all files as they are now; nil if one is missing.
    package var currentIdentity: String? {
        guard let folder = try? LocalPackageFolder(of: folder + "/", beneath: .anywhere) else { return nil }
        var identities = ""
        for file in files {
            guard let identity = folder.identity(of: file) else { return nil }
            identities += identity.line(of: file)
        }
        return Self.digest(of: identities)
    }

    fileprivate static func digest(of identities: String) -> String {
        var hasher = SHA256Hasher()
        hasher.update(identities)
        return hasher.finish()
    }
}
