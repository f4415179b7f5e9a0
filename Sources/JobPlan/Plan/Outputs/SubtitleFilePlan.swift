internal import ExactStrings
package import Diagnostics
package import Media

/// A subtitle file from which a track of an output is read, in place of the source. The run rejects the file if its content
/// has changed.
package struct SubtitleFilePlan: Codable, Hashable, Sendable {
    /// Absolute path of the file.
    @Annotation package var path: String
    /// Size and digest of the file at the time of planning.
    package var contents: FileContents
    /// Time at which reading ends, with the source; nil if the job's ranges determine it, or if the source's duration is
    /// estimated.
    package var end: MediaTime? = nil
    /// Location of the path in the job file.
    package var location: SourceRange

    /// Maximum size of a file in bytes: all of it is read when the job is planned and when it runs.
    package static let maxBytes: Int64 = 64_000_000
}

extension SubtitleFilePlan {
    /// Whether all values are valid. Checked for plans from untrusted input.
    var isValid: Bool {
        path.hasPrefix("/") && path.utf8.count <= 1 << 16 && contents.isValid(upTo: Self.maxBytes)
            && end.map { $0 >= .zero } ?? true
    }

    /// Name of the file, for the user.
    package var name: String { path.pathParts.last ?? path }

    /// Name and content of the file, for messages about changes.
    var changeDescription: String { "\(name), SHA-256 \(contents.digest)" }
}
