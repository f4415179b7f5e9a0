internal import Diagnostics
internal import ExactStrings
internal import JobSpec
internal import LibAV
internal import Media

/// Layers above the clips.
extension CompositionPlanner {
    mutating func addLayers() {
        guard !spec.layers.isEmpty else { return }
        guard let canvas = composition.canvas else {
            reasons.error(
                .noSuchTrack, "layers require a clip with video", at: spec.layers[0].location,
                help: "set `size` for a black background")
            return
        }
        for layer in spec.layers {
            guard let range = timeRange(of: layer) else { continue }
            let opacity = envelope(layer.opacity, from: range.start)
            switch layer.content {
            case .text(let text, let font, let size, let color):
                guard let file = fonts.file(of: font?.value ?? FontFinder.fallback) else {
                    reasons.error(
                        .invalidValue,
                        "the font `\(font?.value ?? FontFinder.fallback)` is not installed",
                        at: font?.range ?? text.range, help: fonts.help)
                    continue
                }
                if let size, size.value > canvas.maxTextSize {
                    reasons.error(
                        .invalidValue,
                        "`size: \(size.value)` is too large for frames of \(canvas.size); it must be at most \(canvas.maxTextSize)",
                        at: size.range)
                    continue
                }
                composition.layers.append(
                    Layer(
                        content: .text(
                            TextLayer(
                                text: text.value, fontFile: file, size: size?.value ?? 48, color: color,
                                position: position(ofText: layer.placement, on: canvas))),
                        timeRange: range, opacity: opacity,
                        rotation: layer.placement.rotate?.value ?? 0))
            case .subtitle(let asset, let choice, let style): burn(asset, choice, style, range)
            case .asset(let asset, let written, let choice, let shaping):
                add(layer, asset, written, choice, shaping, range, opacity, canvas)
            }
        }
    }

    private mutating func add(
        _ layer: CompositionSpec.Layer, _ asset: AssetSpec, _ written: RangeSpec?,
        _ choice: CompositionSpec.TrackChoice, _ shaping: CompositionSpec.Shaping, _ shown: TimeRange,
        _ opacity: VolumeEnvelope, _ canvas: Canvas
    ) {
        guard let found = find(asset, shown.duration, canvas.frameRate) else { return }
        guard let video = select(choice, of: .video, in: found, for: "a layer") else {
            reasons.error(
                .noSuchTrack, "the asset has no video track that matches\(choice.alternatives)",
                at: asset.range)
            return
        }
        guard let range = range(written, of: found, video) else { return }
        // A source that is shorter than the layer ends the layer.
        let length = min(range.duration, shown.duration)
        guard let shaped = shape(video, shaping) else { return }
        let rectangle = rectangle(of: layer.placement, for: shaped.track, on: canvas)
        var settings = shaped.settings(
            on: canvas, fit: .stretch, box: PixelSize(width: rectangle.width, height: rectangle.height))
        settings.pixelFormat = canvas.layerFormat(at: rectangle)
        composition.layers.append(
            Layer(
                content: .frames(
                    ClipPlacement(
                        source: sourceIndex(of: found.source), track: video.index,
                        sourceRange: TimeRange(start: range.start, duration: length),
                        timeRange: TimeRange(start: shown.start, duration: length)),
                    in: rectangle, settings: settings),
                timeRange: TimeRange(start: shown.start, duration: length), opacity: opacity,
                rotation: layer.placement.rotate?.value ?? 0))
        recordUnused(
            found, [video.index], as: "layer \(composition.layers.count - 1)", at: layer.location
        ) { _ in "a layer uses one video track" }
    }

    private mutating func burn(
        _ asset: AssetSpec, _ choice: CompositionSpec.TrackChoice, _ style: CompositionSpec.Layer.Style,
        _ shown: TimeRange
    ) {
        guard let found = find(asset, nil, Rational(25, 1)) else { return }
        guard let track = select(choice, of: .subtitle, in: found, for: "a layer") else {
            reasons.error(
                .noSuchTrack, "no subtitle track of the asset matches\(choice.alternatives)",
                at: asset.range)
            return
        }
        guard SubtitleCodec.canConvert(from: track.codec) else {
            reasons.error(
                .cannotDecode,
                "subtitle track \(track.index) of the asset is \(track.codec); only text subtitles can be drawn",
                at: asset.range)
            return
        }
        // ASS contains its own font names; other text formats don't.
        let hasStyles = BitstreamTraits.of(track.codec).hasStyles
        if let font = style.font?.value ?? (hasStyles ? nil : FontFinder.fallback),
            fonts.file(of: font) == nil
        {
            reasons.error(
                .invalidValue, "the font `\(font)` is not installed",
                at: style.font?.range ?? asset.range,
                help: fonts.help)
            return
        }
        composition.layers.append(
            Layer(
                content: .subtitles(
                    SubtitleLayer(
                        source: sourceIndex(of: found.source), track: track.index,
                        font: style.font?.value ?? (hasStyles ? nil : FontFinder.fallback), size: style.size,
                        color: style.color)), timeRange: shown))
        recordUnused(found, [track.index], as: "layer \(composition.layers.count - 1)", at: asset.range) {
            _ in
            "a layer uses one subtitle track"
        }
    }

