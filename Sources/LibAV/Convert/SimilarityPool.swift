/// The statistic that summarizes the similarity of frames.
package enum SimilarityPool: String, Codable, Hashable, Sendable, CaseIterable {
    /// Mean SSIM, or the PSNR of the mean square error.
    case mean
    /// 5th percentile: 95 % of the frames have at least this similarity.
    case p5
    /// The frame with the lowest similarity.
    case min
}

/// The distribution of the similarity of frames, in memory that doesn't depend on their number.
struct SimilarityHistogram {
    /// Values between 0 and `upper` are counted in intervals of `width`.
    private let width: Double
    private var counts: [Int]
    private(set) var minimum = Double.infinity
    private var total = 0

    init(_ metric: SimilarityMetric) {
        width = metric == .ssim ? 0.00005 : 0.005
        counts = Array(repeating: 0, count: 20_001)
    }

    mutating func add(_ value: Double) {
        total += 1
        minimum = Swift.min(minimum, value)
        let index = value.isFinite ? Int((Swift.max(0, value) / width).rounded(.down)) : counts.count - 1
        counts[Swift.min(index, counts.count - 1)] += 1
    }

    /// Returns the value that a fraction of the frames doesn't reach; nil without frames.
    func quantile(_ fraction: Double) -> Double? {
        guard total > 0 else { return nil }
        let rank = Int((fraction * Double(total)).rounded(.down))
        var below = 0
        for (index, count) in counts.enumerated() {
            below += count
            if below > rank { return Swift.max(minimum, (Double(index) + 0.5) * width) }
        }
        return nil
    }
}
