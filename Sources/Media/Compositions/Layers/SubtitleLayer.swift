/// Cues that are drawn into frames (libass).
public struct SubtitleLayer: Hashable, Codable, Sendable {
    /// Which of the composition's sources.
    public var source: Int
    /// The track's index in it.
    public var track: Int
    /// The family of the font; nil for what the cues say themselves.
    public var font: String?
    /// The height of letters in pixels of the canvas; nil for what the cues say themselves.
    public var size: Int?
    /// The color as `RRGGBB`; nil for what the cues say themselves.
    public var color: String?

    /// Makes one.
    public init(source: Int, track: Int, font: String? = nil, size: Int? = nil, color: String? = nil) {
        self.source = source
        self.track = track
        self.font = font
        self.size = size
        self.color = color
    }

    var isSound: Bool {
        let isNamed =
            font.map { !$0.isEmpty && $0.utf8.count <= 256 && !$0.contains { ",\n\r".contains($0) } } ?? true
        let isColored = color.map { $0.utf8.count == 6 && $0.allSatisfy(\.isHexDigit) } ?? true
        return track >= 0 && isNamed && isColored && (1...16_384).contains(size ?? 1)
    }
}
