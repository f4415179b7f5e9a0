package import Diagnostics
package import LibAV
package import Media

/// A condition that an output must meet before it is published, or that the source of a check must meet.
package struct Expectation: Codable, Hashable, Sendable {
    /// A condition with its limits.
    package enum Check: Codable, Hashable, Sendable {
        /// Duration of the output, with a tolerance.
        case duration(is: MediaTime, within: MediaTime)
        /// Number of frames of the first video track.
        case frames(Int)
        /// Maximum file size in bytes.
        case size(max: Int64)
        /// Property of the first track of a kind, by its name in job files.
        case property(MediaType, name: String, value: String)
        /// Integrated loudness in LUFS, with a tolerance.
        case loudness(is: Double, within: Double)
        /// Maximum true peak in dBTP.
        case truePeak(max: Double)
        /// Maximum duration of silence (below -60 dB).
        case silence(max: MediaTime)
        /// Maximum duration of black frames.
        case black(max: MediaTime)
        /// Minimum mean similarity of the output's frames to the encoder's input.
        case similarity(SimilarityMetric, min: Double)
        /// The whole output can be decoded without errors.
        case decodes
    }
    package var check: Check
    /// Location of the condition in the job file.
    package var location: SourceRange
}
