public import FoundationEssentials

/// A frame made small, for people to look at.
public struct Thumbnail: Codable, Sendable {
    /// When it is shown, on the time line of its asset.
    public var time: MediaTime
    /// Width in pixels.
    public var width: Int
    /// Height in pixels.
    public var height: Int
    /// The frame as JPEG.
    public var jpeg: Data
}
