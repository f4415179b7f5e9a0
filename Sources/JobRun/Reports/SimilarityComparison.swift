internal import ExactStrings
internal import JobPlan
internal import LibAV
internal import Media
internal import PlanWork

/// The outputs of one source with frames of one size and of the same length, whose similarity was measured in the same way. The
/// similarity is that to the encoder's input, so that frames of other sizes can't be compared.
struct SimilarityComparison {
    /// Path or description of the source.
    let source: String
    /// Size of the encoded frames; nil if they are copied.
    let frame: PixelSize?
    let metric: SimilarityMetric
    let pool: SimilarityPool
    /// In order of size.
    var points: [Point]

    /// An output with its similarity to its source.
    struct Point: Equatable {
        /// Id of the output.
        let id: String
        /// Size in bytes.
        let size: Int64
        /// Duration in seconds; nil if unknown.
        let duration: Double?
        /// Similarity: SSIM, or PSNR in dB.
        let value: Double
        /// Whether no other output is as small and more similar, or as similar and smaller (Pareto front).
        var isBest = false
    }
}

extension SimilarityComparison {
    /// Returns the comparisons of at least two outputs, in the order of the report.
    static func all(in report: RunReport) -> [SimilarityComparison] {
        struct Key: Hashable {
            let source: ExactString
            let frame: PixelSize?
            let metric: SimilarityMetric
            let pool: SimilarityPool
        }
        // Each key has a comparison for each length.
        var found: [Key: [SimilarityComparison]] = [:]
        var order: [Key] = []
        for job in report.jobs {
            guard let source = job.source, let size = job.size, size > 0 else { continue }
            for (metric, pool, value) in similarities(of: job) {
                let key = Key(source: source.exact, frame: job.frameSize, metric: metric, pool: pool)
                if found[key] == nil { order.append(key) }
                let point = Point(id: job.id, size: size, duration: job.duration, value: value)
                if let index = found[key]?.firstIndex(where: { $0.points[0].isAsLong(as: point) }) {
                    found[key]?[index].points.append(point)
                } else {
                    found[key, default: []].append(
                        SimilarityComparison(
                            source: source, frame: job.frameSize, metric: metric, pool: pool, points: [point])
                    )
                }
            }
        }
        return order.flatMap { found[$0] ?? [] }.filter { $0.points.count > 1 }.map(\.withFront)
    }

    /// Returns the similarities of an output by metric and pool, each once.
    private static func similarities(
        of job: RunReport.Job
    ) -> [(SimilarityMetric, SimilarityPool, Double)] {
        var found: [(SimilarityMetric, SimilarityPool, Double)] = []
        func add(_ metric: SimilarityMetric, _ pool: SimilarityPool, _ value: Double) {
            if !found.contains(where: { $0.0 == metric && $0.1 == pool }) {
                found.append((metric, pool, value))
            }
        }
        for similarity in job.expectations.compactMap(\.similarity) {
            add(similarity.metric, .mean, similarity.value)
        }
        if let quality = job.quality, let file = quality.encodes.last {
            add(quality.metric, quality.pool, file.value)
        }
        return found
    }
}

extension SimilarityComparison.Point {
    /// Returns whether another output has the same length, up to a few packets of audio.
    fileprivate func isAsLong(as other: Self) -> Bool {
        guard let duration, let length = other.duration else { return duration == other.duration }
        return abs(duration - length) <= 0.25
    }

    /// Average bit rate in bits per second; nil if the duration is unknown.
    var bitRate: Double? { duration.flatMap { $0 > 0 ? Double(size) * 8 / $0 : nil } }
}

extension SimilarityComparison {
    /// Source and frame size, for the user.
    var title: String {
        (source.pathParts.last ?? source) + (frame.map { ", \($0.width)x\($0.height)" } ?? "")
    }

    /// Name of what was measured, such as `SSIM` or `SSIM (5th percentile)`.
    var name: String {
        switch pool {
        case .mean: metric.rawValue.uppercased()
        case .p5: "\(metric.rawValue.uppercased()) (5th percentile)"
        case .min: "\(metric.rawValue.uppercased()) (lowest frame)"
        }
    }

    /// The comparison with points in order of size, of which those of the Pareto front are marked.
    fileprivate var withFront: Self {
        var comparison = self
        comparison.points.sort { ($0.size, -$0.value) < ($1.size, -$1.value) }
        var best: Point?
        for (index, point) in comparison.points.enumerated() {
            // Equal outputs are on the front together.
            if let best, point.value <= best.value, (point.size, point.value) != (best.size, best.value) {
                continue
            }
            best = point
            comparison.points[index].isBest = true
        }
        return comparison
    }
}
