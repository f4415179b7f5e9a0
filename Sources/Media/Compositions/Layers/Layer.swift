/// An overlay above a composition's clips for a time range.
public struct Layer: Hashable, Codable, Sendable {
    /// Source of a layer's pixels.
    public enum Content: Hashable, Codable, Sendable {
        /// Frames of a source, in a rectangle of the canvas. `size` of the settings must be that of the rectangle; a
        /// pixel format with alpha, such as `yuva420p`, keeps transparent pixels.
        case frames(ClipPlacement, in: PixelRectangle, settings: VideoOutputSettings)
        /// Text; `TextLayer.position` is its position on the canvas.
        case text(TextLayer)
        /// Burned-in subtitles; the start of their source corresponds to the start of the layer.
        case subtitles(SubtitleLayer)
    }

    /// Frames, text or subtitles.
    public var content: Content
    /// Time range on the composition's time line.
    public var timeRange: TimeRange
    /// Opacity as an envelope on the composition's time line; a factor of 1 is opaque.
    public var opacity: VolumeEnvelope
    /// Rotation around the layer's center, in thousandths of a degree clockwise. Ignored for subtitles.
    public var rotation: Int

    /// Creates a layer; by default opaque and not rotated.
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
    /// The text; lines are separated by line feeds.
    public var text: String
    /// The absolute path of the font's file.
    public var fontFile: String
    /// Font size in pixels.
    public var size: Int
    /// The color, in a notation that libavutil parses (`av_parse_color`).
    public var color: String
    /// Position of the text's bounding box on the canvas.
    public var position: TextPosition

    /// Creates a text; `size` is in pixels of the canvas.
    public init(text: String, fontFile: String, size: Int, color: String, position: TextPosition) {
        self.text = text
        self.fontFile = fontFile
        self.size = size
        self.color = color
        self.position = position
    }
}

/// Position of an object whose size is determined when it is drawn. For each axis, it is the distance from one edge, or
/// centered if neither is set.
public struct TextPosition: Hashable, Codable, Sendable {
    /// Pixels from the left edge.
    public var left: Int?
    /// Pixels from the right edge.
    public var right: Int?
    /// Pixels from the upper edge.
    public var top: Int?
    /// Pixels from the lower edge.
    public var bottom: Int?

    /// Creates a position; centered by default.
    public init(left: Int? = nil, right: Int? = nil, top: Int? = nil, bottom: Int? = nil) {
        self.left = left
        self.right = right
        self.top = top
        self.bottom = bottom
    }
}
