internal import LibAV
internal import Media

/// Styles and positions of subtitle events that another codec can't represent.
enum SubtitleLosses {
    /// Returns what is lost when events of one codec are converted to another, with the reasons.
    static func of(_ own: String, as codec: SubtitleCodec) -> [(item: String, reason: String)] {
        guard codec.rawValue != own else { return [] }
        var lost: [(item: String, reason: String)] = []
        let traits = BitstreamTraits.of(own)
        if traits.hasStyles {
            let said =
                codec == .srt
                ? "says bold, italic and underlined text, fonts and colours alone"
                : "says bold, italic and underlined text alone"
            lost.append(("styles", "\(codec.rawValue) \(said)"))
        }
        if traits.hasCuePlaces {
            lost.append(("places of cues", "\(codec.rawValue) has no settings of WebVTT's"))
        }
        return lost
    }
}
