internal import ExactStrings
internal import JobPlan
package import Streaming

/// Describes streaming packages on disk. Only files beneath the folder of the manifest are read, regardless of links.
package enum PackageProbe {
    /// Whether a source is a manifest of a package, by its extension.
    package static func isManifest(_ path: String) -> Bool { PackageReader.isManifest(path) }

    /// Returns the description of the package whose manifest is at a path.
    ///
    /// - Throws: An error if the manifest is outside of the root of `access`, or the package can't be read.
    package static func description(
        of manifest: String, _ access: SourceAccess
    ) throws(EngineError) -> PackageDescription {
        guard let name = manifest.pathParts.last else { throw EngineError(.usage, "\(manifest) is no file") }
        let folder: LocalPackageFolder
        do throws(PackageFolderProblem) {
            folder = try LocalPackageFolder(of: manifest, beneath: access.root)
        } catch {
            switch error {
            case .unreadable: throw EngineError(.environment, "\(manifest): can't open the folder")
            case .outsideRoot: throw EngineError(.environment, "\(manifest) is outside of --root")
            }
        }
        do throws(PackageReadingError) {
            return try PackageReader.description(of: name, in: folder)
        } catch {
            throw EngineError(.jobFailed, "\(error)")
        }
    }
}
