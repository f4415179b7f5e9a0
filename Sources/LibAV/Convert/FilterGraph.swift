internal import CFFmpeg

/// A chain of libavfilter's filters with one output and at most one input, confined to one queue.
///
/// Unchecked `Sendable`: one owner, which moves with the value.
public struct FilterGraph: ~Copyable, @unchecked Sendable {
    private let library: FilterLibrary
    private let graph: UnsafeMutablePointer<AVFilterGraph>
    private let source: UnsafeMutablePointer<AVFilterContext>?
    private let sink: UnsafeMutablePointer<AVFilterContext>

    private init(
        _ library: FilterLibrary, adopting graph: UnsafeMutablePointer<AVFilterGraph>,
        source: UnsafeMutablePointer<AVFilterContext>?, sink: UnsafeMutablePointer<AVFilterContext>
    ) {
        self.library = library
        self.graph = graph
        self.source = source
        self.sink = sink
    }

    deinit { library.free(graph) }

    /// A chain for pictures like `frame`, whose times are in `timeBase` (`avfilter_graph_parse_ptr`). `scaling` holds of
    /// every `scale` that has no `flags`, those among them that libavfilter adds by itself.
    public static func video(
        _ chain: String, like frame: borrowing Frame, timeBase: Rational, sampleAspectRatio: Rational,
        frameRate: Rational?, scaling: String? = nil
    ) throws(AVError) -> FilterGraph {
        let rate = frameRate.map { ":frame_rate=\($0.num)/\($0.den)" } ?? ""
        let arguments =
            "video_size=\(frame.width)x\(frame.height):pix_fmt=\(frame.raw.pointee.format)"
            + ":time_base=\(timeBase.num)/\(timeBase.den)"
            + ":pixel_aspect=\(max(0, sampleAspectRatio.num))/\(max(1, sampleAspectRatio.den))" + rate
        return try build(
            chain: chain, source: ("buffer", arguments), sink: "buffersink", scaling: scaling)
    }

    /// A chain for sound of a form; its times are in samples.
    public static func audio(_ chain: String, format: AudioFormat) throws(AVError) -> FilterGraph {
        let arguments =
            "sample_rate=\(format.sampleRate):sample_fmt=\(format.sampleFormat)"
            + ":channel_layout=\(format.layout.specified):time_base=1/\(format.sampleRate)"
        return try build(chain: chain, source: ("abuffer", arguments), sink: "abuffersink")
    }

    /// What pictures of a form become in a chain, found out with a black one.
    public static func trial(_ chain: String, of form: PictureForm, scaling: String?) throws(AVError)
        -> PictureForm
    {
        let frame = try Frame.black(form)
        let graph = try video(
            chain, like: frame, timeBase: Rational(1, 1000), sampleAspectRatio: form.sampleAspectRatio,
            frameRate: Rational(25, 1), scaling: scaling)
        try graph.send(frame)
        try graph.sendEnd(at: 40)
        let result = try Frame()
        guard case .ready = try graph.receive(into: result) else {
            return graph.outputForm(color: form.color)
        }
        return PictureForm(
            width: result.width, height: result.height, format: result.pixelFormat,
            sampleAspectRatio: result.sampleAspectRatio, color: result.color)
    }

    /// What they become but for their colour, which stays: nothing is computed.
    public static func form(after chain: String, of form: PictureForm, scaling: String?) throws(AVError)
        -> PictureForm
    {
        let arguments =
            "video_size=\(form.width)x\(form.height):pix_fmt=\(form.format.value):time_base=1/1000"
            + ":pixel_aspect=\(max(0, form.sampleAspectRatio.num))/\(max(1, form.sampleAspectRatio.den)):frame_rate=25/1"
        return try build(chain: chain, source: ("buffer", arguments), sink: "buffersink", scaling: scaling)
            .outputForm(color: form.color)
    }

    private func outputForm(color: ColorDescription) -> PictureForm {
        PictureForm(
            width: Int(library.c.av_buffersink_get_w(sink)), height: Int(library.c.av_buffersink_get_h(sink)),
            format: PixelFormat(AVPixelFormat(rawValue: library.c.av_buffersink_get_format(sink))),
            sampleAspectRatio: Rational(library.c.av_buffersink_get_sample_aspect_ratio(sink)), color: color)
    }

    /// Reads a chain's filters with their options, without any frames; throws what libavfilter says of it.
    public static func parse(_ chain: String, mediaType: MediaType) throws(AVError) {
        let library = try FilterLibrary.load()
        let graph = try library.allocate()
        defer { library.free(graph) }
        var inputs: UnsafeMutablePointer<AVFilterInOut>?
        var outputs: UnsafeMutablePointer<AVFilterInOut>?
        defer {
            library.c.avfilter_inout_free(&inputs)
            library.c.avfilter_inout_free(&outputs)
        }
        let code = library.c.avfilter_graph_parse2(graph, chain, &inputs, &outputs)
        if code < 0 {
            throw AVError(
                code: code, operation: "avfilter_graph_parse2", detail: LogBridge.takeLastLine(of: graph))
        }
        let wanted = mediaType == .audio ? AVMEDIA_TYPE_AUDIO : AVMEDIA_TYPE_VIDEO
        func type(_ pad: UnsafeMutablePointer<AVFilterInOut>?, isInput: Bool) -> AVMediaType? {
            guard let pad, pad.pointee.next == nil, let context = pad.pointee.filter_ctx else { return nil }
            return library.c.avfilter_pad_get_type(
                isInput ? context.pointee.input_pads : context.pointee.output_pads, pad.pointee.pad_idx)
        }
        guard type(inputs, isInput: true) == wanted, type(outputs, isInput: false) == wanted else {
            throw AVError(
                code: tandem_einval, operation: "avfilter_graph_parse2",
                detail:
                    "the chain has not one \(mediaType.rawValue) input and one \(mediaType.rawValue) output")
        }
    }

