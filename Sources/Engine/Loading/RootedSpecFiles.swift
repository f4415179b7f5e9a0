internal import ExactStrings
internal import FileSystem
internal import Glibc
internal import JobSpec

/// The reader of job files and included files beneath the root folder. Files that the command line names may be outside
/// of it, unless job files are untrusted and may be replaced by links.
struct RootedSpecFiles: SpecFiles {
    let named: Set<ExactString>
    let access: SourceAccess

    func read(_ path: String, limit: Int) throws(SpecFileError) -> [UInt8] {
        let root = access.root
        guard root.path != nil, access.isUntrusted || !named.contains(path.exact) else {
            return try SystemSpecFiles().read(path, limit: limit)
        }
        let absolute = SystemSpecFiles.folder(of: path) + "/" + (path.pathParts.last ?? "")
        guard root.contains(RealPath.of(absolute) ?? absolute) else {
            throw SpecFileError("it is outside the folder \(root.path ?? "") of `--root`")
        }
        return try SystemSpecFiles().read(path, limit: limit)
    }
}
