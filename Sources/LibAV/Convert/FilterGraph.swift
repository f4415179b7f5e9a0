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

    /// A chain for pictures like `frame`, whose times are in `timeBase`. `scaling` are options of every `scale` that has
    /// no `flags`, those among them that libavfilter adds by itself.
    public static func video(
        _ steps: [FilterStep], like frame: borrowing Frame, timeBase: Rational, sampleAspectRatio: Rational,
        frameRate: Rational?, scaling: [MetadataEntry] = []
    ) throws(AVError) -> FilterGraph {
        let source = pictures(
            width: frame.width, height: frame.height, format: "\(frame.raw.pointee.format)",
            timeBase: timeBase,
            sampleAspectRatio: sampleAspectRatio, frameRate: frameRate)
        return try build(steps, source: source, sink: "buffersink", scaling: scaling)
    }

    /// A chain for sound of a form; its times are in samples.
    public static func audio(_ steps: [FilterStep], format: AudioFormat) throws(AVError) -> FilterGraph {
        let source = FilterStep(
            "abuffer",
            [
                "sample_rate": "\(format.sampleRate)", "sample_fmt": "\(format.sampleFormat)",
                "channel_layout": "\(format.layout.specified)", "time_base": "1/\(format.sampleRate)",
            ])
        return try build(steps, source: source, sink: "abuffersink")
    }

    /// Where pictures come in (`buffer`).
    private static func pictures(
        width: Int, height: Int, format: String, timeBase: Rational, sampleAspectRatio: Rational,
        frameRate: Rational?
    ) -> FilterStep {
        let aspect = "\(max(0, sampleAspectRatio.num))/\(max(1, sampleAspectRatio.den))"
        var source = FilterStep(
            "buffer",
            [
                "video_size": "\(width)x\(height)", "pix_fmt": format,
                "time_base": "\(timeBase.num)/\(timeBase.den)", "pixel_aspect": aspect,
            ])
        if let rate = frameRate {
            source.options.append(MetadataEntry(key: "frame_rate", value: "\(rate.num)/\(rate.den)"))
        }
        return source
    }

    /// What pictures of a form become in a chain, found out with a black one.
    public static func trial(_ steps: [FilterStep], of form: PictureForm, scaling: [MetadataEntry])
        throws(AVError) -> PictureForm
    {
        let frame = try Frame.black(form)
        let graph = try video(
            steps, like: frame, timeBase: Rational(1, 1000), sampleAspectRatio: form.sampleAspectRatio,
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
    public static func form(after steps: [FilterStep], of form: PictureForm, scaling: [MetadataEntry])
        throws(AVError) -> PictureForm
    {
        let source = pictures(
            width: form.width, height: form.height, format: "\(form.format.value)",
            timeBase: Rational(1, 1000),
            sampleAspectRatio: form.sampleAspectRatio, frameRate: Rational(25, 1))
        return try build(steps, source: source, sink: "buffersink", scaling: scaling)
            .outputForm(color: form.color)
    }

    private func outputForm(color: ColorDescription) -> PictureForm {
        PictureForm(
            width: Int(library.c.av_buffersink_get_w(sink)), height: Int(library.c.av_buffersink_get_h(sink)),
            format: PixelFormat(AVPixelFormat(rawValue: library.c.av_buffersink_get_format(sink))),
            sampleAspectRatio: Rational(library.c.av_buffersink_get_sample_aspect_ratio(sink)), color: color)
    }

    /// Makes a chain's filters with their options, without any frames; throws what libavfilter says of it.
    public static func check(_ steps: [FilterStep], mediaType: MediaType) throws(AVError) {
        let library = try FilterLibrary.load()
        let graph = try library.allocate()
        defer { library.free(graph) }
        let wanted = mediaType == .audio ? AVMEDIA_TYPE_AUDIO : AVMEDIA_TYPE_VIDEO
        for step in steps {
            let context = try library.make(step, in: graph)
            try checkPads(of: context, step, types: (wanted, wanted), library)
        }
    }

    /// Loads libavfilter now where a process that may read only the system's folders could not load it later.
    public static func prepareForLocking() {
        if !FilterLibrary.isOfSystem { _ = try? FilterLibrary.load() }
    }

    /// A chain whose first filter makes its own frames, such as `smptebars`.
    public static func generator(_ steps: [FilterStep], mediaType: MediaType) throws(AVError) -> FilterGraph {
        try build(steps, source: nil, sink: mediaType == .audio ? "abuffersink" : "buffersink")
    }

    private static func build(
        _ steps: [FilterStep], source: FilterStep?, sink sinkName: String, scaling: [MetadataEntry] = []
    ) throws(AVError) -> FilterGraph {
        let library = try FilterLibrary.load()
        let graph = try library.allocate()
        do throws(AVError) {
            // Ours alone: what the scalers that libavfilter adds by itself are told.
            if !scaling.isEmpty {
                graph.pointee.scale_sws_opts = av_strdup(
                    scaling.map { "\($0.key)=\($0.value)" }.joined(separator: ":"))
            }
            let type = sinkName == "abuffersink" ? AVMEDIA_TYPE_AUDIO : AVMEDIA_TYPE_VIDEO
            var last: UnsafeMutablePointer<AVFilterContext>?
            if let source { last = try library.make(source, in: graph) }
            let input = last
            for step in steps {
                var step = step
                if step.name == "scale",
                    !step.options.contains(where: { ["flags", "sws_flags"].contains($0.key) })
                {
                    step.options += scaling.filter { option in
                        !step.options.contains { $0.key == option.key }
                    }
                }
                let context = try library.make(step, in: graph)
                try checkPads(of: context, step, types: (last == nil ? nil : type, type), library)
                if let last { try link(last, context, library) }
                last = context
            }
            let sink = try library.make(FilterStep(sinkName), in: graph)
            guard let last else { throw AVError(code: tandem_einval, operation: "avfilter_link") }
            try link(last, sink, library)
            try LibAV.check(library.c.avfilter_graph_config(graph, nil), "avfilter_graph_config")
            return FilterGraph(library, adopting: graph, source: input, sink: sink)
        } catch {
            library.free(graph)
            throw error
        }
    }

    /// One input and one output of these types; a filter without inputs where the first is nil.
    private static func checkPads(
        of context: UnsafeMutablePointer<AVFilterContext>, _ step: FilterStep,
        types: (input: AVMediaType?, output: AVMediaType), _ library: FilterLibrary
    ) throws(AVError) {
        let raw = context.pointee
        let fits =
            raw.nb_inputs == (types.input == nil ? 0 : 1) && raw.nb_outputs == 1
            && (types.input == nil || library.c.avfilter_pad_get_type(raw.input_pads, 0) == types.input)
            && library.c.avfilter_pad_get_type(raw.output_pads, 0) == types.output
        guard !fits else { return }
        throw AVError(
            code: tandem_einval, operation: "avfilter_init_dict",
            detail: "`\(step.name)` has not one input and one output of the kind that is wanted")
    }

    private static func link(
        _ from: UnsafeMutablePointer<AVFilterContext>, _ to: UnsafeMutablePointer<AVFilterContext>,
        _ library: FilterLibrary
    ) throws(AVError) {
        try LibAV.check(library.c.avfilter_link(from, 0, to, 0), "avfilter_link")
    }

    /// Gives it a frame, whose buffers it takes over (`av_buffersrc_add_frame_flags`).
    public func send(_ frame: consuming Frame) throws(AVError) {
        guard let source else { return }
        try LibAV.check(
            library.c.av_buffersrc_add_frame_flags(source, frame.raw, 0), "filtering", context: source)
    }

    /// Says that no more comes, and when the last frame ends, in the input's time base.
    public func sendEnd(at pts: Int64) throws(AVError) {
        guard let source else { return }
        try LibAV.check(library.c.av_buffersrc_close(source, pts, 0), "filtering", context: source)
    }

    /// The next frame, in `timeBase` (`av_buffersink_get_frame`).
    public func receive(into frame: borrowing Frame) throws(AVError) -> CodecOutput {
        let code = library.c.av_buffersink_get_frame(sink, frame.raw)
        if code == tandem_eagain { return .needsInput }
        if code == tandem_eof { return .ended }
        try LibAV.check(code, "filtering", context: sink)
        return .ready
    }

    /// The unit of the output's time stamps.
    public var timeBase: Rational { Rational(library.c.av_buffersink_get_time_base(sink)) }
}
