package import Diagnostics

/// The plan of a check, which reads a source and writes nothing. The output's tracks are the tracks that are read.
package struct CheckPlan: Codable, Hashable, Sendable {
    /// Whether video and audio are decoded; otherwise all packets are read.
    package var decodes: Bool
    /// Location of `check` in the job file.
    package var location: SourceRange
}