    /// Loads libavfilter now where a process that may read only the system's folders could not load it later.
    public static func prepareForLocking() {
        if !FilterLibrary.isOfSystem { _ = try? FilterLibrary.load() }
    }

    /// This build has a filter of that name.
    public static func hasFilter(_ name: String) -> Bool {
        (try? FilterLibrary.load())?.c.avfilter_get_by_name(name) != nil
    }

    /// A chain that makes its own frames, such as `smptebars=…`.
    public static func generator(_ chain: String, mediaType: MediaType) throws(AVError) -> FilterGraph {
        try build(chain: chain, source: nil, sink: mediaType == .audio ? "abuffersink" : "buffersink")
    }

    private static func build(
        chain: String, source: (name: String, arguments: String)?, sink sinkName: String,
        scaling: String? = nil
    ) throws(AVError) -> FilterGraph {
        let library = try FilterLibrary.load()
        let graph = try library.allocate()
        if let scaling { graph.pointee.scale_sws_opts = av_strdup(scaling) }
        do throws(AVError) {
            var sink: UnsafeMutablePointer<AVFilterContext>?
            try check(
                library.c.avfilter_graph_create_filter(
                    &sink, library.c.avfilter_get_by_name(sinkName), "out", nil, nil, graph),
                "avfilter_graph_create_filter")
            var input: UnsafeMutablePointer<AVFilterContext>?
            if let source {
                try check(
                    library.c.avfilter_graph_create_filter(
                        &input, library.c.avfilter_get_by_name(source.name), "in", source.arguments, nil,
                        graph),
                    "avfilter_graph_create_filter")
            }
            guard let sink else {
                throw AVError(code: tandem_einval, operation: "avfilter_graph_create_filter")
            }
            try parse(chain, library, graph: graph, source: input, sink: sink)
            try check(library.c.avfilter_graph_config(graph, nil), "avfilter_graph_config")
            return FilterGraph(library, adopting: graph, source: input, sink: sink)
        } catch {
            library.free(graph)
            throw error
        }
    }

    private static func parse(
        _ chain: String, _ library: FilterLibrary, graph: UnsafeMutablePointer<AVFilterGraph>,
        source: UnsafeMutablePointer<AVFilterContext>?,
        sink: UnsafeMutablePointer<AVFilterContext>
    ) throws(AVError) {
        // In libavfilter's words the chain's open *outputs* are what feeds it.
        var inputs = library.c.avfilter_inout_alloc()
        var outputs = source == nil ? nil : library.c.avfilter_inout_alloc()
        defer {
            library.c.avfilter_inout_free(&inputs)
            library.c.avfilter_inout_free(&outputs)
        }
        guard inputs != nil, source == nil || outputs != nil else {
            throw .outOfMemory("avfilter_inout_alloc")
        }
        inputs?.pointee.name = av_strdup("out")
        inputs?.pointee.filter_ctx = sink
        inputs?.pointee.pad_idx = 0
        inputs?.pointee.next = nil
        if let source {
            outputs?.pointee.name = av_strdup("in")
            outputs?.pointee.filter_ctx = source
            outputs?.pointee.pad_idx = 0
            outputs?.pointee.next = nil
        }
        try check(
            library.c.avfilter_graph_parse_ptr(graph, chain, &inputs, &outputs, nil),
            "avfilter_graph_parse_ptr")
    }

    /// Gives it a frame, whose buffers it takes over (`av_buffersrc_add_frame_flags`).
    public func send(_ frame: consuming Frame) throws(AVError) {
        guard let source else { return }
        try check(library.c.av_buffersrc_add_frame_flags(source, frame.raw, 0), "filtering", context: source)
    }

    /// Says that no more comes, and when the last frame ends, in the input's time base.
    public func sendEnd(at pts: Int64) throws(AVError) {
        guard let source else { return }
        try check(library.c.av_buffersrc_close(source, pts, 0), "filtering", context: source)
    }

    /// The next frame, in `timeBase` (`av_buffersink_get_frame`).
    public func receive(into frame: borrowing Frame) throws(AVError) -> CodecOutput {
        let code = library.c.av_buffersink_get_frame(sink, frame.raw)
        if code == tandem_eagain { return .needsInput }
        if code == tandem_eof { return .ended }
        try check(code, "filtering", context: sink)
        return .ready
    }

    /// The unit of the output's time stamps.
    public var timeBase: Rational { Rational(library.c.av_buffersink_get_time_base(sink)) }
}
