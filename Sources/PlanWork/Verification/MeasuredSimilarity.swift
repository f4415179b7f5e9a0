package import LibAV

/// The similarity of the frames of an output to those of its source.
package struct MeasuredSimilarity: Codable, Hashable, Sendable {
    package var metric: SimilarityMetric
    /// Mean over all frames: SSIM, or PSNR in dB; `SimilarityMetric.identity` for equal frames.
    package var value: Double

    /// Creates the similarity from a result of the filter: infinite PSNR of equal frames becomes `SimilarityMetric.identity`, and
    /// SSIM, which may be slightly negative, at least 0.
    package init(metric: SimilarityMetric, value: Double) {
        self.metric = metric
        self.value = value.isNaN ? 0 : min(max(value, 0), metric.identity)
    }

    /// Whether the value is possible. Checked for results from untrusted input.
    package var isValid: Bool { (0...metric.identity).contains(value) }
}
