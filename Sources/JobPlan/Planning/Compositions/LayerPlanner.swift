internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The planning of layers above the clips.
struct LayerPlanner {
    var draft: CompositionDraft
    /// Fonts of text and subtitle layers.
    let fonts: FontFinder

    /// Adds the layers, of which there is at least one. The time ranges of clips and audio items are known.
    mutating func add() {
        guard let canvas = draft.composition.canvas else {
            draft.reasons.error(
                .noSuchTrack, "layers require a clip with video", at: draft.spec.layers[0].location,
                help: "set `size` for a black background")
            return
        }
        for layer in draft.spec.layers {
            guard let range = timeRange(of: layer) else { continue }
            let opacity = draft.envelope(layer.opacity, from: range.start)
            switch layer.content {
            case .text(let text, let font, let size, let color):
                guard let file = fonts.file(of: font?.value ?? FontFinder.fallback) else {
                    draft.reasons.error(
                        .invalidValue,
                        "the font `\(font?.value ?? FontFinder.fallback)` is not installed",
                        at: font?.range ?? text.range, help: fonts.help)
                    continue
                }
                if let size, size.value > canvas.maxTextSize {
                    draft.reasons.error(
                        .invalidValue,
                        "`size: \(size.value)` is too large for frames of \(canvas.size); it must be at most \(canvas.maxTextSize)",
                        at: size.range)
                    continue
                }
                draft.composition.layers.append(
                    Layer(
                        content: .text(
                            TextLayer(
                                text: text.value, fontFile: file, size: size?.value ?? 48, color: color,
                                position: layer.placement.textPosition(on: canvas))),
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
        guard let found = draft.find(asset, shown.duration, canvas.frameRate) else { return }
        guard let video = draft.select(choice, of: .video, in: found, for: "a layer") else {
            draft.reasons.error(
                .noSuchTrack, "the asset has no video track that matches\(choice.alternatives)",
                at: asset.range)
            return
        }
        guard let range = draft.range(written, of: found, video) else { return }
        // A source that is shorter than the layer ends the layer.
        let length = min(range.duration, shown.duration)
        guard let shaped = draft.shape(video, shaping) else { return }
        let rectangle = layer.placement.rectangle(of: shaped.track, on: canvas)
        var settings = shaped.settings(
            on: canvas, fit: .stretch, box: PixelSize(width: rectangle.width, height: rectangle.height))
        settings.pixelFormat = canvas.layerFormat(at: rectangle)
        draft.composition.layers.append(
            Layer(
                content: .frames(
                    ClipPlacement(
                        source: draft.sourceIndex(of: found.source), track: video.index,
                        sourceRange: TimeRange(start: range.start, duration: length),
                        timeRange: TimeRange(start: shown.start, duration: length)),
                    in: rectangle, settings: settings),
                timeRange: TimeRange(start: shown.start, duration: length), opacity: opacity,
                rotation: layer.placement.rotate?.value ?? 0))
        draft.recordUnused(
            found, [video.index], as: "layer \(draft.composition.layers.count - 1)", at: layer.location
        ) { _ in "a layer uses one video track" }
    }

    private mutating func burn(
        _ asset: AssetSpec, _ choice: CompositionSpec.TrackChoice, _ written: SubtitleStyleSpec,
        _ shown: TimeRange
    ) {
        guard let found = draft.find(asset, nil, Rational(25, 1)) else { return }
        guard let track = draft.select(choice, of: .subtitle, in: found, for: "a layer") else {
            draft.reasons.error(
                .noSuchTrack, "no subtitle track of the asset matches\(choice.alternatives)",
                at: asset.range)
            return
        }
        let fonts = fonts
        let planner = SubtitleStylePlanner(
            spec: written, codec: track.codec, name: "subtitle track \(track.index) of the asset",
            location: asset.range, fonts: { fonts })
        guard let style = draft.reasons.take(planner.decide()) else { return }
        draft.composition.layers.append(
            Layer(
                content: .subtitles(
                    SubtitleLayer(
                        source: draft.sourceIndex(of: found.source), track: track.index, style: style)),
                timeRange: shown))
        draft.recordUnused(
            found, [track.index], as: "layer \(draft.composition.layers.count - 1)", at: asset.range
        ) {
            _ in
            "a layer uses one subtitle track"
        }
    }

    private mutating func timeRange(of layer: CompositionSpec.Layer) -> TimeRange? {
        let end = draft.composition.duration
        guard let start = layer.at.map({ draft.time(of: $0.value) }) ?? .some(.zero) else { return nil }
        var until = end
        var location = layer.at?.range ?? layer.location
        if let written = layer.until {
            guard let time = draft.time(of: written.value) else { return nil }
            (until, location) = (time, written.range)
        } else if let duration = layer.duration {
            (until, location) = (start + duration.value, duration.range)
        }
        return draft.span(
            of: "layer", from: start, at: layer.at?.range ?? layer.location, until: until, at: location)
    }
}