    private mutating func timeRange(of layer: CompositionSpec.Layer) -> TimeRange? {
        let end = composition.duration
        guard let start = layer.at.map({ time(of: $0) }) ?? .some(.zero) else { return nil }
        var until = end
        var location = layer.at?.range ?? layer.location
        if let written = layer.until {
            guard let time = time(of: written) else { return nil }
            (until, location) = (time, written.range)
        } else if let duration = layer.duration {
            (until, location) = (start + duration.value, duration.range)
        }
        guard start >= .zero, start < end else {
            reasons.error(
                .invalidRange, "the layer begins at \(start) s, but the composition ends at \(end) s",
                at: layer.at?.range ?? layer.location)
            return nil
        }
        guard until > start, until <= end else {
            reasons.error(
                .invalidRange,
                until > end
                    ? "the layer ends at \(until) s, but the composition ends at \(end) s"
                    : "the layer ends at \(until) s, before it begins at \(start) s", at: location)
            return nil
        }
        return TimeRange(start: start, end: until)
    }

    /// Returns a time on the composition's time line; nil for a circular anchor, which is reported.
    mutating func time(of anchor: Located<CompositionSpec.Anchor>) -> MediaTime? {
        let offset = anchor.value.offset
        switch anchor.value.base {
        case .start: return offset
        case .end: return composition.duration + offset
        case .item(let name, let isEnd):
            let item = spec.audio.firstIndex { $0.id?.value == name }
            if ids[name] == nil, !(item.map { positionAudioItem($0) } ?? false) {
                if !isRefused {
                    reasons.error(
                        .dependencyCycle,
                        "circular placement: this is anchored to `\(name)`, which is anchored to this",
                        at: anchor.range)
                }
                return nil
            }
            return ids[name].map { (isEnd ? $0.end : $0.start) + offset }
        }
    }

    // MARK: Placement

    private func pixels(_ distance: Located<CompositionSpec.Distance>?, of whole: Int) -> Int? {
        switch distance?.value {
        case nil: nil
        case .pixels(let count): count
        case .share(let share): Int((Double(whole) * Double(share) / 100_000).rounded())
        }
    }

    private func position(ofText placement: CompositionSpec.LayerPlacement, on canvas: Canvas) -> TextPosition
    {
        TextPosition(
            left: pixels(placement.left, of: canvas.size.width),
            right: pixels(placement.right, of: canvas.size.width),
            top: pixels(placement.top, of: canvas.size.height),
            bottom: pixels(placement.bottom, of: canvas.size.height))
    }

    private func rectangle(
        of placement: CompositionSpec.LayerPlacement, for track: TrackDescription, on canvas: Canvas
    ) -> PixelRectangle {
        func even(_ value: Double) -> Int { min(PixelSize.maxSide, max(2, Int((value / 2).rounded()) * 2)) }
        var (width, height) = (Double(max(1, track.width)), Double(max(1, track.height)))
        if let aspect = track.pixelAspectRatio, aspect.isPositive { width *= aspect.double }
        if track.transform?.rotation?.isQuarter == true { (width, height) = (height, width) }
        let (across, along) = (
            pixels(placement.width, of: canvas.size.width).map(Double.init),
            pixels(placement.height, of: canvas.size.height).map(Double.init)
        )
        let size: (Double, Double) =
            switch (across, along) {
            case (let w?, let h?): (w, h)
            case (let w?, nil): (w, height * w / width)
            case (nil, let h?): (width * h / height, h)
            case (nil, nil): (width, height)
            }
        let (w, h) = (even(size.0), even(size.1))
        func start(_ before: Int?, _ behind: Int?, _ whole: Int, _ own: Int) -> Int {
            if let before { return before }
            if let behind { return whole - own - behind }
            return (whole - own) / 2
        }
        return PixelRectangle(
            x: start(
                pixels(placement.left, of: canvas.size.width), pixels(placement.right, of: canvas.size.width),
                canvas.size.width, w),
            y: start(
                pixels(placement.top, of: canvas.size.height),
                pixels(placement.bottom, of: canvas.size.height),
                canvas.size.height, h), width: w, height: h)
    }
}
