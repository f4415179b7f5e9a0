/// Style of text subtitles that are drawn into frames, which overrides their own.
public struct SubtitleStyle: Hashable, Codable, Sendable {
    /// The font family; nil to keep that of the subtitles.
    public var font: String?
    /// The font size in pixels of the frame; nil to keep that of the subtitles.
    public var size: Int?
    /// The color as `RRGGBB`; nil to keep that of the subtitles.
    public var color: String?

    /// Creates a style, which keeps the fonts and colors of the subtitles by default.
    public init(font: String? = nil, size: Int? = nil, color: String? = nil) {
        self.font = font
        self.size = size
        self.color = color
    }

    /// Whether all values are valid. Checked for plans from untrusted input.
    package var isValid: Bool {
        let isNamed =
            font.map { !$0.isEmpty && $0.utf8.count <= 256 && !$0.contains { ",\n\r".contains($0) } } ?? true
        let isColored = color.map { $0.utf8.count == 6 && $0.allSatisfy(\.isHexDigit) } ?? true
        return isNamed && isColored && (1...16_384).contains(size ?? 1)
    }
}
