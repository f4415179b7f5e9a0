package import FoundationEssentials

/// A small image of a frame, for display.
package struct Thumbnail: Codable, Sendable {
    /// Presentation time on the asset's time line.
    package var time: MediaTime
    /// Width in pixels.
    package var width: Int
    /// Height in pixels.
    package var height: Int
    /// The image as JPEG.
    package var jpeg: Data
}
