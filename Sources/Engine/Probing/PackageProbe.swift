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

    /// Opens a regular file; -1 if there is none. Other kinds, such as pipes, must not block.
    private func open(_ path: String, _ status: inout stat) -> Int32 {
        let file = root.open((root.path ?? "") + "/" + path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { return -1 }
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(file)
            errno = EINVAL
            return -1
        }
        return file
    }

    func contents(of path: String, limit: Int) throws(PackageReadingError) -> [UInt8] {
        var status = stat()
        let file = open(path, &status)
        guard file >= 0 else {
            let reason =
                switch errno {
                case EINVAL: "not a regular file"
                case EXDEV: "the path leaves the package's folder by a link"
                case let code: String(cString: strerror(code))
                }
            throw PackageReadingError(path, reason)
        }
        defer { close(file) }
        guard status.st_size <= limit else {
            throw PackageReadingError(
                path, "the manifest has \(status.st_size) bytes; at most \(limit) are supported")
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size) + 1)
        var count = 0
        while count < bytes.count {
            let read = bytes.withUnsafeMutableBytes {
                Glibc.read(file, $0.baseAddress.map { $0 + count }, $0.count - count)
            }
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { throw PackageReadingError(path, String(cString: strerror(errno))) }
            if read == 0 { break }
            count += read
        }
        // A file that grows while it is read is cut off.
        return Array(bytes.prefix(min(count, Int(status.st_size))))
    }

    func size(of path: String) -> Int64? {
        var status = stat()
        let file = open(path, &status)
        guard file >= 0 else { return nil }
        close(file)
        return Int64(status.st_size)
    }
}
