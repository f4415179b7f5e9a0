internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The resolution of a composition against its sources: the time range of each clip, layer and audio item,
/// and the conversion of its frames and audio. Each part has a planner of its own, which adds to a draft.
struct CompositionPlanner {
    private var draft: CompositionDraft
    /// Whether an output of the job has 4:4:4 or RGB frames, so that composing keeps full chroma.
    private let keepsFullChroma: Bool
    /// Closure that returns the fonts of text and subtitle layers. Called only for a composition with layers.
    private let fonts: () -> FontFinder
    /// Whether the speed of audio is changed precisely.
    private let stretchesPrecisely: Bool

    /// Creates a planner. `resolve` resolves and probes an asset; `image` is the duration for which an image is shown.
    init(
        _ spec: CompositionSpec, prober: any SourceProber, keepsFullChroma: Bool = false,
        fonts: @escaping @autoclosure () -> FontFinder, stretchesPrecisely: Bool = TempoStretcher.isPrecise,
        resolve: @escaping (AssetSpec, _ image: MediaTime?, _ rate: Rational) -> Decision<ResolvedSource>
    ) {
        draft = CompositionDraft(spec, prober: prober, resolve: resolve)
        self.keepsFullChroma = keepsFullChroma
        self.fonts = fonts
        self.stretchesPrecisely = stretchesPrecisely
    }

    /// Returns the composition with its source map; nil if there are errors. Later steps would report consequences of the
    /// errors of earlier ones.
    consuming func decide() -> Decision<ComposedSource> {
        var sequence = SequencePlanner(draft: draft)
        guard let placed = sequence.place() else { return Decision(nil, sequence.draft.reasons) }
        var canvas = CanvasPlanner(draft: sequence.draft, keepsFullChroma: keepsFullChroma)
        canvas.setFormat(from: placed)
        var clips = ClipPlanner(draft: canvas.draft, stretchesPrecisely: stretchesPrecisely)
        clips.add(placed)
        var audio = AudioItemPlanner(clips.draft)
        audio.position()
        guard !audio.draft.reasons.hasErrors else { return Decision(nil, audio.draft.reasons) }
        if !audio.draft.spec.layers.isEmpty {
            var layers = LayerPlanner(draft: audio.draft, fonts: fonts())
            layers.add()
            audio.draft = layers.draft
        }
        audio.add()
        return audio.draft.finished()
    }
}

extension CompositionDraft {
    /// Returns the composition with its source map; nil if there are errors.
    fileprivate consuming func finished() -> Decision<ComposedSource> {
        guard !reasons.hasErrors else { return Decision(nil, reasons) }
        if composition.canvas == nil, composition.audioFormat == nil {
            reasons.error(.noSuchTrack, "the composition has neither video nor audio", at: spec.range)
        } else if !composition.isValid {
            reasons.error(
                .invalidValue, "the composition exceeds a limit on duration, size or speed", at: spec.range)
        }
        known.composition = composition
        return Decision(reasons.hasErrors ? nil : known, reasons)
    }
}
