internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// A subtitle track that is drawn into the frames of a video track.
struct BurnedTrack {
    let spec: BurnSpec
    let track: TrackDescription
    /// The file that has the track; nil for the source.
    var file: SubtitleFile? = nil

    /// The track in messages, such as `subtitle track 2 of captions.srt`.
    var name: String { "subtitle track \(track.index)" + (file.map { " of \($0.plan.name)" } ?? "") }
}

/// The planner of burned subtitles: codec, style and fonts, and the frames into which they are drawn.
struct BurnPlanner {
    let burned: BurnedTrack
    /// The source of the video track.
    let source: InputPlan.Source
    /// Whether the tracks of the source are in several files, as in a package.
    let isPackage: Bool
    /// Pixel format of the frames.
    let pixelFormat: PixelFormat
    /// Whether the frames are HDR.
    let isHighRange: Bool
    /// Returns the machine's fonts. Called only for text.
    let fonts: () -> FontFinder

    func decide() -> Decision<BurnPlan> {
        var reasons = Reasons()
        let (spec, codec) = (burned.spec, burned.track.codec)
        let isText = SubtitleCodec.canConvert(from: codec)
        guard isText || SubtitleImageDecoder.canDecode(codec) else {
            reasons.error(
                .cannotDecode, "\(burned.name) is \(codec), which can't be decoded", at: spec.range)
            return Decision(nil, reasons)
        }
        if burned.file == nil, isPackage || !isMediaFile {
            reasons.error(
                .notSupported, "`burn` of the source's own subtitles requires one media file as the source",
                at: spec.range,
                help: "a subtitle file is `burn: { asset: captions.srt }`")
        }
        if OverlayTarget.overlayFormat(of: pixelFormat) == nil {
            reasons.error(
                .codecSetting, "subtitles can't be drawn into \(pixelFormat) frames", at: spec.range,
                help: "supported: \(OverlayTarget.pixelFormats.joined(separator: ", "))")
        }
        if isHighRange, spec.style.color == nil {
            reasons.note(
                "burned subtitles keep their code values in HDR, in which white is as bright as the format allows; `color` sets another one for text"
            )
        }
        let style = isText ? textStyle(&reasons) : imageStyle(&reasons)
        guard let style, !reasons.hasErrors else { return Decision(nil, reasons) }
        return Decision(
            BurnPlan(file: burned.file?.plan, track: burned.track.index, codec: codec, style: style), reasons)
    }

    /// Whether the source is one media file, of this job or of another.
    private var isMediaFile: Bool {
        switch source {
        case .file, .job: true
        case .pattern, .images, .composition: false
        }
    }

    /// Returns the style of text; nil after an error.
    private func textStyle(_ reasons: inout Reasons) -> SubtitleStyle? {
        let style = burned.spec.style
        return fonts().style(style, of: burned.track.codec, at: burned.spec.range, &reasons)
    }

    /// Returns an empty style; nil after an error, because images have their own.
    private func imageStyle(_ reasons: inout Reasons) -> SubtitleStyle? {
        guard let range = burned.spec.style.range else { return SubtitleStyle() }
        reasons.error(
            .conflictingKeys,
            "\(burned.name) is \(burned.track.codec), which stores images; `font`, `size` and `color` apply to text",
            at: range)
        return nil
    }
}

extension FontFinder {
    /// Returns the style of text subtitles of a codec, with the default font if they name none; nil after an error, for a
    /// font that isn't installed.
    func style(
        _ spec: SubtitleStyleSpec, of codec: String, at location: SourceRange, _ reasons: inout Reasons
    ) -> SubtitleStyle? {
        // ASS contains its own font names; other text formats don't.
        let font = spec.font?.value ?? (BitstreamTraits.of(codec).hasStyles ? nil : Self.fallback)
        if let font, file(of: font) == nil {
            reasons.error(
                .invalidValue, "the font `\(font)` is not installed", at: spec.font?.range ?? location,
                help: help)
            return nil
        }
        return SubtitleStyle(font: font, size: spec.size?.value, color: spec.color?.value)
    }
}
