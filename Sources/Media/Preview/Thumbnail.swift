package import FoundationEssentials

/// A frame made small, for people to look at.
package struct Thumbnail: Codable, Sendable {
    /// When it is shown, on the time line of its asset.
    package var time: MediaTime
    /// Width in pixels.
    package var width: Int
    /// Height in pixels.
    package var height: Int
    /// The frame as JPEG.
    package var jpeg: Data
}
