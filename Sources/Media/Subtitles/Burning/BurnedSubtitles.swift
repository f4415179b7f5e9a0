public import LibAV

/// Subtitles that are drawn into the frames of a video track: text by libass, images by libavfilter's `overlay`.
///
/// Their times are those of the track's source. With several ranges, both are joined in the same way.
public struct BurnedSubtitles: Hashable, Codable, Sendable {
    /// Absolute path of the file with the subtitles; nil for the file with the video track.
    public var path: String?
    /// Index of the subtitle track in the file.
    public var track: Int
    /// The style; ignored for images.
    public var style: SubtitleStyle
    /// Pixel aspect ratio of the frames into which text is drawn; nil for that of the video track.
    public var pixelAspectRatio: Rational?

    /// Creates a description of the subtitles, by default those of the file with the video track.
    public init(path: String? = nil, track: Int, style: SubtitleStyle = SubtitleStyle()) {
        self.path = path
        self.track = track
        self.style = style
    }
}
