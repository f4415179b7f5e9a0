internal import CFFmpeg

/// A libavfilter graph with any number of inputs and one output, confined to one queue.
///
/// Unchecked `Sendable`: the noncopyable value is the only owner of the pointer.
package struct FilterGraph: ~Copyable, @unchecked Sendable {
    private let library: FilterLibrary
    private let graph: UnsafeMutablePointer<AVFilterGraph>
    private let sources: [UnsafeMutablePointer<AVFilterContext>]
    private let sink: UnsafeMutablePointer<AVFilterContext>

    private init(
        _ library: FilterLibrary, adopting graph: UnsafeMutablePointer<AVFilterGraph>,
        sources: [UnsafeMutablePointer<AVFilterContext>], sink: UnsafeMutablePointer<AVFilterContext>
    ) {
        self.library = library
        self.graph = graph
        self.sources = sources
        self.sink = sink
    }

    deinit { library.free(graph) }

    /// Creates a chain for frames with the properties of `frame` and timestamps in `timeBase`. `scaling` are default
    /// options of all `scale` filters without `flags`, including those that libavfilter inserts.
    package static func video(
        _ steps: [FilterStep], like frame: borrowing Frame, timeBase: Rational, sampleAspectRatio: Rational,
        frameRate: Rational?, scaling: [MetadataEntry] = []
    ) throws(AVError) -> FilterGraph {
        try build(
            FilterNode.chain(steps, of: 1),
            inputs: [
                input(
                    like: frame, timeBase: timeBase, sampleAspectRatio: sampleAspectRatio,
                    frameRate: frameRate)
            ], mediaType: .video, scaling: scaling)
    }

    /// Creates a graph with `inputs` inputs for frames with the properties of `frame` and timestamps in `timeBase`. The
    /// graph outputs the last node's frames.
    package static func video(
        _ nodes: [FilterNode], inputs: Int, like frame: borrowing Frame, timeBase: Rational
    ) throws(AVError) -> FilterGraph {
        let input = input(like: frame, timeBase: timeBase)
        return try build(nodes, inputs: Array(repeating: input, count: inputs), mediaType: .video)
    }

    /// Creates a graph with two inputs, for frames with the properties of `frame` and of `second`, both with timestamps
    /// in `timeBase`. The graph outputs the last node's frames.
    package static func video(
        _ nodes: [FilterNode], like frame: borrowing Frame, and second: borrowing Frame, timeBase: Rational,
        frameRate: Rational? = nil
    ) throws(AVError) -> FilterGraph {
        let inputs = [
            input(like: frame, timeBase: timeBase, frameRate: frameRate),
            input(like: second, timeBase: timeBase, frameRate: frameRate),
        ]
        return try build(nodes, inputs: inputs, mediaType: .video)
    }

    /// Creates a chain for audio of a format. Timestamps are in samples.
    package static func audio(_ steps: [FilterStep], format: AudioFormat) throws(AVError) -> FilterGraph {
        let input = FilterStep(
            "abuffer",
            [
                "sample_rate": "\(format.sampleRate)", "sample_fmt": "\(format.sampleFormat)",
                "channel_layout": "\(format.layout.specified)", "time_base": "1/\(format.sampleRate)",
            ])
        return try build(FilterNode.chain(steps, of: 1), inputs: [input], mediaType: .audio)
    }

    private static func input(
        like frame: borrowing Frame, timeBase: Rational, sampleAspectRatio: Rational = Rational(1, 1),
        frameRate: Rational? = nil
    ) -> FilterStep {
        video(
            width: frame.width, height: frame.height,
            format: PixelFormat(AVPixelFormat(rawValue: frame.raw.pointee.format)),
            timeBase: timeBase, sampleAspectRatio: sampleAspectRatio, frameRate: frameRate,
            color: frame.colorCode)
    }

    /// Returns the source filter for frames (`buffer`).
    private static func video(
        width: Int, height: Int, format: PixelFormat, timeBase: Rational, sampleAspectRatio: Rational,
        frameRate: Rational?, color: ColorCode
    ) -> FilterStep {
        let aspect = "\(max(0, sampleAspectRatio.num))/\(max(1, sampleAspectRatio.den))"
        var source = FilterStep(
            "buffer",
            [
                "video_size": "\(width)x\(height)", "pix_fmt": "\(format.value)",
                "time_base": "\(timeBase.num)/\(timeBase.den)", "pixel_aspect": aspect,
            ])
        if let rate = frameRate {
            source.options.append(MetadataEntry(key: "frame_rate", value: "\(rate.num)/\(rate.den)"))
        }
        // From FFmpeg 7 on, filters negotiate the color matrix and range before the first frame, and assume the
        // result for the frames. RGB has no such properties.
        if tandem_filter_major() >= 10, !format.isRGB {
            source.options += [
                MetadataEntry(key: "colorspace", value: "\(color.matrix)"),
                MetadataEntry(key: "range", value: "\(color.range)"),
            ]
        }
        return source
    }

    /// Returns the properties of the frames that a chain outputs, determined by filtering a black frame.
    package static func filteredFormat(
        _ steps: [FilterStep], of format: FrameFormat, scaling: [MetadataEntry]
    )
        throws(AVError) -> FrameFormat
    {
        let frame = try Frame.black(format)
        let graph = try video(
            steps, like: frame, timeBase: Rational(1, 1000), sampleAspectRatio: format.sampleAspectRatio,
            frameRate: Rational(25, 1), scaling: scaling)
        try graph.send(frame)
        try graph.sendEnd(at: 40)
        let result = try Frame()
        guard case .ready = try graph.receive(into: result) else {
            return graph.outputFormat(color: format.color)
        }
        return FrameFormat(
            width: result.width, height: result.height, format: result.pixelFormat,
            sampleAspectRatio: result.sampleAspectRatio, color: result.color)
    }

    /// Returns the properties of the frames that a chain outputs, without filtering a frame. The color properties are
    /// copied from the input.
    package static func format(after steps: [FilterStep], of format: FrameFormat, scaling: [MetadataEntry])
        throws(AVError) -> FrameFormat
    {
        let input = video(
            width: format.width, height: format.height, format: format.format,
            timeBase: Rational(1, 1000),
            sampleAspectRatio: format.sampleAspectRatio, frameRate: Rational(25, 1),
            color: ColorCode(format.color))
        return try build(FilterNode.chain(steps, of: 1), inputs: [input], mediaType: .video, scaling: scaling)
            .outputFormat(color: format.color)
    }

    private func outputFormat(color: ColorDescription) -> FrameFormat {
        FrameFormat(
            width: Int(library.c.av_buffersink_get_w(sink)), height: Int(library.c.av_buffersink_get_h(sink)),
            format: PixelFormat(AVPixelFormat(rawValue: library.c.av_buffersink_get_format(sink))),
            sampleAspectRatio: Rational(library.c.av_buffersink_get_sample_aspect_ratio(sink)), color: color)
    }

    /// Validates a chain by creating each filter with its options. Throws libavfilter's error.
    package static func check(_ steps: [FilterStep], mediaType: MediaType) throws(AVError) {
        let library = try FilterLibrary.load()
        let graph = try library.allocate()
        defer { library.free(graph) }
        let wanted = mediaType == .audio ? AVMEDIA_TYPE_AUDIO : AVMEDIA_TYPE_VIDEO
        for step in steps {
            let context = try library.make(step, in: graph)
            try checkPads(of: context, step, inputs: 1, type: wanted, library)
        }
    }

    /// Loads libavfilter, if it isn't in a system folder. Called before the process is sandboxed, because only system
    /// folders remain accessible.
    package static func prepareForLocking() {
        if !FilterLibrary.isOfSystem { _ = try? FilterLibrary.load() }
    }

    /// Creates a chain whose first filter generates frames, such as `smptebars`.
    package static func generator(_ steps: [FilterStep], mediaType: MediaType) throws(AVError) -> FilterGraph
    {
        try build(FilterNode.chain(steps, of: 0), inputs: [], mediaType: mediaType)
    }

    private static func build(
        _ nodes: [FilterNode], inputs: [FilterStep], mediaType: MediaType, scaling: [MetadataEntry] = []
    ) throws(AVError) -> FilterGraph {
        let library = try FilterLibrary.load()
        let graph = try library.allocate()
        do throws(AVError) {
            // These options apply to the `scale` filters that libavfilter inserts.
            if !scaling.isEmpty {
                graph.pointee.scale_sws_opts = av_strdup(
                    scaling.map { "\($0.key)=\($0.value)" }.joined(separator: ":"))
            }
            let type = mediaType == .audio ? AVMEDIA_TYPE_AUDIO : AVMEDIA_TYPE_VIDEO
            var sources: [UnsafeMutablePointer<AVFilterContext>] = []
            for input in inputs { sources.append(try library.make(input, in: graph)) }
            var filters: [UnsafeMutablePointer<AVFilterContext>] = []
            for node in nodes {
                let step = node.step.scaling(as: scaling)
                let context = try library.make(step, in: graph)
                try checkPads(of: context, step, inputs: node.inputs.count, type: type, library)
                for (pad, source) in node.inputs.enumerated() {
                    let (index, there) =
                        switch source {
                        case .input(let index): (index, sources)
                        case .node(let index): (index, filters)
                        }
                    let from = try member(index, of: there)
                    try LibAV.check(
                        library.c.avfilter_link(from, 0, context, UInt32(pad)), "avfilter_link")
                }
                filters.append(context)
            }
            let sink = try library.make(
                FilterStep(mediaType == .audio ? "abuffersink" : "buffersink"), in: graph)
            guard let last = filters.last ?? sources.last else {
                throw AVError(code: tandem_einval, operation: "avfilter_link")
            }
            try LibAV.check(library.c.avfilter_link(last, 0, sink, 0), "avfilter_link")
            try LibAV.check(library.c.avfilter_graph_config(graph, nil), "avfilter_graph_config")
            return FilterGraph(library, adopting: graph, sources: sources, sink: sink)
        } catch {
            library.free(graph)
            throw error
        }
    }

    /// Returns the filter context at an index; throws if the index is out of bounds.
    private static func member(
        _ index: Int, of contexts: [UnsafeMutablePointer<AVFilterContext>]
    ) throws(AVError) -> UnsafeMutablePointer<AVFilterContext> {
        guard contexts.indices.contains(index) else {
            throw AVError(
                code: tandem_einval, operation: "filtering", detail: "the graph has no input \(index)")
        }
        return contexts[index]
    }

    /// Throws unless a filter has `inputs` inputs and one output, all of one media type.
    private static func checkPads(
        of context: UnsafeMutablePointer<AVFilterContext>, _ step: FilterStep, inputs: Int, type: AVMediaType,
        _ library: FilterLibrary
    ) throws(AVError) {
        let raw = context.pointee
        let fits =
            raw.nb_inputs == inputs && raw.nb_outputs == 1
            && (0..<inputs).allSatisfy {
                library.c.avfilter_pad_get_type(raw.input_pads, Int32($0)) == type
            }
            && library.c.avfilter_pad_get_type(raw.output_pads, 0) == type
        guard !fits else { return }
        let wanted = inputs == 1 ? "one input" : "\(inputs) inputs"
        throw AVError(
            code: tandem_einval, operation: "avfilter_init_dict",
            detail: "`\(step.name)` doesn't have \(wanted) and one output of the required type")
    }

    /// Sends a frame to an input, which takes ownership of the frame's buffers (`av_buffersrc_add_frame_flags`).
    package func send(_ frame: consuming Frame, to input: Int = 0) throws(AVError) {
        let source = try Self.member(input, of: sources)
        try LibAV.check(
            library.c.av_buffersrc_add_frame_flags(source, frame.raw, 0), "filtering", context: source)
    }

    /// Signals the end of an input. `pts` is the end of its last frame, in the input's time base.
    package func sendEnd(at pts: Int64, to input: Int = 0) throws(AVError) {
        let source = try Self.member(input, of: sources)
        try LibAV.check(library.c.av_buffersrc_close(source, pts, 0), "filtering", context: source)
    }

    /// Receives the next frame, with timestamps in `timeBase` (`av_buffersink_get_frame`).
    package func receive(into frame: borrowing Frame) throws(AVError) -> CodecOutput {
        let code = library.c.av_buffersink_get_frame(sink, frame.raw)
        if code == tandem_eagain { return .needsInput }
        if code == tandem_eof { return .ended }
        try LibAV.check(code, "filtering", context: sink)
        return .ready
    }

    /// Time base of the output.
    package var timeBase: Rational { Rational(library.c.av_buffersink_get_time_base(sink)) }
}
