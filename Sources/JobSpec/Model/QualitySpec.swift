package import Diagnostics
package import LibAV

/// The similarity to the encoder's input that a video encoding must reach, as specified in a job file.
package struct QualitySpec: Sendable {
    package var metric: SimilarityMetric
    /// SSIM from 0 to 1, or PSNR in dB.
    package var value: Double
    package var pool: SimilarityPool
    /// Accepted difference from `value`.
    package var within: Double
    /// Minimum and maximum of `crf`, in thousandths; nil for the encoder's range.
    package var crf: ClosedRange<Int>?
    /// Location of `crf`; nil if the job doesn't set it.
    package var crfRange: SourceRange?

    package init(
        metric: SimilarityMetric, value: Double, pool: SimilarityPool, within: Double,
        crf: ClosedRange<Int>? = nil, crfRange: SourceRange? = nil
    ) {
        self.metric = metric
        self.value = value
        self.pool = pool
        self.within = within
        self.crf = crf
        self.crfRange = crfRange
    }

    /// Default accepted difference of a metric.
    package static func defaultWithin(_ metric: SimilarityMetric) -> Double { metric == .ssim ? 0.002 : 0.3 }
}
