package import Diagnostics
package import Media

/// The cover of an output from an image file. The run rejects the file if its content has changed.
package struct CoverPlan: Codable, Hashable, Sendable {
    /// Absolute path of the file.
    @Annotation package var path: String
    /// The image, with its size and digest at the time of planning.
    package var image: CoverImage
    /// Location of the path in the job file.
    package var location: SourceRange
}

extension CoverPlan {
    /// Whether all values are valid. Checked for plans from untrusted input.
    var isValid: Bool { path.hasPrefix("/") && path.utf8.count <= 1 << 16 && image.isValid }

    /// Format, size and content of the cover, for messages about changes.
    var changeDescription: String {
        "\(image.formatName) \(image.width)x\(image.height), SHA-256 \(image.digest)"
    }
}
