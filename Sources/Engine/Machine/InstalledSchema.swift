internal import ExactStrings
internal import FoundationEssentials
internal import Media

/// The JSON Schema of job files that `scripts/install` installs with the program.
package enum InstalledSchema {
    /// Absolute path of the file; nil if the program isn't installed.
    package static let path: String? = {
        guard let program = ProgramFile.path else { return nil }
        let folder = program.pathParts.dropLast(2).joined(separator: "/")
        let path = "/\(folder)/share/tandem/tandem-v1.schema.json"
        return FileManager.default.isReadableFile(atPath: path) ? path : nil
    }()
}
