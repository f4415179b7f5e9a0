/// Burned-in subtitles of a composition, as text or images.
public struct SubtitleLayer: Hashable, Codable, Sendable {
    /// Index among the composition's sources.
    public var source: Int
    /// Index of the track in the source.
    public var track: Int
    /// The style; ignored for images.
    public var style: SubtitleStyle

    /// Creates a subtitle layer, which keeps the fonts and colors of the subtitles by default.
    public init(source: Int, track: Int, style: SubtitleStyle = SubtitleStyle()) {
        self.source = source
        self.track = track
        self.style = style
    }

    var isValid: Bool { track >= 0 && style.isValid }
}
