internal import ExactStrings
internal import FoundationEssentials
internal import Media

/// The schema of job files where `scripts/install` put it, beside the program.
package enum InstalledSchema {
    /// Absolute path of the file; nil where the program isn't installed.
    package static let path: String? = {
        guard let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        else { return nil }
        let folder = program.pathParts.dropLast(2).joined(separator: "/")
        let path = "/\(folder)/share/tandem/tandem-v1.schema.json"
        return FileManager.default.isReadableFile(atPath: path) ? path : nil
    }()
}
