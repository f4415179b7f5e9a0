internal import CFFmpeg
internal import Glibc

/// How alike pictures are, as libavfilter measures it.
public enum SimilarityMetric: String, Codable, Hashable, Sendable, CaseIterable {
    /// Structural similarity from 0 to 1 (`ssim`).
    case ssim
    /// Peak signal to noise in dB (`psnr`).
    case psnr

    var key: String { self == .ssim ? "lavfi.ssim.All" : "lavfi.psnr.mse_avg" }
}

/// Compares two runs of pictures of one size and format, pair by pair; confined to one thread.
///
/// Unchecked `Sendable`: one owner, which moves with the value.
public struct PictureComparison: ~Copyable, @unchecked Sendable {
    private let library: FilterLibrary
    private let graph: UnsafeMutablePointer<AVFilterGraph>
    private let sources: (UnsafeMutablePointer<AVFilterContext>, UnsafeMutablePointer<AVFilterContext>)
    private let sink: UnsafeMutablePointer<AVFilterContext>
    private let metric: SimilarityMetric
    private var pairs: Int64 = 0
    private var results = 0
    private var sum = 0.0
    private let peak: Double

    private init(
        library: FilterLibrary, graph: UnsafeMutablePointer<AVFilterGraph>,
        sources: (UnsafeMutablePointer<AVFilterContext>, UnsafeMutablePointer<AVFilterContext>),
        sink: UnsafeMutablePointer<AVFilterContext>, metric: SimilarityMetric, peak: Double
    ) {
        self.library = library
        self.graph = graph
        self.sources = sources
        self.sink = sink
        self.metric = metric
        self.peak = peak
    }

    deinit { library.free(graph) }

    /// For pictures like `frame`.
    public static func open(
        _ metric: SimilarityMetric, like frame: borrowing Frame
    ) throws(AVError) -> PictureComparison {
        let format = AVPixelFormat(rawValue: frame.raw.pointee.format)
        guard let descriptor = av_pix_fmt_desc_get(format) else {
            throw AVError(code: tandem_einval, operation: "av_pix_fmt_desc_get")
        }
        let library = try FilterLibrary.load()
        let graph = try library.allocate()
        do throws(AVError) {
            let buffer = FilterStep(
                "buffer",
                [
                    "video_size": "\(frame.width)x\(frame.height)", "pix_fmt": "\(format.rawValue)",
                    "time_base": "1/25", "pixel_aspect": "1/1",
                ])
            let first = try library.make(buffer, in: graph)
            let second = try library.make(buffer, in: graph)
            let compare = try library.make(FilterStep(metric.rawValue), in: graph)
            let sink = try library.make(FilterStep("buffersink"), in: graph)
            try check(library.c.avfilter_link(first, 0, compare, 0), "avfilter_link")
            try check(library.c.avfilter_link(second, 0, compare, 1), "avfilter_link")
            try check(library.c.avfilter_link(compare, 0, sink, 0), "avfilter_link")
            try check(library.c.avfilter_graph_config(graph, nil), "avfilter_graph_config", context: compare)
            return PictureComparison(
                library: library, graph: graph, sources: (first, second), sink: sink, metric: metric,
                peak: Double((1 << Int(descriptor.pointee.comp.0.depth)) - 1))
        } catch {
            library.free(graph)
            throw error
        }
    }

    /// Takes the next pair.
    public mutating func add(_ frame: consuming Frame, _ reference: consuming Frame) throws(AVError) {
        frame.pts = pairs
        reference.pts = pairs
        pairs += 1
        try check(library.c.av_buffersrc_add_frame_flags(sources.0, frame.raw, 0), "comparing")
        try check(library.c.av_buffersrc_add_frame_flags(sources.1, reference.raw, 0), "comparing")
        try drain()
    }

    /// The mean over all pairs, which ends the comparison; nil where there was none. Equal pictures have a PSNR of
    /// infinity.
    public mutating func result() throws(AVError) -> Double? {
        try check(library.c.av_buffersrc_close(sources.0, pairs, 0), "comparing")
        try check(library.c.av_buffersrc_close(sources.1, pairs, 0), "comparing")
        try drain()
        guard results > 0 else { return nil }
        let mean = sum / Double(results)
        return metric == .ssim ? mean : (mean > 0 ? 10 * log10(peak * peak / mean) : .infinity)
    }

    private mutating func drain() throws(AVError) {
        let frame = try Frame()
        while true {
            let code = library.c.av_buffersink_get_frame(sink, frame.raw)
            if code == tandem_eagain || code == tandem_eof { return }
            try check(code, "comparing")
            if let value = frame.metadata(metric.key).flatMap({ Double($0) }) {
                sum += value
                results += 1
            }
            av_frame_unref(frame.raw)
        }
    }
}
