internal import LibAV

/// Renderer of a composition's frames, in order. Sources are opened shortly before they are needed, and closed after
/// their end. Confined to its output's queue.
final class ComposedFrames: FrameStream {
    let timeBase: Rational
    private let canvas: Canvas
    private let opener: CompositionOpener
    private let count: Int64
    private var next: Int64

    /// The frames during which a clip or layer is on screen; the upper bound is exclusive.
    private struct Span {
        var frames: Range<Int64>
        /// Index among the composition's clips or layers.
        var index: Int
    }

    private let clips: [VideoClip]
    private let layers: [Layer]
    private let clipSpans: [Span]
    private let layerSpans: [Span]
    /// Index of the first clip that hasn't ended, and index in `layerSpans` of the first layer that isn't open yet.
    private var (firstClip, firstLayer) = (0, 0)
    private var openClips: [Int: ClipFrames] = [:]
    /// Layers that are on screen or begin within `lead` frames, in the composition's order.
    private var openLayers: [(span: Span, overlay: any FrameOverlay)] = []
    private var join: (into: Int, frames: FrameJoin)?
    private var black: Frame?

    /// Number of frames before its start at which a source is opened, so that its first frames are decoded in time.
    private static let lead: Int64 = 12

    /// Creates a renderer whose first frame is the one at `time`.
    init(_ composition: Composition, from time: MediaTime, opener: CompositionOpener) throws {
        guard composition.isValid, let canvas = composition.canvas else {
            throw MediaError.invalidArgument("the composition has no video, or is invalid")
        }
        self.canvas = canvas
        self.opener = opener
        let unit = canvas.frameRate.inverted
        timeBase = unit
        count = composition.frameCount
        next = max(0, time.ticks(in: unit, rounding: .down))
        func span(_ range: TimeRange, _ index: Int) -> Span {
            let first = range.start.ticks(in: unit, rounding: .up)
            return Span(frames: first..<max(first, range.end.ticks(in: unit, rounding: .up)), index: index)
        }
        clips = composition.clips
        layers = composition.layers
        clipSpans = clips.enumerated().map { span($1.placement.timeRange, $0) }
        layerSpans = layers.enumerated().map { span($1.timeRange, $0) }
            .sorted { ($0.frames.lowerBound, $0.index) < ($1.frames.lowerBound, $1.index) }
    }

    func next(into frame: borrowing Frame) throws -> FrameSupply {
        guard next < count else { return .ended }
        if opener.interrupt.isRaised { throw CancellationError() }
        let index = next
        next += 1
        let time = MediaTime(ticks: index, timeBase: timeBase)
        try open(for: index)
        var image = try sequence(at: time, index)
        for layer in openLayers where layer.span.frames.contains(index) {
            image = try layer.overlay.put(above: image, at: time, index)
        }
        (image.pts, image.duration) = (index, 1)
        frame.take(image)
        return .frame
    }

    /// Opens sources that begin soon, and closes those that have ended.
    private func open(for index: Int64) throws {
        while firstClip < clipSpans.count, clipSpans[firstClip].frames.upperBound <= index {
            openClips[firstClip] = nil
            firstClip += 1
        }
        var clipIndex = firstClip
        while clipIndex < clipSpans.count, clipSpans[clipIndex].frames.lowerBound <= index + Self.lead {
            if openClips[clipIndex] == nil, !clipSpans[clipIndex].frames.isEmpty {
                let clip = frames(of: clips[clipIndex])
                openClips[clipIndex] = clip
                try clip.prepare(at: first(of: clipSpans[clipIndex], index))
            }
            clipIndex += 1
        }
        openLayers.removeAll { $0.span.frames.upperBound <= index }
        while firstLayer < layerSpans.count, layerSpans[firstLayer].frames.lowerBound <= index + Self.lead {
            let span = layerSpans[firstLayer]
            firstLayer += 1
            guard span.frames.upperBound > index, !span.frames.isEmpty else { continue }
            let overlay = overlay(of: layers[span.index])
            try overlay.prepare(at: first(of: span, index))
            openLayers.append((span, overlay))
            openLayers.sort { $0.span.index < $1.span.index }
        }
    }

    /// Returns the time of a span's first frame that isn't before `index`.
    private func first(of span: Span, _ index: Int64) -> MediaTime {
        MediaTime(ticks: max(index, span.frames.lowerBound), timeBase: timeBase)
    }

    private func frames(of clip: VideoClip) -> ClipFrames {
        let (placement, settings) = (clip.placement, clip.settings)
        return ClipFrames(
            placement, of: opener.sources[placement.source], settings: settings, canvas: canvas,
            leadIn: clip.leadIn
        ) { [opener] in try opener.read(placement, as: .video(settings), $0) }
    }

    private func overlay(of layer: Layer) -> any FrameOverlay {
        if case .subtitles(let subtitles) = layer.content {
            return SubtitleOverlay(
                subtitles.style, on: OverlayTarget(canvas),
                times: SubtitleTimes(offset: layer.timeRange.start), in: opener.environment.folder,
                place: { [canvas] in SubtitlePlacement(of: $0, on: canvas) }
            ) { [opener] in
                try opener.readSubtitles(source: subtitles.source, track: subtitles.track, $0)
            }
        }
        guard case .frames(let placement, _, let settings) = layer.content else {
            return LayerOverlay(layer, canvas: canvas, clip: nil)
        }
        let clip = ClipFrames(
            placement, of: opener.sources[placement.source], settings: settings, canvas: canvas
        ) { [opener] in try opener.read(placement, as: .video(settings), $0) }
        return LayerOverlay(layer, canvas: canvas, clip: clip)
    }

    /// Returns the frame of the clips at a time, with transitions and without layers.
    private func sequence(at time: MediaTime, _ index: Int64) throws -> Frame {
        var shown: [Int] = []
        var clipIndex = firstClip
        while clipIndex < clipSpans.count, clipSpans[clipIndex].frames.lowerBound <= index {
            if clipSpans[clipIndex].frames.contains(index) { shown.append(clipIndex) }
            clipIndex += 1
        }
        guard let first = shown.first else { return try blank() }
        let one = try openClips[first]?.frame(at: time) ?? blank()
        guard shown.count > 1 else { return one }
        let second = shown[1]
        let other = try openClips[second]?.frame(at: time) ?? blank()
        if join?.into != second {
            let length = clipSpans[first].frames.upperBound - clipSpans[second].frames.lowerBound
            join = (
                second,
                FrameJoin(
                    clips[second].join, length: length,
                    skipping: index - clipSpans[second].frames.lowerBound, canvas: canvas)
            )
        }
        guard let join else { return one }
        return try join.frames.frame(of: one, and: other)
    }

    private func blank() throws -> Frame {
        do throws(AVError) {
            if black == nil {
                black = try Frame.black(
                    FrameFormat(
                        width: canvas.size.width, height: canvas.size.height, format: canvas.pixelFormat,
                        sampleAspectRatio: Rational(1, 1), color: canvas.color))
            }
            guard let frame = black.take() else {
                throw AVError(code: -12, operation: "allocating a black frame")
            }
            let copy = try frame.reference()
            black = consume frame
            return copy
        } catch {
            throw MediaError.encoding(track: .part(.composition), error)
        }
    }
}
