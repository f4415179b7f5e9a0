internal import DequeModule
internal import LibAV

/// Scales, filters and converts frames with filter graphs. If the format of the frames changes mid-stream, the old
/// graph is drained and a new one is created.
///
/// Output times are on the asset's time line; if the frame rate changes, they count from the start of the range, in the
/// graph's time base.
final class VideoConverter: FrameStage {
    /// Input format of a graph.
    private struct InputFormat: Equatable {
        var shape: FrameShape
        var format: PixelFormat
        var color: ColorCode
        /// See `VideoConverter.hasFields`.
        var hasFields: Bool
    }

    private let settings: VideoOutputSettings
    private let tick: Rational
    private let start: Int64
    private let pixelAspect: Rational?
    private let sourceRate: Rational?
    /// Format of frames that bypass the graph.
    private let target: (size: PixelSize?, format: PixelFormat)
    /// Whether frames without a declared range have full range; nil for the default of the pixel format.
    private let isFullRangeByDefault: Bool?
    private let defaultMatrix: String?
    /// Whether output frames have full range; nil for the input's range, and for RGB.
    private let isOutputFullRange: Bool?

    /// The frame shape for which the settings were planned.
    private var planned: FrameShape
    private var hasBegun = false
    /// Whether an interlaced frame was found in a track planned as progressive. From then on all frames pass through
    /// the deinterlacer, which keeps progressive frames and requires the neighbors of interlaced ones.
    private var hasFields = false
    private(set) var interlacedFrom: MediaTime?
    /// Time at which the shape of frames first changed, from the start of the range.
    private(set) var formatChange: MediaTime?

    private var graph: FilterGraph?
    private var graphInput: InputFormat?
    /// Time base of the graph's output.
    private var inner: Rational
    /// Frames from the graph; times count from the start of the range.
    private var ready = UniqueDeque<Frame>()
    /// Durations of the frames in the graph, by presentation time.
    private var durations: [Int64: Int64] = [:]
    private var lastEnd: Int64 = 0
    private let isRetimed: Bool

    var timeBase: Rational { isRetimed ? inner : tick }
    var end: MediaTime? { MediaTime(ticks: lastEnd, timeBase: tick) }

    init(settings: VideoOutputSettings, context: ProducerContext) {
        let tick = context.videoTick
        let format = context.track.format
        let source = PixelSize(width: format.width, height: format.height)
        target = (
            settings.size ?? (settings.isPlain ? source : nil), settings.pixelFormat ?? format.pixelFormat
        )
        self.settings = settings
        isFullRangeByDefault = (settings.sourceRange ?? format.color.range).map { $0 == .full }
        defaultMatrix = settings.sourceMatrix ?? format.color.matrix
        isOutputFullRange = target.format.isRGB ? nil : settings.levels.map { $0 == .full }
        self.tick = tick
        inner = tick
        start = context.start.ticks(in: tick)
        pixelAspect = format.pixelAspectRatio
        planned = FrameShape(size: source, aspect: format.pixelAspectRatio ?? Rational(1, 1))
        sourceRate = context.track.nominalFrameRate
        isRetimed = settings.frameRate != nil
    }

    private func needsGraph(_ input: InputFormat, isFullRange: Bool) -> Bool {
        !settings.isPlain || input.hasFields || input.shape.size != target.size
            || input.format != target.format
            || input.shape != planned
            || isOutputFullRange != nil && isOutputFullRange != isFullRange
    }

    func push(_ frame: consuming Frame, in timeBase: Rational) throws {
        let (pts, duration) = (frame.pts - start, frame.duration)
        lastEnd = pts + duration
        // Times inside the graph count from the start of the range.
        frame.pts = pts
        frame.duration = duration
        let aspect = frame.sampleAspectRatio.isPositive ? frame.sampleAspectRatio : pixelAspect
        if settings.deinterlacesLateFields, frame.isInterlaced, !hasFields {
            hasFields = true
            interlacedFrom = MediaTime(ticks: max(0, pts), timeBase: tick)
        }
        let input = InputFormat(
            shape: FrameShape(
                size: PixelSize(width: frame.width, height: frame.height), aspect: aspect ?? Rational(1, 1)),
            format: frame.pixelFormat, color: frame.colorCode, hasFields: hasFields)
        // The container's aspect ratio may differ from that of the frames; only a change between frames is reported.
        if !hasBegun, input.shape.size == planned.size { planned = input.shape }
        hasBegun = true
        if formatChange == nil, input.shape != planned {
            formatChange = MediaTime(ticks: max(0, pts), timeBase: tick)
        }
        let isFullRange = input.color.isFullRange ?? isFullRangeByDefault ?? input.format.isFullRangeByDefault
        if graph != nil, graphInput != input {
            try graph?.sendEnd(at: pts)
            while try receive() {}
            graph = nil
        }
        guard needsGraph(input, isFullRange: isFullRange) else { return ready.append(frame) }
        frame.forgetRangeByName()
        frame.fillColor(isFullRange: isFullRange, matrix: input.format.isRGB ? nil : defaultMatrix)
        if graph == nil {
            var settings = settings
            if hasFields, settings.deinterlacing == .off { settings.deinterlacing = .auto }
            let chain = FrameFilterChain(
                settings: settings, size: input.shape.size, format: frame.pixelFormat,
                isFullRange: isFullRange,
                matrix: input.color.matrixName ?? defaultMatrix, wholeSize: target.size,
                target: target.format,
                shapes: (input.shape, planned))
            graph = try FilterGraph.video(
                chain.steps, like: frame, timeBase: tick, sampleAspectRatio: aspect ?? Rational(0, 1),
                frameRate: sourceRate,
                scaling: chain.scaling)
            inner = graph?.timeBase ?? tick
            graphInput = input
        }
        if !settings.isPlain || hasFields, !isRetimed { durations[pts] = duration }
        try graph?.send(frame)
    }

    func finish(at end: MediaTime?) throws { try graph?.sendEnd(at: lastEnd) }

    func pull() throws -> Frame? {
        if try ready.isEmpty && !receive() { return nil }
        guard let frame = ready.popFirst() else { return nil }
        return isRetimed ? frame : stamped(frame)
    }

    /// Appends the graph's next frame to `ready`; returns false if there is none.
    private func receive() throws -> Bool {
        guard graph != nil else { return false }
        let frame = try Frame()
        guard case .ready? = try graph?.receive(into: frame) else { return false }
        if let size = target.size, frame.width != size.width || frame.height != size.height {
            throw MediaError.invalidSettings(
                "the filters produce frames of different sizes: \(frame.width)x\(frame.height) instead of \(size)"
            )
        }
        ready.append(frame)
        return true
    }

    private func stamped(_ frame: consuming Frame) -> Frame {
        let shown = inner.rescale(frame.pts, to: tick)
        // Filters that change the time base don't rescale frame durations.
        let duration =
            durations.removeValue(forKey: shown)
            ?? (frame.duration > 0 ? inner.rescale(frame.duration, to: tick) : 0)
        frame.pts = shown + start
        frame.duration = duration
        return frame
    }
}
