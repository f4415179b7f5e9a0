package import Diagnostics
package import LibAV
package import Media

/// Something that must hold of an output before it is published.
package struct Expectation: Codable, Hashable, Sendable {
    /// What must hold.
    package enum Check: Codable, Hashable, Sendable {
        /// The output lasts so long, give or take.
        case duration(is: MediaTime, within: MediaTime)
        /// Its first track of frames has so many.
        case frames(Int)
        /// Its file has at most so many bytes.
        case size(max: Int64)
        /// A property of its first track of a kind, by the name that job files have for it.
        case property(MediaType, name: String, value: String)
        /// Integrated loudness in LUFS, give or take.
        case loudness(is: Double, within: Double)
        /// Highest true peak in dBTP.
        case truePeak(max: Double)
        /// The longest silence of its audio (below -60 dB).
        case silence(max: MediaTime)
        /// The longest run of black frames.
        case black(max: MediaTime)
        /// Its frames are like those that went into the encoder, on the mean.
        case similarity(SimilarityMetric, min: Double)
        /// All of it decodes without an error.
        case decodes
    }
    /// What must hold.
    package var check: Check
    /// Where it was written.
    package var location: SourceRange
}
