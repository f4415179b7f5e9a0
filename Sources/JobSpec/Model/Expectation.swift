package import Diagnostics
package import LibAV
package import Media

/// A condition that an output must meet before it is published.
package struct Expectation: Codable, Hashable, Sendable {
    /// A condition with its limits.
    package enum Check: Codable, Hashable, Sendable {
        /// The output's duration, with a tolerance.
        case duration(is: MediaTime, within: MediaTime)
        /// The frame count of the first video track.
        case frames(Int)
        /// The maximum file size in bytes.
        case size(max: Int64)
        /// A property of the first track of a kind, by its name in job files.
        case property(MediaType, name: String, value: String)
        /// Integrated loudness in LUFS, with a tolerance.
        case loudness(is: Double, within: Double)
        /// Maximum true peak in dBTP.
        case truePeak(max: Double)
        /// The maximum duration of silence (below -60 dB).
        case silence(max: MediaTime)
        /// The maximum duration of black frames.
        case black(max: MediaTime)
        /// The minimum mean similarity of the output's frames to the encoder's input.
        case similarity(SimilarityMetric, min: Double)
        /// The whole output decodes without an error.
        case decodes
    }
    /// The condition.
    package var check: Check
    /// The condition's location in the job file.
    package var location: SourceRange
}
