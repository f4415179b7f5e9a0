internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The planner of the style of subtitles that are drawn into frames.
struct SubtitleStylePlanner {
    let spec: SubtitleStyleSpec
    /// Codec of the subtitles by libavcodec's name.
    let codec: String
    /// The subtitle track in messages.
    let name: String
    /// Location of the subtitles in the job file.
    let location: SourceRange
    /// Returns the machine's fonts. Called only for text.
    let fonts: () -> FontFinder

    /// Returns the style, which is empty for images; nil after an error.
    func decide() -> Decision<SubtitleStyle> {
        var reasons = Reasons()
        if SubtitleCodec.canConvert(from: codec) {
            let style = textStyle(&reasons)
            return Decision(style, reasons)
        }
        guard SubtitleImageDecoder.canDecode(codec) else {
            reasons.error(.cannotDecode, "\(name) is \(codec), which can't be decoded", at: location)
            return Decision(nil, reasons)
        }
        guard let range = spec.range else { return Decision(SubtitleStyle(), reasons) }
        reasons.error(
            .conflictingKeys,
            "\(name) is \(codec), which stores images; `font`, `size` and `color` apply to text", at: range)
        return Decision(nil, reasons)
    }

    private func textStyle(_ reasons: inout Reasons) -> SubtitleStyle? {
        // ASS contains its own font names; other text formats don't.
        let wanted =
            spec.font?.value ?? (BitstreamTraits.of(codec).hasStyles ? nil : FontFinder.fallback)
        var style = SubtitleStyle(size: spec.size?.value, color: spec.color?.value)
        guard let wanted else { return style }
        let fonts = fonts()
        guard let name = fonts.fullName(of: wanted) else {
            reasons.error(
                .invalidValue, "the font `\(wanted)` is not installed", at: spec.font?.range ?? location,
                help: fonts.help)
            return nil
        }
        style.font = name
        return style
    }
}
