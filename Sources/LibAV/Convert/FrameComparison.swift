internal import CFFmpeg
internal import Glibc

/// A similarity metric of frames, which libavfilter computes.
package enum SimilarityMetric: String, Codable, Hashable, Sendable, CaseIterable {
    /// Structural similarity from 0 to 1 (`ssim`).
    case ssim
    /// Peak signal-to-noise ratio in dB (`psnr`).
    case psnr

    /// Value of equal frames. Their PSNR is infinite; this number is greater than any other result.
    package var identity: Double { self == .ssim ? 1 : 200 }

    /// Returns a value as text.
    package func text(_ value: Double) -> String {
        switch self {
        case .ssim: Self.rounded(value, 10_000)
        case .psnr: value < identity ? "\(Self.rounded(value, 100)) dB" : "no difference"
        }
    }

    private static func rounded(_ value: Double, _ scale: Double) -> String {
        let text = "\((value * scale).rounded() / scale)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    var key: String { self == .ssim ? "lavfi.ssim.All" : "lavfi.psnr.mse_avg" }
}

/// A comparison of two sequences of frames of the same size and format, pair by pair. Confined to one thread.
package struct FrameComparison: ~Copyable {
    private let graph: FilterGraph
    private let metric: SimilarityMetric
    private var pairs: Int64 = 0
    private var results = 0
    private var sum = 0.0
    private var histogram: SimilarityHistogram
    private let peak: Double

    private init(graph: consuming FilterGraph, metric: SimilarityMetric, peak: Double) {
        self.graph = graph
        self.metric = metric
        self.peak = peak
        histogram = SimilarityHistogram(metric)
    }

    /// Creates a comparison for frames with the properties of `frame`.
    package static func open(
        _ metric: SimilarityMetric, like frame: borrowing Frame
    ) throws(AVError) -> FrameComparison {
        guard let descriptor = av_pix_fmt_desc_get(AVPixelFormat(rawValue: frame.raw.pointee.format)) else {
            throw AVError(code: tandem_einval, operation: "av_pix_fmt_desc_get")
        }
        let compare = FilterNode(FilterStep(metric.rawValue), inputs: [.input(0), .input(1)])
        let graph = try FilterGraph.video([compare], inputs: 2, like: frame, timeBase: Rational(1, 25))
        return FrameComparison(
            graph: graph, metric: metric, peak: Double((1 << Int(descriptor.pointee.comp.0.depth)) - 1))
    }

    /// Adds the next pair of frames.
    package mutating func add(_ frame: consuming Frame, _ reference: consuming Frame) throws(AVError) {
        frame.pts = pairs
        reference.pts = pairs
        pairs += 1
        try graph.send(frame, to: 0)
        try graph.send(reference, to: 1)
        try drain()
    }

    /// Ends the comparison and returns a statistic over all pairs, by default the mean SSIM, or the PSNR of the mean square
    /// error (infinity for equal frames). Returns nil if no pair was added.
    package mutating func result(_ pool: SimilarityPool = .mean) throws(AVError) -> Double? {
        for input in 0..<2 { try graph.sendEnd(at: pairs, to: input) }
        try drain()
        guard results > 0 else { return nil }
        switch pool {
        case .mean: return similarity(sum / Double(results))
        case .p5: return histogram.quantile(0.05)
        case .min: return histogram.minimum
        }
    }

    /// Returns the similarity for a value that the filter reports.
    private func similarity(_ value: Double) -> Double {
        metric == .ssim ? value : (value > 0 ? 10 * log10(peak * peak / value) : .infinity)
    }

    private mutating func drain() throws(AVError) {
        let frame = try Frame()
        while true {
            guard case .ready = try graph.receive(into: frame) else { return }
            if let value = frame.metadata(metric.key).flatMap({ Double($0) }) {
                sum += value
                results += 1
                histogram.add(similarity(value))
            }
            av_frame_unref(frame.raw)
        }
    }
}
