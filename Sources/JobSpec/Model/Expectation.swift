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
        /// Property of the first track of a kind.
        case property(MediaType, name: TrackProperty, value: String)
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
    /// A property of a track, by its key in job files.
    package enum TrackProperty: String, Codable, Sendable {
        case codec
        case profile
        case width
        case height
        case frameRate = "frame_rate"
        case pixelFormat = "pixel_format"
        case sampleRate = "sample_rate"
        case channels
        case language
    }

    package var check: Check
    /// Location of the condition in the job file.
    package var location: SourceRange
}
