/// What lies above a composition's clips for some time.
public struct Layer: Hashable, Codable, Sendable {
    /// What it shows.
    public enum Content: Hashable, Codable, Sendable {
        /// Frames of a source, which stand in a rectangle of the canvas.
        case frames(ClipPlacement, in: PixelRectangle, settings: VideoOutputSettings)
        /// Text; where it stands is said by itself.
        case text(TextLayer)
        /// Cues; those of its source's start are shown at its own.
        case subtitles(SubtitleLayer)
    }

    /// What it shows.
    public var content: Content
    /// When.
    public var timeRange: TimeRange
    /// How much of what is below it covers: 1000 is all of it; times are the composition's.
    public var opacity: VolumeEnvelope
    /// How far it is rotated around its middle, in thousandths of a degree clockwise. Cues are never.
    public var rotation: Int

    /// Makes a layer.
    public init(
        content: Content, timeRange: TimeRange, opacity: VolumeEnvelope = .full, rotation: Int = 0
    ) {
        self.content = content
        self.timeRange = timeRange
        self.opacity = opacity
        self.rotation = rotation
    }
}

/// Text on the canvas (`drawtext`).
public struct TextLayer: Hashable, Codable, Sendable {
    /// What is written; lines are divided by line feeds.
    public var text: String
    /// The absolute path of the font's file.
    public var fontFile: String
    /// The height of its letters in pixels.
    public var size: Int
    /// The color, as libavutil names or writes it.
    public var color: String
    /// Where it stands.
    public var place: TextPlace

    /// Makes a text.
    public init(text: String, fontFile: String, size: Int, color: String, place: TextPlace) {
        self.text = text
        self.fontFile = fontFile
        self.size = size
        self.color = color
        self.place = place
    }
}

/// Where something stands whose size is known when it is drawn: pixels from one edge, or the middle where neither is said.
public struct TextPlace: Hashable, Codable, Sendable {
    /// Pixels from the left edge.
    public var left: Int?
    /// Pixels from the right edge.
    public var right: Int?
    /// Pixels from the upper edge.
    public var top: Int?
    /// Pixels from the lower edge.
    public var bottom: Int?

    /// The middle, where nothing is said.
    public init(left: Int? = nil, right: Int? = nil, top: Int? = nil, bottom: Int? = nil) {
        self.left = left
        self.right = right
        self.top = top
        self.bottom = bottom
    }
}
