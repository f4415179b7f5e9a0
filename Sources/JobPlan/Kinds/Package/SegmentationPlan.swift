package import Media

/// The division of a rendition's track into segments.
package struct SegmentationPlan: Codable, Hashable, Sendable {
    /// Duration of segments: each begins with the first sample at or after a multiple of it at which decoding can start.
    package var interval: MediaTime
    /// Start times of the second and later segments on the output's time line, instead of the multiples; nil unless
    /// video is copied, whose keyframes determine them.
    package var boundaries: [MediaTime]?
}
