package import LibAV

/// The similarity of the frames of an output to those of its source.
package struct MeasuredSimilarity: Codable, Hashable, Sendable {
    package var metric: SimilarityMetric
    /// Mean over all frames: SSIM, or PSNR in dB; `SimilarityMetric.identity` for equal frames.
    package var value: Double

    package init(metric: SimilarityMetric, value: Double) { (self.metric, self.value) = (metric, value) }

    /// Whether the value is possible. Checked for results from untrusted input.
    package var isValid: Bool { (0...metric.identity).contains(value) }
}
