/// Burned-in subtitles, rendered by libass.
public struct SubtitleLayer: Hashable, Codable, Sendable {
    /// Index among the composition's sources.
    public var source: Int
    /// Index of the track in the source.
    public var track: Int
    /// The font family; nil to keep that of the subtitles.
    public var font: String?
    /// The font size in pixels of the canvas; nil to keep that of the subtitles.
    public var size: Int?
    /// The color as `RRGGBB`; nil to keep that of the subtitles.
    public var color: String?

    /// Creates a subtitle layer, which keeps the fonts and colors of the subtitles by default.
    public init(source: Int, track: Int, font: String? = nil, size: Int? = nil, color: String? = nil) {
        self.source = source
        self.track = track
        self.font = font
        self.size = size
        self.color = color
    }

    var isValid: Bool {
        let isNamed =
            font.map { !$0.isEmpty && $0.utf8.count <= 256 && !$0.contains { ",\n\r".contains($0) } } ?? true
        let isColored = color.map { $0.utf8.count == 6 && $0.allSatisfy(\.isHexDigit) } ?? true
        return track >= 0 && isNamed && isColored && (1...16_384).contains(size ?? 1)
    }
}
