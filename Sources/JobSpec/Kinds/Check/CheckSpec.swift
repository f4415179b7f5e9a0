package import Diagnostics

/// The configuration of a check, which reads a source and writes nothing.
package struct CheckSpec: Sendable {
    /// Whether video and audio are decoded; otherwise only packets are read.
    package var decodes: Bool
    /// The value's location in the job file.
    package var range: SourceRange
}
