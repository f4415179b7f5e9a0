internal import LibAV
internal import Media

/// Styles and positions of subtitle events that another codec can't represent.
enum SubtitleLosses {
    /// Returns the properties that are lost when events of one codec are converted to another, with the reasons.
    static func of(_ own: String, as codec: SubtitleCodec) -> [(item: String, reason: String)] {
        guard codec.rawValue != own else { return [] }
        var lost: [(item: String, reason: String)] = []
        let traits = BitstreamTraits.of(own)
        if traits.hasStyles {
            let limitation =
                codec == .srt
                ? "supports only bold, italic, underlined text, fonts and colors"
                : "supports only bold, italic and underlined text"
            lost.append(("styles", "\(codec.rawValue) \(limitation)"))
        }
        if traits.hasCuePositions {
            lost.append(("cue positions", "\(codec.rawValue) doesn't support WebVTT cue settings"))
        }
        return lost
    }
}
