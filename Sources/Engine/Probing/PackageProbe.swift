internal import ExactStrings
internal import FileSystem
internal import Glibc
package import Streaming

/// Describes streaming packages on disk. Only files beneath the folder of the manifest are read, regardless of links.
package enum PackageProbe {
    /// Whether a source is a manifest of a package, by its extension.
    package static func isManifest(_ path: String) -> Bool {
        let ending = (path.pathParts.last ?? "").nameParts.ending?.lowercased()
        return ending == "m3u8" || ending == "mpd"
    }

    /// Returns the description of the package whose manifest is at a path.
    ///
    /// - Throws: An error if the manifest is outside of the root of `access`, or the package can't be read.
    package static func description(
        of manifest: String, _ access: SourceAccess
    ) throws(EngineError) -> PackageDescription {
        guard let name = manifest.pathParts.last else { throw EngineError(.usage, "\(manifest) is no file") }
        let path = manifest.lastSlash.map { String(manifest[..<$0]) } ?? "."
        guard let resolved = RealPath.of(path.isEmpty ? "/" : path),
            let folder = PathRoot(folder: resolved)
        else {
            throw EngineError(.environment, "\(manifest): can't open the folder")
        }
        guard access.root.path == nil || access.root.path == resolved || access.root.contains(resolved)
        else {
            throw EngineError(.environment, "\(manifest) is outside of --root")
        }
        do throws(PackageReadingError) {
            return try PackageReader.description(of: name, in: LocalPackageFolder(root: folder))
        } catch {
            throw EngineError(.jobFailed, "\(error)")
        }
    }
}

/// A package's folder in the file system.
private struct LocalPackageFolder: PackageFolder {
    let root: PathRoot

    private func open(_ path: String, _ flags: Int32) -> Int32 {
        root.open((root.path ?? "") + "/" + path, flags)
    }

    func contents(of path: String, limit: Int) throws(PackageReadingError) -> [UInt8] {
        do throws(RegularFile.ReadingError) {
            return try RegularFile.contents(limit: limit) { open(path, $0) }
        } catch {
            switch error {
            case .notRegular: throw PackageReadingError(path, "not a regular file")
            case .system(EXDEV):
                throw PackageReadingError(path, "the path leaves the package's folder by a link")
            case .system(let code): throw PackageReadingError(path, String(cString: strerror(code)))
            case .tooLarge(let size):
                throw PackageReadingError(
                    path, "the manifest has \(size) bytes; at most \(limit) are supported")
            }
        }
    }

    func size(of path: String) -> Int64? { try? RegularFile.size { open(path, $0) } }
}
