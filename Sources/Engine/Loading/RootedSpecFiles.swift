internal import ExactStrings
internal import FileSystem
internal import Glibc
internal import JobSpec

/// Reads job files and their includes below the root folder. Files that the user named are read wherever they are, unless
/// a stranger may have replaced them by links.
struct RootedSpecFiles: SpecFiles {
    let named: Set<ExactString>
    let access: SourceAccess

    func read(_ path: String, limit: Int) throws(SpecFileError) -> [UInt8] {
        let root = access.root
        guard root.path != nil, access.isUntrusted || !named.contains(path.exact) else {
            return try SystemSpecFiles().read(path, limit: limit)
        }
        let absolute = SystemSpecFiles.folder(of: path) + "/" + (path.pathParts.last ?? "")
        let real = realpath(absolute, nil)
        defer { free(real) }
        guard root.holds(real.map { String(cString: $0) } ?? absolute) else {
            throw SpecFileError("it lies outside \(root.path ?? ""), where `--root` keeps everything")
        }
        return try SystemSpecFiles().read(path, limit: limit)
    }
}
